package layout

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// The files in testdata hold figures that Mark Callaghan published with his
// posts on the blog Small Datum, of sysbench in April 2026: a few lines. The absolute and
// the relative table are both as published, so one is the test of the other.

func published(t testing.TB, file string) string {
	t.Helper()
	b := expect.Value(os.ReadFile(filepath.Join("testdata", file)))(t)
	return string(b)
}

func TestPublishedQPS(t *testing.T) {
	head, body, _ := strings.Cut(published(t, "abs.tsv"), "\n\n")
	var names []string
	for line := range strings.Lines(head) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " : ")
		names = append(names, name)
	}
	var abs []Test
	for line := range strings.Lines(body[strings.Index(body, "\n")+1:]) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		test := Test{Name: cells[len(names)]}
		for i, name := range names {
			rate := expect.Value(strconv.ParseFloat(cells[i], 64))(t)
			test.Lines = append(test.Lines, Line{Tag: name, Rate: rate})
		}
		abs = append(abs, test)
	}
	expect.Must(t, len(abs) == 10 && len(names) == 3, "read", abs)
	tsv := func(show Show) string {
		return expect.Written(t, func(b io.Writer) error { return WriteQPS(b, names, abs, show, 0) })
	}
	expect.Same(t, published(t, "abs.tsv"), tsv(Numbers))
	expect.Same(t, published(t, "rel.tsv"), tsv(RoundedRatios))
}

func TestRatio(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name         string
		value, whole float64
		decimals     int
		full, comp   string
	}{
		{"plain", 3, 2, 0, "1.50", "1.50"},
		{"unknown value", nan, 2, 0, "NA", "NA"},
		{"unknown base", 2, nan, 0, "NA", "NA"},
		{"unknown base, value 0", 0, nan, 0, "NA", "NA"},
		{"nothing of nothing", 0, 0, 0, "NA", "NA"},
		{"something of nothing", 2, 0, 0, "inf", "inf"},
		{"nothing of something", 0, 2, 0, "0.00", "0.00"},
		{"rounded away", 0.0004, 0.0002, 3, "NA", "NA"},
		{"a base rounded away", 0.0016, 0.0004, 3, "4.00", "inf"},
		{"rounded first", 1.4, 0.6, 0, "2.33", "1.00"},
		{"endless", math.Inf(1), 2, 0, "NA", "NA"},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, number := Fixed(c.value, c.decimals), Fixed(c.whole, c.decimals)
			if full, comp := Ratio(value, number, false), Ratio(value, number, true); full != c.full || comp != c.comp {
				t.Errorf("%s and, of rounded numbers, %s; want %s and %s", full, comp, c.full, c.comp)
			}
		})
	}
}

func TestNumbersAsPrinted(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Fixed(0.125, 2).Text, "0.12"}, // printf takes the even one of two equally near
		{Fixed(0.375, 2).Text, "0.38"},
		{Fixed(2.675, 2).Text, "2.67"}, // a little less in binary
		{Fixed(0.5, 0).Text, "0"}, {Fixed(1.5, 0).Text, "2"},
		{Fixed(math.Copysign(0, -1), 1).Text, "0.0"},
	} {
		expect.Equal(t, c.got, c.want)
	}
}

// The base over itself is 1, and a over b times b over a is 1 as far as two
// decimals show.
func TestRatioProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Fixed(rapid.Float64Range(0.5, 1e9).Draw(t, "x"), 3)
		y := Fixed(x.Value*rapid.Float64Range(0.5, 2).Draw(t, "ratio"), 3)
		rounded := rapid.Bool().Draw(t, "rounded")
		if r := Ratio(x, x, rounded); r != "1.00" {
			t.Fatalf("the base has %s", r)
		}
		a, _ := strconv.ParseFloat(Ratio(x, y, rounded), 64)
		b, _ := strconv.ParseFloat(Ratio(y, x, rounded), 64)
		expect.Must(t, math.Abs(a*b-1) <= 0.02, a, "×", b)
	})
}

// Names and notes cannot break the lines.
func TestNamesAreKeptInTheirCells(t *testing.T) {
	tests := []Test{{"x\ny", []Line{{Rate: 1}}, "no\nbreak"}, {"c,d", []Line{{Rate: 2}}, ""}}
	expect.Same(t, "col-1 : a b\n\ncol-1\n1\tx y\t-> no break\n2\tc,d\n", expect.Written(t, func(b io.Writer) error { return WriteQPS(b, []string{"a\tb"}, tests, Numbers, 0) }))
}
