package picture

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// Whatever carries meaning stands out from its ground, in light and dark: text
// by 4.5, lines and signs by 3 (WCAG 2, AA).
func TestContrast(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		colours := map[string]string{}
		for name, c := range palette {
			if colours[name] = c.light; scheme == "dark" {
				colours[name] = c.dark
			}
		}
		check := func(ink, ground string, lowest float64) {
			got := contrast(t, colours[ink], colours[ground])
			expect.True(t, got >= lowest, "on has a contrast of", scheme, ink, ground, got, lowest)
		}
		for _, ground := range []string{"paper", "tint", "better-tint", "worse-tint", "alarm-tint"} {
			check("ink", ground, 4.5)
		}
		check("soft", "paper", 4.5)
		check("soft", "tint", 4.5)
		check("better", "better-tint", 4.5)
		check("worse", "worse-tint", 4.5)
		check("better", "paper", 4.5)
		check("worse", "paper", 4.5)
		check("alarm", "paper", 4.5)
		for _, cell := range []string{"better", "worse"} {
			check("ink", cell+"1", 4.5)
			check("ink", cell+"2", 4.5)
			check("inverse", cell+"3", 4.5)
		}
		for _, badge := range []string{"good", "fair", "poor"} {
			check(badge, "paper", 3)
		}
		for _, target := range strings.Fields("t0 t1 t2 t3 t4 t5 t6 t7") {
			check(target, "paper", 3)
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a colour as #rgb or #rrggbb.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	hex := strings.TrimPrefix(colour, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	sum := 0.0
	for i, share := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		expect.Must(t, err == nil, "colour", colour, err)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += share * c
	}
	return sum
}
