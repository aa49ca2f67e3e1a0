package trial

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rumbench/internal/drive"
	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/internal/pace"
	"rumbench/internal/result"
	"rumbench/workload"
)

// A stall to the end of a step that its time bounds: what was due meanwhile is
// in the response times, the curve and the latency log, with a mark, and in no
// other figure.
func TestStallToTheEnd(t *testing.T) {
	for name, group := range map[string]workload.Group{
		"rate":     {Clients: 1, Rate: 100, Pace: pace.Even, RowsPerOp: 1},
		"arrivals": {Clients: 1, Arrivals: pace.Constant(pace.Even, 100)},
	} {
		t.Run(name, func(t *testing.T) {
			s := script(t, group, func(_ *workload.Outcome, value, _ int) error {
				if value == 20 { // due after 0.2 s of 0.6
					time.Sleep(600 * time.Millisecond)
				}
				return nil
			})
			st := step(t, run(t, s, result.Complete), "s")
			done, undone := row(t, st, "t", "transaction", "rows").N, row(t, st, "t", "", "abandoned")
			if undone.Value < 30 || int64(undone.Value)+done != 60 || undone.N != 60 {
				t.Errorf("%d done, %v of %d not, of 60", done, undone.Value, undone.N)
			}
			p50 := row(t, st, "t", "transaction", "response_p50_us")
			if p50.N != 60 || p50.Value < 50_000 || !has(metric.Texts(p50.Warnings), "operations were not done; their response time is at least their age") {
				t.Errorf("half of the operations were due in the stall: %+v", p50)
			}
			if r := row(t, st, "t", "transaction", "service_p50_us"); r.N != done || len(r.Warnings) > 0 {
				t.Errorf("service times are of what was done: %+v", r)
			}
			for _, c := range st.Curves {
				if c.Measure == "response" && c.Count != 60 {
					t.Errorf("the curve is of %d", c.Count)
				}
			}
			if n := logged(t, s.Dir, "s/t/transaction/response").Count(); n != 60 {
				t.Errorf("the latency log has %d", n)
			}
		})
	}
}

func logged(t *testing.T, dir, tag string) *hist.Dist {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, result.LatencyFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := hist.ReadLog(f)
	if err != nil || all[tag] == nil {
		t.Fatalf("no %s in the latency log: %v", tag, err)
	}
	return all[tag]
}

// Nobody knows which variety an operation would have been that was not done: it
// counts under the whole. Without any the rows have no mark.
func TestUndoneCountOnce(t *testing.T) {
	for _, c := range []struct {
		undone int64
		marked bool
	}{{5, true}, {0, false}} {
		st := queryStep()
		st.Groups[2].Rate = 10
		res := queryResult()
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
		res.Groups[2] = drive.GroupResult{Totals: all, Undone: ages}
		r := newRows(st, res, &window{})
		r.addGroup(2, &st.Groups[2], nil)
		r.addUndone(&st.Groups[2], &res.Groups[2])
		for op, want := range map[string]int64{"range a": 10, "range b": 10, "query": 20 + c.undone} {
			p := row(t, r.out, "query", op, "response_p99_us")
			if p.N != want || has(metric.Texts(p.Warnings), "by which they count under query") != c.marked {
				t.Errorf("%s of %d, want %d: %q", op, p.N, want, p.Warnings)
			}
		}
		if p := row(t, r.out, "query", "query", "response_p99_us"); (p.Value > 3.9e6) != c.marked {
			t.Errorf("p99 %v µs", p.Value)
		}
		if n := all.Kinds[0].Response.Count(); n != 10 {
			t.Errorf("what was measured has changed: %d", n)
		}
	}
}

// A group in which nothing was done at all has response times all the same.
func TestNothingDone(t *testing.T) {
	st := queryStep()
	ages := hist.NewDist()
	ages.Record(7e9)
	res := queryResult()
	res.Groups[0] = drive.GroupResult{Totals: hist.NewTotals(hist.Shape{Kinds: 1, Paced: true}), Undone: ages}
	r := newRows(st, res, &window{})
	r.addGroup(0, &st.Groups[0], nil)
	r.addUndone(&st.Groups[0], &res.Groups[0])
	if p := row(t, r.out, "insert", "insert", "response_max_us"); p.Value < 6.9e6 || !has(metric.Texts(p.Warnings), "1 of 1 operations were not done") {
		t.Errorf("%+v", p)
	}
}
