package account_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/model"
	"rumbench/workload"
)

// row finds a row that must be there.
func row(t *testing.T, s *account.Step, group, op, name string) *metric.Row {
	t.Helper()
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Group == group && r.Op == op && r.Metric == name {
			return r
		}
	}
	t.Fatalf("there is no %s of group %q, operation %q", name, group, op)
	return nil
}

// It is unknown which variety an operation would have been that was not done: it
// counts under the whole. Without any the rows have no mark.
func TestUndoneCountOnce(t *testing.T) {
	for _, c := range []struct {
		undone int64
		marked bool
	}{{5, true}, {0, false}} {
		st := queryStep()
		st.Groups[2].Rate = 10
		groups := queryGroups()
		all := hist.NewTotals(hist.Shape{Kinds: 2, Paced: true})
		for k := range all.Kinds {
			all.Kinds[k].Ops = 10
			for range 10 {
				all.Kinds[k].Service.Record(1e6)
				all.Kinds[k].Response.Record(1e6)
				all.Kinds[k].Lateness.Record(0)
			}
		}
		ages := hist.NewDist()
		for range c.undone {
			ages.Record(4e9)
		}
		groups[2] = hist.Group{Totals: all, Undone: ages}
		s := newStep(st, groups, &account.Observed{})
		s.Operations()
		for op, want := range map[string]int64{"range a": 10, "range b": 10, "query": 20 + c.undone} {
			p := row(t, s, "query", op, "response_p99_us")
			if marked := metric.Has(p.Warnings, remark.NotDone); p.N != want || marked != c.marked || marked && !strings.HasSuffix(p.Warnings[0].Text, "by which they count under query") {
				t.Errorf("%s of %d, want %d: %q", op, p.N, want, p.Warnings)
			}
		}
		if p := row(t, s, "query", "query", "response_p99_us"); (p.Value > 3.9e6) != c.marked {
			t.Errorf("p99 %v µs", p.Value)
		}
		expect.Equal(t, all.Kinds[0].Response.Count(), 10, "what was measured has changed")
	}
}

// A group that completed nothing still has response times.
func TestNothingDone(t *testing.T) {
	st := queryStep()
	st.Groups[0].Rate = 1
	ages := hist.NewDist()
	ages.Record(7e9)
	groups := queryGroups()
	groups[0] = hist.Group{Totals: hist.NewTotals(hist.Shape{Kinds: 1, Paced: true}), Undone: ages}
	s := newStep(st, groups, &account.Observed{})
	s.Operations()
	p := row(t, s, "insert", "insert", "response_max_us")
	expect.True(t, p.Value >= 6.9e6 && strings.Contains(p.Warnings[0].Text, "1 of 1 operations were not done"), p)
}

// Rows that operations had to find and did not: a shortfall above 1 % is a warning
// at rates and times, one above 10 % makes the step incomparable. Chance is no
// shortfall: of 400 rows that are expected on average, 350 are within what
// happens; of 40,000 they are not.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		name            string
		finds           workload.Finds
		expected, found int64 // of 10 operations
		share           float64
		warns, refused  bool
	}{
		{"all", workload.FindsExactly, 1000, 1000, 1, false, false},
		{"1 in 100 is missing", workload.FindsExactly, 1000, 990, 0.99, false, false},
		{"2 in 100 are missing", workload.FindsExactly, 1000, 980, 0.98, true, false},
		{"1 in 10 is missing", workload.FindsExactly, 1000, 900, 0.9, true, false},
		{"11 in 100 are missing", workload.FindsExactly, 1000, 890, 0.89, true, true},
		{"nothing is there", workload.FindsExactly, 100, 0, 0, true, true},
		{"more on average", workload.FindsOnAverage, 100, 120, 1.2, false, false},
		{"hardly anything on average", workload.FindsOnAverage, 1000, 100, 0.1, true, true},
		{"by chance", workload.FindsOnAverage, 400, 350, 0.875, false, false},
		{"not by chance", workload.FindsOnAverage, 40_000, 35_000, 0.875, true, true},
		{"few of many by chance", workload.FindsOnAverage, 40_000, 39_000, 0.975, false, false},
		{"not known", workload.FindsOnAverage, 0, 120, -1, false, false},
		{"nothing is looked for", workload.FindsNothing, 0, 0, -1, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			step := &workload.Step{Name: "s", Primary: "get", WritesPer: "get", Groups: []workload.Group{{Name: "t", Clients: 1, Ops: []workload.OpKind{{Name: "get", Unit: "get", Finds: c.finds}}}}}
			s := newStep(step, []hist.Group{did(hist.Counts{Ops: 10, Work: model.Work{Rows: 10, Reads: 10, Expected: c.expected, Found: c.found}})}, &account.Observed{})
			s.Results = true
			s.Operations()
			if r := metric.Find(s.Rows, "rows_found", "get", ""); (r != nil) != (c.finds != workload.FindsNothing) || r != nil && (r.Value != float64(c.found)/10 || r.Source != "client" || r.Per != "get") {
				t.Errorf("found: %+v", r)
			}
			if r := metric.Find(s.Rows, "rows_expected", "get", ""); (r != nil) != (c.expected > 0) || r != nil && r.Value != float64(c.expected)/10 {
				t.Errorf("expected: %+v", r)
			}
			if r := metric.Find(s.Rows, "found_share", "get", ""); (r != nil) != (c.share >= 0) || r != nil && r.Value != c.share {
				t.Errorf("share: %+v", r)
			}
			for _, name := range []string{"rows_per_s", "ops_per_s", "queries_per_s"} {
				w := row(t, s, "t", "get", name).Warnings
				expect.True(t, metric.Has(w, remark.RowsMissing) == c.warns, name, w)
			}
			expect.Equal(t, metric.Has(s.Warnings, remark.TooFewRows), c.refused, "warnings", s.Warnings)
		})
	}
}

