package strictyaml

import (
	"regexp"

	"rumbench/internal/text/escape"
)

// Patterns of secrets in a line of a file or a command.
var (
	DSNKey     = regexp.MustCompile(`(?i)dsn["']?\s*[:=]\s*`)
	credential = regexp.MustCompile(`(?i)[^\s"',{}=]*@|passw|pwd`)
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	entryStart = regexp.MustCompile(`^\s*(- |#|["']?[\w.]+["']?\s*:(\s|$)|$)`)
)

// HideSecrets cuts a line of a file, or an argument of a command, at the
// beginning of a data source name, or of text that looks like a misplaced one.
func HideSecrets(line string) string {
	cut := len(line)
	if at := DSNKey.FindStringIndex(line); at != nil {
		cut = at[1]
	}
	if at := credential.FindStringIndex(line); at != nil {
		cut = min(cut, at[0])
	}
	if cut == len(line) {
		return line
	}
	return line[:cut] + escape.Hidden
}

// hideQuoted hides quotations from a file that look like a secret.
func hideQuoted(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		if credential.MatchString(q) {
			return `"` + escape.Hidden + `"`
		}
		return q
	})
}

// shown returns a line of the source with secrets hidden: a data source name may
// continue below its key.
func (s *Source) shown(line int) string {
	for at := line; at >= 1; at-- {
		text := s.lines[at-1]
		if at < line && DSNKey.MatchString(text) {
			return escape.Hidden
		}
		if entryStart.MatchString(text) {
			break
		}
	}
	return HideSecrets(s.lines[line-1])
}
