package strictyaml

import (
	"regexp"

	"rumbench/internal/text/escape"
	"rumbench/internal/text/secret"
)

var (
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	entryStart = regexp.MustCompile(`^\s*(- |#|["']?[\w.]+["']?\s*:(\s|$)|$)`)
	listItem   = regexp.MustCompile(`^\s*- `)
	dsnList    = regexp.MustCompile(`(?i)dsn["']?\s*:\s*(#.*)?$`)
)

// hideQuoted hides quotations from a file that look like a secret.
func hideQuoted(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		if secret.Is(q) {
			return `"` + escape.Hidden + `"`
		}
		return q
	})
}

// shown returns a line of the source with secrets hidden: a data source name may
// continue below its key, as may a list of them.
func (s *Source) shown(line int) string {
	items := false
	for at := line; at >= 1; at-- {
		text := s.lines[at-1]
		if at < line && (dsnList.MatchString(text) || !items && secret.DSNKey.MatchString(text)) {
			return escape.Hidden
		}
		switch {
		case listItem.MatchString(text):
			items = true // of a list of data source names, or of maps
		case entryStart.MatchString(text):
			return secret.Cut(s.lines[line-1])
		}
	}
	return secret.Cut(s.lines[line-1])
}