// What an engine takes for its rows is all of its tables and indexes, and of
// other files what goes beyond the empty server's.
func TestSpace(t *testing.T) {
	sum := func(allocated, used int64) fsize.Sum { return fsize.Sum{Allocated: allocated, Used: used} }
	files := map[engine.FileClass]fsize.Sum{
		engine.DataFile: sum(1000, 900), engine.LogFile: sum(500, 70), engine.RedoFile: sum(9000, 9000), engine.SpareFile: sum(4000, 4000),
		engine.SystemFile: sum(860, 850), engine.TempFile: sum(10, 10),
	}
	for _, c := range []struct {
		name   string
		empty  map[engine.FileClass]int64
		want   float64
		warned bool
	}{
		{"undo in system files", map[engine.FileClass]int64{engine.RedoFile: 9000, engine.SystemFile: 250, engine.TempFile: 30, engine.LogFile: 5}, 1000 + 65 + 600, false},
		{"a redo log that grew", map[engine.FileClass]int64{engine.RedoFile: 1000, engine.SystemFile: 850, engine.TempFile: 10}, 1000 + 70, false},
		{"tables in the file of the system", map[engine.FileClass]int64{engine.DataFile: 400, engine.RedoFile: 9000, engine.SystemFile: 850, engine.TempFile: 10}, 1070, false},
		{"unknown", nil, 1070, true},
	} {
		var b account.Builder
		b.Space(&account.Space{Live: workload.Live{Rows: 1, Bytes: 1}, Files: files, Empty: c.empty, Apart: true})
		r := metric.Find(b.Rows, "space_amplification", "", "")
		expect.True(t, r != nil && r.Value == c.want && r.Source != "" && metric.Has(r.Warnings, remark.EmptyUnknown) == c.warned, c.name, r, c.want)
		parts := 0.0
		for _, row := range b.Rows {
			if row.Metric == "space_part" {
				parts += row.Value
			}
		}
		data := metric.Find(b.Rows, "space_part", "data", "")
		expect.True(t, data != nil && data.Value == 1000, "of tables and indexes", c.name, data)
		expect.Equal(t, parts, c.want, c.name)
	}
}

// Published tables are printed by awk, which rounds ties to even.
func TestHeldAverage(t *testing.T) {
	for _, c := range []struct {
		achieved, target float64
		held             bool
	}{
		{1900, 2000, true}, {1899, 2000, false}, {1899.6, 2000, true}, {1899.4, 2000, false},
		{28, 30, true}, {27.5, 30, true}, {27.4, 30, false}, // 28.5
		{9, 10, false}, {9.5, 10, true}, // 9.5
		{47, 50, false}, {3, 3, true}, {math.NaN(), 10, false}, {10, math.NaN(), false},
	} {
		expect.Equal(t, account.HeldAverage(c.achieved, c.target), c.held, c.achieved, c.target)
	}
}

// Rates of clients that had done their operations long before others are lower bounds;
// their latencies are what they are.
func TestDoneEarly(t *testing.T) {
	for _, c := range []struct {
		work   int64
		end    time.Duration
		marked bool
	}{{100, time.Second, true}, {100, 9900 * time.Millisecond, false}, {0, time.Second, false}} {
		st := queryStep()
		st.Groups[0].Rate, st.Groups[0].Work = 0, c.work
		groups := queryGroups()
		groups[0].End = c.end
		s := newStep(st, groups, &account.Observed{})
		s.Seconds = 10
		s.Operations()
		if r := row(t, s, "insert", "insert", "ops_per_s"); r.AtLeast != c.marked {
			t.Errorf("%+v: %+v", c, r)
		}
		if r := row(t, s, "insert", "insert", "rows"); r.AtLeast {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}
