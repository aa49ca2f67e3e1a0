package escape

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var plainWord = regexp.MustCompile(`^[\w./:@%+,][\w./:@%+,=-]*$`)

// Argument returns a word as a user types it in a shell: in quotes, if it needs them.
func Argument(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Clip returns a line that is no wider than a terminal, with an ellipsis for the
// rest. A width of 0 is unknown, and any line fits.
func Clip(line string, width int) string {
	if width < 1 || utf8.RuneCountInString(line) <= width {
		return line
	}
	for at := range line {
		if width--; width == 0 {
			line = line[:at]
			break
		}
	}
	return line + "…"
}
