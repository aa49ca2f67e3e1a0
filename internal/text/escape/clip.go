package escape

// Clip returns a line that is no wider than a terminal, the rest as an ellipsis. A
// width of 0 is not known, and any line fits.
func Clip(line string, width int) string {
	r := []rune(line)
	if width < 1 || len(r) <= width {
		return line
	}
	return string(r[:width-1]) + "…"
}
