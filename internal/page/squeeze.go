package page

import "strings"

// squeeze returns a script without comments and without the spaces that it does
// not need, so that what explains a script costs no page any bytes. Where a line
// may end a statement it remains one.
func squeeze(script string) string {
	s := &squeezer{in: script}
	for s.at < len(s.in) {
		switch rest, c := s.in[s.at:], s.in[s.at]; {
		case strings.HasPrefix(rest, "//"):
			s.at += len(rest) - len(strings.TrimLeft(rest, "/"))
			s.at += strings.IndexByte(s.in[s.at:]+"\n", '\n')
		case c == '"' || c == '\'' || c == '`' || c == '/' && s.expression():
			s.literal(c)
		case strings.IndexByte(" \t\n", c) >= 0:
			s.space()
		case c == ';' && strings.HasPrefix(strings.TrimLeft(rest[1:], " \t\n"), "}"):
			s.at++ // the brace ends the statement
		default:
			s.copy(1)
		}
	}
	return strings.TrimSpace(s.out.String())
}

type squeezer struct {
	in   string
	at   int // what follows has not been read
	out  strings.Builder
	last byte // written
}

func (s *squeezer) copy(n int) {
	s.out.WriteString(s.in[s.at : s.at+n])
	s.at += n
	s.last = s.in[s.at-1]
}

// expression reports whether an expression begins here: then a slash begins a
// regular expression, and is no division.
func (s *squeezer) expression() bool {
	return s.last == 0 || strings.IndexByte("(,=:[!&|?{};+-*%<>~^\n", s.last) >= 0
}

// literal copies a text, a template or a regular expression to its end.
func (s *squeezer) literal(quote byte) {
	class := false // in brackets of a regular expression
	for i := s.at + 1; i < len(s.in); i++ {
		switch c := s.in[i]; {
		case c == '\\':
			i++
		case quote == '/' && (c == '[' || c == ']'):
			class = c == '['
		case quote == '`' && strings.HasPrefix(s.in[i:], "${"):
			i += inBraces(s.in[i:])
		case c == quote && !class:
			s.copy(i + 1 - s.at)
			return
		}
	}
	s.copy(len(s.in) - s.at)
}

// inBraces returns where the brace ends that begins a part of a template.
func inBraces(s string) int {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s) - 1
}

// space writes as little of a space as there must be.
func (s *squeezer) space() {
	rest := strings.TrimLeft(s.in[s.at:], " \t\n")
	gap := s.in[s.at : len(s.in)-len(rest)]
	s.at += len(gap)
	switch {
	case rest == "" || s.last == 0 || strings.IndexByte("\n{([,;", s.last) >= 0 || strings.IndexByte("})].?:", rest[0]) >= 0:
	case strings.Contains(gap, "\n"):
		s.out.WriteByte('\n')
		s.last = '\n'
	case inWord(s.last) && inWord(rest[0]), s.last == rest[0] && strings.IndexByte("+-/", s.last) >= 0:
		s.out.WriteByte(' ')
	}
}

// inWord reports whether two such characters must stay apart.
func inWord(c byte) bool {
	return c >= 0x80 || c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
