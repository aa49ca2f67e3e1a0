package layout

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// The files in testdata hold figures that Mark Callaghan published with his
// posts on the blog Small Datum: of the insert benchmark of January 2021 and of
// sysbench of April 2026, a few lines of each. Absolute and relative tables are
// both as published, so one is the test of the other.

func published(t testing.TB, file string) string {
	t.Helper()
	b := expect.Value(os.ReadFile(filepath.Join("testdata", file)))(t)
	return string(b)
}

func readFile(t *testing.T, f Format, file string) []Step {
	t.Helper()
	steps := expect.Value(Read(f, strings.NewReader(published(t, file))))(t)
	return steps
}

func tags(lines []Line) (out []string) {
	for _, l := range lines {
		out = append(out, l.Tag)
	}
	return out
}

func TestPublishedQPS(t *testing.T) {
	abs := readFile(t, QPS, "abs.tsv")
	names := tags(abs[0].Blocks[0])
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

// The formats are distinguished, and tables of ratios from those of numbers.
func TestFormatOf(t *testing.T) {
	lines := func(text string) []string {
		head := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		return head[:min(len(head), 60)]
	}
	for _, c := range []struct {
		name, text string
		format     Format
		ratios     bool
	}{
		{"abs.tsv", "", QPS, false}, {"rel.tsv", "", QPS, true},
		{"mrg.some", "", Summary, false}, {"mrg.q100", "", Summary, false}, {"rel.q100", "", Summary, true}, {"met", "", Costs, false},
		{"none", "SQL statistics:\n", None, false},
	} {
		if c.text == "" {
			c.text = published(t, c.name)
		}
		f, ratios := FormatOf(lines(c.text))
		expect.True(t, f == c.format && ratios == c.ratios, c.name, f, ratios)
	}
}

// Tables of many columns are read as they are published, each number of each line.
func TestReadColumns(t *testing.T) {
	for file, c := range map[string]struct {
		Format
		columns []string
	}{"mrg.q100": {Summary, summaryColumns}, "mrg.some": {Summary, summaryColumns}, "met": {Costs, costColumns}} {
		var want []Line
		ratios := false
		for line := range strings.Lines(published(t, file)) {
			cells := strings.Fields(line)
			ratios = strings.HasPrefix(line, "--- rel") || ratios && len(cells) > 0
			if ratios || len(cells) != len(c.columns)+1 || cells[0] == c.columns[0] {
				continue
			}
			l := Line{Tag: cells[len(c.columns)], Values: map[string]float64{}}
			for i, column := range c.columns {
				l.Values[column] = Number{Text: cells[i]}.Printed()
			}
			want = append(want, l)
		}
		var got []Line
		for _, s := range readFile(t, c.Format, file) {
			got = append(got, slices.Concat(s.Blocks...)...)
		}
		expect.True(t, len(got) > 3 && cmp.Equal(want, got, cmpopts.EquateNaNs()), file, cmp.Diff(want, got))
	}
}

// The tables of costs of 2020 have fewer columns.
func TestReadOldCosts(t *testing.T) {
	tests, err := Read(Costs, strings.NewReader("a\n--- absolute\ncpu/o\trKB/o\twKB/o\to/s\tdbms\n0.5\t1\t2\t3\tx\n--- relative to first result\n\n"))
	expect.True(t, err == nil && len(tests) == 1 && tests[0].Blocks[0][0].Value("o/s") == 3 &&
		tests[0].Blocks[0][0].Tag == "x" && math.IsNaN(tests[0].Blocks[0][0].Value("cs/o")), err, tests)
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
		var tests []Step
		for range rapid.IntRange(0, 5).Draw(t, "tests") {
			s := Step{Name: word.Draw(t, "test"), Blocks: make([][]Line, 1), Note: rapid.SampledFrom([]string{"", "a note", "-> twice"}).Draw(t, "note")}
			for _, name := range names {
				s.Blocks[0] = append(s.Blocks[0], Line{Tag: name, Values: map[string]float64{Rate: rapid.SampledFrom([]float64{0, 1.25, math.NaN(), 1e6}).Draw(t, "v")}})
			}
			tests = append(tests, s)
		}
		var b bytes.Buffer
		expect.NoError(t, WriteQPS(&b, names, tests, Numbers, 2))
		got := expect.Value(Read(QPS, &b))(t)
		if d := cmp.Diff(tests, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	})
}

func TestReadWrong(t *testing.T) {
	head := strings.Join(summaryHead, "\t") + "\n"
	for _, c := range []struct {
		format     Format
		text, want string
	}{
		{QPS, "1\t2\tt\n", "line 1: a line col-1"},
		{QPS, "col-1 : a\ncol-2 : b\n\ncol-1\tcol-2\n1\tt\n", "line 5: it has 2 cells"},
		{QPS, "col-1 : a\n\ncol-1\n1,000\tt\n", `line 4: "1,000" is no number`},
		{Summary, "1\t2\tt\n", "line 1: the names of the columns"},
		{Summary, head + "\nl.i1\n1\t2\n", "line 4: the names of the columns"},
		{Summary, head + "1\t2\tt\n", "line 2: it has 3 cells instead of 21"},
		{Summary, head + strings.Repeat("x\t", 20) + "t\n", `line 2: "x" is no number`},
		{Costs, "a\n--- absolute\ncpu/o\tdbms\n1\n", "line 4: it has 1 cells instead of 2"},
		{Costs, "a\n--- absolute\nspeed\tdbms\n1\tx\n", "line 4: column \"speed\" is not known"},
		{Costs, "a\n--- absolute\ncpu/o\tdbms\ny\tx\n", "line 4: \"y\" is no number"},
		{None, "", "there is no format"},
	} {
		_, err := Read(c.format, strings.NewReader(c.text))
		expect.True(t, err != nil && strings.HasPrefix(err.Error(), c.want), c.format, c.text, err, c.want)
	}
}

// Names and notes cannot break the lines.
func TestNamesAreKeptInTheirCells(t *testing.T) {
	one := func(name, note string, v float64) Step {
		return Step{Name: name, Blocks: [][]Line{{{Values: map[string]float64{Rate: v}}}}, Note: note}
	}
	tests := []Step{one("x\ny", "no\nbreak", 1), one("c,d", "", 2)}
	expect.Same(t, "col-1 : a b\n\ncol-1\n1\tx y\t-> no break\n2\tc,d\n", expect.Written(t, func(b io.Writer) error { return WriteQPS(b, []string{"a\tb"}, tests, Numbers, 0) }))
}
