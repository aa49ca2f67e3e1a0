package escape

import "unicode/utf8"

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
