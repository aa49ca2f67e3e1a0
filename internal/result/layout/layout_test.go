package layout

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

func tags(lines []Line) (out []string) {
	for _, l := range lines {
		out = append(out, l.Tag)
	}
	return out
}

func TestPublishedQPS(t *testing.T) {
	abs := expect.Value(ReadQPS(strings.NewReader(published(t, "abs.tsv"))))(t)
	names := tags(abs[0].Lines)
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

// Tables are recognised, and those of ratios distinguished from those of numbers.
func TestIsQPS(t *testing.T) {
	for _, c := range []struct {
		text       string
		is, ratios bool
	}{{published(t, "abs.tsv"), true, false}, {published(t, "rel.tsv"), true, true}, {"SQL statistics:\n", false, false}, {"", false, false}} {
		is, ratios := IsQPS(strings.Split(c.text, "\n"))
		expect.True(t, is == c.is && ratios == c.ratios, c.text, is, ratios)
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
		a, _ := readNumber(Ratio(x, y, rounded))
		b, _ := readNumber(Ratio(y, x, rounded))
		expect.Must(t, math.Abs(a*b-1) <= 0.02, a, "×", b)
	})
}

// What is written can be read again.
func TestReadWhatIsWritten(t *testing.T) {
	word := rapid.StringMatching(`[a-z][a-z0-9.=_-]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(word, 1, 4).Draw(t, "names")
		var tests []Test
		for range rapid.IntRange(0, 5).Draw(t, "tests") {
			s := Test{Name: word.Draw(t, "test"), Note: rapid.SampledFrom([]string{"", "a note", "-> twice"}).Draw(t, "note")}
			for _, name := range names {
				s.Lines = append(s.Lines, Line{Tag: name, Rate: rapid.SampledFrom([]float64{0, 1.25, math.NaN(), 1e6}).Draw(t, "v")})
			}
			tests = append(tests, s)
		}
		var b bytes.Buffer
		expect.NoError(t, WriteQPS(&b, names, tests, Numbers, 2))
		got := expect.Value(ReadQPS(&b))(t)
		if d := cmp.Diff(tests, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func TestReadWrong(t *testing.T) {
	for text, want := range map[string]string{
		"1\t2\tt\n": "line 1: a line col-1",
		"col-1 : a\ncol-2 : b\n\ncol-1\tcol-2\n1\tt\n": "line 5: it has 2 cells",
		"col-1 : a\n\ncol-1\n1,000\tt\n":               `line 4: "1,000" is no number`,
	} {
		expect.Refused(ReadQPS(strings.NewReader(text)))(t, want, text)
	}
}

// Names and notes cannot break the lines.
func TestNamesAreKeptInTheirCells(t *testing.T) {
	tests := []Test{{"x\ny", []Line{{Rate: 1}}, "no\nbreak"}, {"c,d", []Line{{Rate: 2}}, ""}}
	expect.Same(t, "col-1 : a b\n\ncol-1\n1\tx y\t-> no break\n2\tc,d\n", expect.Written(t, func(b io.Writer) error { return WriteQPS(b, []string{"a\tb"}, tests, Numbers, 0) }))
}
