package layout

import (
	"bytes"
	"fmt"
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

func TestPublishedSummaries(t *testing.T) {
	for _, c := range []struct{ mrg, rel string }{{"mrg.q100", "rel.q100"}, {"mrg.some", ""}} {
		steps := readFile(t, Summary, c.mrg)
		expect.Same(t, published(t, c.mrg), expect.Written(t, func(b io.Writer) error { return WriteSummaries(b, steps, Numbers) }))
		if c.rel != "" {
			expect.Same(t, published(t, c.rel), expect.Written(t, func(b io.Writer) error { return WriteSummaries(b, steps, RoundedRatios) }))
		}
	}
}

// Unknown on either side stays unknown in the ratios of the index build.
func TestSummaryRatiosOfUnknown(t *testing.T) {
	steps := readFile(t, Summary, "mrg.some")
	got := expect.Written(t, func(b io.Writer) error { return WriteSummaries(b, steps[1:], RoundedRatios) })
	expect.True(t, strings.HasSuffix(got, "\t2.67\tNA\tNA\tmy5731.cx6d\n"), got)
	got = expect.Written(t, func(b io.Writer) error { return WriteSummaries(b, steps[:1], RoundedRatios) })
	expect.Contains(t, got, "\n0.90\t1\t0.00\t0.00\t1.21\t")
}

func TestPublishedCosts(t *testing.T) {
	cost := func(tag string, v ...float64) Line {
		l := Line{Tag: tag, Values: map[string]float64{}}
		for i, c := range costColumns {
			l.Values[c.name] = v[i]
		}
		return l
	}
	tests := []Step{
		{Name: "point-query.pre", Blocks: [][]Line{{cost("my8407", .000117, 2.516, 0, 0, 0, 712319), cost("ma110806", .000105, 2.566, 0, 0, 0, 796036), cost("pg182", .000078, 2.389, 0, 0, 0, 1056863)}}},
		{Name: "random-points", Blocks: [][]Line{{cost("my8407", .013506, 15.925, 0, .008, .004, 5927), cost("ma110806", .030786, 372.826, 0, 0, .006, 2542), cost("pg182", .010021, 30.772, 0, 0, .001, 8003)}}},
		{Name: "read-only", Blocks: [][]Line{{cost("my8407", .000129, 2.421, 0, 0, 0, 637825), cost("ma110806", .000118, 2.455, 0, 0, 0, 702242), cost("pg182", .0001, 2.406, 0, 0, .014, 821128)}}},
		{Name: "update-nonindex", Blocks: [][]Line{{cost("my8407", .000404, 11.981, 0, 0, 2.664, 103467), cost("ma110806", .000263, 8.634, 0, 0, 2.851, 147457), cost("pg182", .000156, 3.884, 0, 0, .63, 407460)}}},
	}
	expect.Same(t, published(t, "met"), expect.Written(t, func(b io.Writer) error { return WriteCosts(b, tests, true) }))
	unknown := []Step{{Name: "t", Blocks: [][]Line{{cost("a", math.NaN(), 1, 0, 0, 0, 5), cost("b", math.NaN(), 2, 0, 0, 0, 10)}}}}
	if got := expect.Written(t, func(b io.Writer) error { return WriteCosts(b, unknown, false) }); !strings.Contains(got, "\nNA\t1.000\t0\t0\t0\t5\ta\n") || !strings.Contains(got, "\nNA\t\t2.00\tNA\tNA\tNA\t2.00\tb\n") {
		t.Error(got)
	}
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

// Published tables of costs have 1 where both numbers are printed as 0.
func TestRatiosOfCosts(t *testing.T) {
	columns := []column{{"a", 3, Fixed}, {"b", 0, Fixed}}
	n, base := &Line{Values: map[string]float64{"a": 0.0004, "b": 3}}, &Line{Values: map[string]float64{"a": 0.0002, "b": 2}}
	expect.Equal(t, fmt.Sprint(n.cells(base, columns, RoundedRatios), n.cells(base, columns, Ratios)), "[1 1.50] [NA 1.50]")
	n.Unlike = true
	expect.Equal(t, fmt.Sprint(n.cells(base, columns, RoundedRatios)), "[NA NA]")
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

// Tables of costs are read as they are published, also with the columns of 2020.
func TestReadCosts(t *testing.T) {
	tests, err := Read(Costs, strings.NewReader(published(t, "met")))
	expect.NoError(t, err)
	expect.Same(t, published(t, "met"), expect.Written(t, func(b io.Writer) error { return WriteCosts(b, tests, true) }))
	tests, err = Read(Costs, strings.NewReader("a\n--- absolute\ncpu/o\trKB/o\twKB/o\to/s\tdbms\n0.5\t1\t2\t3\tx\n--- relative to first result\n\n"))
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
		{short(6.570, 3).Text, "6.57"}, {short(10, 3).Text, "10"}, {short(0, 3).Text, "0"}, {short(100, 0).Text, "100"}, {short(0.9, 3).Text, "0.9"},
		{short(math.NaN(), 3).Text, "NA"},
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
