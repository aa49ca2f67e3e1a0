package escape_test

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/escape"
)

// A spreadsheet computes no cell; numbers stay numbers.
func TestCell(t *testing.T) {
	for _, s := range []string{"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "-a", "\r@x", "=\nx", "-1,2;x", "\u00a0=1", "＝1+1"} {
		expect.Equal(t, escape.Cell(s), "'"+s, s)
	}
	for _, s := range []string{"", "a", "-", "+", "-1", "-1.5e-07", "+12 %", "-1,234", "a=b", "1-2", "me@h"} {
		expect.Equal(t, escape.Cell(s), s, "becomes")
	}
}
