package trial

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// A stall to the end of a step that its time bounds: what was due meanwhile is
// in the response times, the curve and the latency log, with a mark, and in no
// other figure.
func TestStallToTheEnd(t *testing.T) {
	t.Parallel()
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
			expect.True(t, undone.Value >= 30 && int64(undone.Value)+done == 60 && undone.N == 60,
				"done, of not, of 60", done, undone.Value, undone.N)
			p50 := row(t, st, "t", "transaction", "response_p50_us")
			expect.True(t, p50.N == 60 && p50.Value >= 50_000 && has(metric.Texts(p50.Warnings), "operations were not done; their response time is at least their age"), p50)
			if r := row(t, st, "t", "transaction", "service_p50_us"); r.N != done || metric.Has(r.Warnings, remark.NotDone) {
				t.Errorf("service times are of what was done: %+v", r)
			}
			for _, c := range st.Curves {
				expect.True(t, c.Measure != "response" || c.Count == 60, "the curve is of", c.Count)
			}
			expect.Equal(t, logged(t, s.Dir, "s/t/transaction/response").Count(), 60, "the latency log has")
		})
	}
}

func logged(t *testing.T, dir, tag string) *hist.Dist {
	t.Helper()
	f := expect.Value(os.Open(filepath.Join(dir, result.LatencyFile)))(t)
	defer f.Close()
	all, err := hist.ReadLog(f)
	expect.Must(t, err == nil && all[tag] != nil, "no", tag, "in the latency log", err)
	return all[tag]
}
