package plain

import "strings"

// Mark returns a line of input, indented, with a caret below a column of it,
// counted from 1. It begins with a newline.
func Mark(line string, column int) string {
	var margin strings.Builder
	for _, r := range line {
		if column--; column <= 0 {
			break
		}
		if r != '\t' { // a tab is as wide above as below
			r = ' '
		}
		margin.WriteRune(r)
	}
	return "\n    " + line + "\n    " + margin.String() + "^"
}

// Clip returns a line that is no wider than a terminal, the rest as an ellipsis. A
// width of 0 is not known, and any line fits.
func Clip(line string, width int) string {
	r := []rune(line)
	if width < 1 || len(r) <= width {
		return line
	}
	return string(r[:width-1]) + "…"
}
