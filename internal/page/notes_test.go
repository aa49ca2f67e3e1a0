package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/metric"

	"github.com/google/go-cmp/cmp"
)

func TestNotes(t *testing.T) {
	wrote := func(written, deferred float64) metric.Warning {
		return metric.Warn(metric.LowerBound, metric.Values{"written": written, "deferred": deferred})
	}
	in := func(n int) []any { return []any{"in ", n} }
	for _, c := range []struct {
		name    string
		remarks [][]any
		want    []string
	}{
		{"the same", [][]any{{"a warning"}, {"a warning"}}, []string{"a warning"}},
		{"figures in words", [][]any{{"read 9 MB"}, {"read 10 MB"}}, []string{"read 9 MB", "read 10 MB"}},
		{"a figure ends a sentence", [][]any{{"in trial ", 1, "."}, {"in trial ", 3, "."}}, []string{"in trial 1 and 3. (2 such remarks)"}},
		{"trials", [][]any{in(1), in(4), in(2), in(7)}, []string{"in 1, 4, 2 and 7 (4 such remarks)"}},
		{"warnings of one code", [][]any{{"t", ", trial ", 1, ": ", wrote(81, 2)}, {"t", ", trial ", 2, ": ", wrote(974, 2)}},
			[]string{"t, trial 1 and 2: lower bound: 81.0 and 974.0 MiB were written, and 2.0 MiB more were still unwritten at the end of the step: it was too short for writes to recur (2 such remarks)"}},
		{"many figures", [][]any{{wrote(9, 1)}, {wrote(10, 1)}, {wrote(1500, 1)}, {wrote(2, 1)}, {wrote(9, 1)}},
			[]string{"lower bound: 2.0 to 1500.0 MiB were written, and 1.0 MiB more were still unwritten at the end of the step: it was too short for writes to recur (4 such remarks)"}},
		{"names differ", [][]any{{metric.Warn(metric.Saturated, metric.Values{"group": "a1"})}, {metric.Warn(metric.Saturated, metric.Values{"group": "a2"})}},
			[]string{"saturated: group a1 fell behind more and more; its rate is above what the engine can do", "saturated: group a2 fell behind more and more; its rate is above what the engine can do"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Merged(c.remarks)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

var (
	schemes  = regexp.MustCompile(`(?s):root \{(.*?)\}`)
	variable = regexp.MustCompile(`--([\w-]+): (#[0-9a-f]{3,6})`)
)

// Whatever carries meaning stands out from its ground, in light and dark: text
// by 4.5, lines and signs by 3 (WCAG 2, AA).
func TestContrast(t *testing.T) {
	style, err := assets.ReadFile("assets/page.css")
	if err != nil {
		t.Fatal(err)
	}
	found := schemes.FindAllStringSubmatch(string(style), -1)
	if len(found) != 2 {
		t.Fatalf("%d schemes", len(found))
	}
	for i, scheme := range []string{"light", "dark"} {
		colours := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(found[i][1], -1) {
			colours[m[1]] = m[2]
		}
		check := func(ink, ground string, least float64) {
			if got := contrast(t, colours[ink], colours[ground]); got < least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %g", scheme, ink, ground, got, least)
			}
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
		if err != nil {
			t.Fatalf("colour %q: %v", colour, err)
		}
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
