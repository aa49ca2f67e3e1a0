package workload_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
)

func TestParse(t *testing.T) {
	count := workload.Param{Name: "rows", Type: workload.IntParam, Doc: "how many"}
	limited := workload.Param{Name: "n", Type: workload.IntParam, Min: 1, Max: 10}
	share := workload.Param{Name: "x", Type: workload.FloatParam, Min: 0, Max: 1}
	free := workload.Param{Name: "x", Type: workload.FloatParam, Min: math.Inf(-1)}
	flag := workload.Param{Name: "on", Type: workload.BoolParam}
	name := workload.Param{Name: "s", Type: workload.StringParam}
	choice := workload.Param{Name: "form", Type: workload.StringParam, Enum: []string{"2016", "2023"}}
	length := workload.Param{Name: "d", Type: workload.DurationParam, Min: -1, Max: 3600}
	seconds := workload.Param{Name: "query_seconds", Type: workload.FloatParam, Unit: "s"}
	ints := workload.Param{Name: "rates", Type: workload.IntsParam, Min: 1, Max: 1000}
	texts := workload.Param{Name: "steps", Type: workload.StringsParam}
	choices := workload.Param{Name: "steps", Type: workload.StringsParam, Enum: []string{"a", "b"}}
	const wrong = "\x00" // stands for an error whose text holds what follows

	for _, c := range []struct {
		name  string
		param workload.Param
		in    any
		want  any
	}{
		{"int", count, int64(5), int64(5)},
		{"unsigned", count, uint64(5), int64(5)},
		{"whole float", count, 2e6, int64(2e6)},
		{"k", count, "2k", int64(2000)},
		{"K", count, "2K", int64(2000)},
		{"M with a fraction", count, "1.5M", int64(1_500_000)},
		{"G", count, "3G", int64(3_000_000_000)},
		{"underscores", count, "1_000_000", int64(1_000_000)},
		{"blanks", count, " 7 ", int64(7)},
		{"exponent", count, "1e3", int64(1000)},
		{"greatest", count, "9223372036854775807", int64(math.MaxInt64)},
		{"fraction", count, "1.5", wrong + "not a whole number"},
		{"fraction of k that is one", count, "1.5k", int64(1500)},
		{"fraction of k that is none", count, "1.2345k", wrong + "not a whole number"},
		{"fraction as a number", count, 1.5, wrong + "not a whole number"},
		{"overflow", count, "9223372036854775808", wrong + "not a whole number"},
		{"overflow by suffix", count, "9300000000G", wrong + "too large"},
		{"overflow by suffix, far", count, "99999999999999999999G", wrong + "not a whole number"},
		{"overflow unsigned", count, uint64(1 << 63), wrong + "not a whole number"},
		{"overflow float", count, 1e19, wrong + "not a whole number"},
		{"NaN", count, "NaN", wrong + "not a whole number"},
		{"NaN as a number", count, math.NaN(), wrong + "not a whole number"},
		{"infinite", count, math.Inf(1), wrong + "not a whole number"},
		{"suffix alone", count, "k", wrong + "not a whole number"},
		{"two suffixes", count, "1kk", wrong + "not a whole number"},
		{"unknown suffix", count, "5T", wrong + "not a whole number"},
		{"bytes", count, "5MiB", wrong + "not a whole number"},
		{"nothing", count, "", wrong + "not a whole number"},
		{"null", count, nil, wrong + "not a whole number"},
		{"truth for a number", count, true, wrong + "not a whole number"},
		{"list for a number", count, []any{int64(1)}, wrong + "not a whole number"},
		{"negative without a least value", count, int64(-1), wrong + "below the minimum 0"},
		{"least", limited, int64(1), int64(1)},
		{"below", limited, int64(0), wrong + "below the minimum 1"},
		{"greatest allowed", limited, "10", int64(10)},
		{"above", limited, "1k", wrong + "above the maximum 10"},

		{"float", share, 0.5, 0.5},
		{"float from int", share, int64(1), 1.0},
		{"float from text", share, "0.25", 0.25},
		{"float above", share, 1.01, wrong + "above the maximum 1"},
		{"float NaN", free, "NaN", wrong + "not a finite number"},
		{"float infinite", free, "-Inf", wrong + "not a finite number"},
		{"float negative", free, -2.5, -2.5},
		{"float from truth", share, false, wrong + "not a number"},

		{"truth", flag, true, true},
		{"truth as text", flag, "yes", wrong + "not a bool"},

		{"text", name, "x", "x"},
		{"text of digits", name, int64(2023), "2023"},
		{"text of truth", name, true, wrong + "not a string"},
		{"choice", choice, int64(2016), "2016"},
		{"no choice", choice, "2017", wrong + `"2017" is not allowed`},

		{"duration", length, "90s", 90 * time.Second},
		{"duration in seconds", length, 1.5, 1500 * time.Millisecond},
		{"duration in whole seconds", length, int64(-1), -time.Second},
		{"duration below", length, "-2s", wrong + "below the minimum"},
		{"duration above", length, "2h", wrong + "above the maximum"},
		{"duration without a unit", length, "90", 90 * time.Second},
		{"duration as people write it", length, "1h", time.Hour},
		{"duration with a blank", length, "2 min", 2 * time.Minute},
		{"seconds", seconds, "1m30s", 90.0},
		{"seconds without a unit", seconds, "2.5", 2.5},
		{"seconds as a number", seconds, int64(3), 3.0},
		{"no seconds", seconds, "soon", wrong + "not a duration such as"},
		{"duration overflow", length, 1e12, wrong + "longer than 100 years"},
		{"duration NaN", length, math.NaN(), wrong + "not a duration"},
		{"duration of its type", length, time.Minute, time.Minute},

		{"list", ints, []any{int64(1), "1k"}, []int64{1, 1000}},
		{"list of one", ints, "5", []int64{5}},
		{"list with one that is not", ints, []any{int64(1), "x"}, wrong + "not a whole number"},
		{"list with one below", ints, []any{int64(5), int64(0)}, wrong + "below the minimum 1"},
		{"list with one above", ints, []any{int64(1001)}, wrong + "above the maximum 1000"},
		{"empty list", ints, []any{}, []int64{}},
		{"list of texts", texts, []any{"l.i0", "l.x"}, []string{"l.i0", "l.x"}},
		{"text for a list", texts, "l.i0", []string{"l.i0"}},
		{"number for a text in a list", texts, []any{int64(5)}, wrong + "5 is not a string"},
		{"choices", choices, []any{"b"}, []string{"b"}},
		{"a choice that is none", choices, []any{"b", "c"}, wrong + `"c" is not allowed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.param.Parse(c.in)
			if text, isError := c.want.(string); isError && strings.HasPrefix(text, wrong) {
				var p *workload.ParamError
				expect.Must(t, errors.As(err, &p) && p.Param == c.param.Name && p.Hint() != "" && got == nil, got, err)
				expect.True(t, strings.Contains(p.Reason, text[len(wrong):]), p.Reason, text[len(wrong):])
				return
			}
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, d)
			}
		})
	}
}

// A count with a suffix is the number times its unit, or an error; it never
// overflows.
func TestParseCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		suffix := rapid.SampledFrom([]string{"", "k", "M", "G"}).Draw(t, "suffix")
		unit := map[string]float64{"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[suffix]
		got, err := workload.ParseCount(strings.TrimSpace(strings.Join([]string{itoa(n), suffix}, "")))
		exact := float64(n) * unit
		if fits := math.Abs(exact) < 1<<62; fits && (err != nil || float64(got) != exact) {
			t.Fatalf("%d%s: %d, %v", n, suffix, got, err)
		}
		expect.Must(t, math.Abs(exact) <= 1<<64 || err != nil, n, suffix, got)
	})
}

func itoa(n int64) string {
	s, err := workload.Param{Type: workload.StringParam}.Parse(n)
	if err != nil {
		panic(err)
	}
	return s.(string)
}

func TestResolve(t *testing.T) {
	info := workload.Info{Name: "w", Params: []workload.Param{{Name: "a", Default: int64(1)}, {Name: "b", Default: "x"}, {Name: "c", Default: true}},
		Presets: []workload.Preset{{Name: "p", Values: map[string]any{"a": int64(2), "b": "y"}}}}
	got, err := info.Resolve("p", map[string]any{"b": "z"})
	if d := cmp.Diff(workload.Params{"a": int64(2), "b": "z", "c": true}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if got, err := info.Resolve("", nil); err != nil || got.Int("a") != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := info.Resolve("q", nil); err == nil || err.Error() != `workload w has no preset "q"` || hint.Of(err) != "it can be p" {
		t.Errorf("error %v", err)
	}
	expect.True(t, info.Param("b") != nil && info.Param("d") == nil, "Param finds the wrong parameters")
}

func TestTotals(t *testing.T) {
	step := &workload.Step{Groups: []workload.Group{
		{Ops: []workload.OpKind{{Name: "insert"}}},
		{Ops: []workload.OpKind{{Name: "range a", Of: "query"}, {Name: "range b", Of: "query"}, {Name: "max", Upkeep: true}}},
		{Ops: []workload.OpKind{{Name: "insert"}}},
	}}
	rows := func(n int64) workload.Total { return workload.Total{Work: model.Work{Rows: n}} }
	totals := workload.Totals{{rows(1)}, {rows(10), rows(100), rows(1000)}, {rows(10000)}}
	for kind, want := range map[string]int64{"insert": 10001, "query": 110, "max": 1000, "range a": 0, "nonsense": 0} {
		expect.Equal(t, totals.Rows(step, kind), want, kind)
	}
	expect.Equal(t, totals.And(workload.Totals{{rows(1)}, {rows(1), rows(1), rows(1)}, {rows(1)}}).Rows(step, "query"), 112)
	expect.Equal(t, workload.Totals(nil).And(totals).Rows(step, "query"), 110, "in one")
}
