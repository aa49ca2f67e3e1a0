package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotes(t *testing.T) {
	for _, c := range []struct {
		name        string
		texts, want []string
	}{
		{"the same", []string{"a doubt", "a doubt"}, []string{"a doubt"}},
		{"two figures", []string{"it read 1.5 MB (2 %)", "it read 0.5 MB (2 %)"}, []string{"it read 1.5 and 0.5 MB (2 %) (2 such remarks)"}},
		{"many figures", []string{"read 9 MB", "read 10 MB", "read 1,500 MB", "read 2 MB", "read 9 MB"}, []string{"read 2 to 1,500 MB (4 such remarks)"}},
		{"names are not figures", []string{"qr100: missed", "qr500: missed", "p99 of 10", "p95 of 10"}, []string{"qr100: missed", "qr500: missed", "p99 of 10", "p95 of 10"}},
		{"a figure ends a sentence", []string{"in trial 1.", "in trial 3."}, []string{"in trial 1 and 3. (2 such remarks)"}},
		{"trials", []string{"in 1", "in 4", "in 2", "in 7"}, []string{"in 1, 4, 2 and 7 (4 such remarks)"}},
		{"versions", []string{"server 8.0.44 is old", "server 8.0.45 is old", "server 5.7.1 is old", "server 9.1.0 is old"}, []string{"server 5.7.1 to 9.1.0 is old (4 such remarks)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, Merged(c.texts)); d != "" {
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

// luminance is the relative luminance of a colour as #rgb or #rrggbb.
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
