package plain

import "strings"

// Mark returns a line of what somebody wrote, indented, with a caret below a
// column of it, from 1. It begins with a line end.
func Mark(line string, column int) string {
	var margin strings.Builder
	for _, r := range line {
		if column--; column <= 0 {
			break
		}
		if r != '\t' { // which is as wide above as below
			r = ' '
		}
		margin.WriteRune(r)
	}
	return "\n    " + line + "\n    " + margin.String() + "^"
}
