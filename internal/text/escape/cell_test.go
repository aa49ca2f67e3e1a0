package escape_test

import (
	"testing"

	"rumbench/internal/text/escape"
)

// A spreadsheet computes no cell; numbers stay numbers.
func TestCell(t *testing.T) {
	for _, s := range []string{"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "-a", "\r@x", "=\nx", "-1,2;x", "\u00a0=1", "＝1+1"} {
		if got := escape.Cell(s); got != "'"+s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
	for _, s := range []string{"", "a", "-", "+", "-1", "-1.5e-07", "+12 %", "-1,234", "a=b", "1-2", "me@h"} {
		if got := escape.Cell(s); got != s {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}
