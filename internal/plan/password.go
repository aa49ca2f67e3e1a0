package plan

import "regexp"

// passwords are how data source names carry them, with what to write instead.
var passwords = []struct {
	pattern *regexp.Regexp
	masked  string
}{
	{regexp.MustCompile(`(postgres(?:ql)?://[^:/@\s"']*:)[^\s"']*@`), "${1}***@"},
	{regexp.MustCompile(`([\w.+-]+:)[^\s"']*@((?:\w+\()|/)`), "${1}***@${2}"},
	{regexp.MustCompile(`(password\s*=\s*)('[^']*'|[^\s"',}]+)`), "${1}***"},
}

// WithoutPasswords hides the passwords of data source names in a text, such as
// a plan or a command, so that results can be shown.
func WithoutPasswords(text string) string {
	for _, p := range passwords {
		text = p.pattern.ReplaceAllString(text, p.masked)
	}
	return text
}
