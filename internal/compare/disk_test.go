package compare

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/observe"
)

func TestFarApart(t *testing.T) {
	for _, c := range []struct{ used, other, extents, more, want string }{
		{"40 %", "50 %", "3.0", "3.2", ""},
		{"40 %", "60 %", "3.0", "12.0", "filesystem used"},
		{"40 %", "40 %", "10.0", "40.0", "extents per file"},
		{"90 %", "30 %", "400.0", "20.0", "filesystem used, extents per file"},
		{"", "90 %", "", "400.0", ""},
	} {
		facts := func(used, extents string) observe.Facts {
			return observe.Facts{{Name: observe.UsedFact, Value: used}, {Name: observe.ExtentsFact, Value: extents}}
		}
		expect.Equal(t, strings.Join(farApart(facts(c.used, c.extents), facts(c.other, c.more)), ", "), c.want, c)
	}
}
