package account_test

import (
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/workload"
)

// Costs of a recorded load are per unit of what the server counted; what it did not
// count has none.
func TestRecorded(t *testing.T) {
	counted := func(name, labels string, n float64) observe.Change {
		return observe.Change{Name: name, Labels: labels, Kind: engine.Counter, Value: n}
	}
	cpu := 2 * time.Second
	changes := []observe.Change{
		counted(engine.Queries, "", 1000), counted(engine.Commits, engine.ExplicitOnly+`="true"`, 50),
		counted("process.cpu_ns", "", 4e9), counted("process.write_bytes", "", 1000*1024),
	}
	s := &account.Step{Of: &workload.Step{}, Seconds: 10, Observed: &account.Observed{Hosted: true, InWindow: changes, WithSync: changes, Load: &cpu}}
	intervals := map[string][]account.Interval{}
	for i := range 12 {
		intervals["query"] = append(intervals["query"], account.NewInterval(float64(i+1), 1, 100))
	}
	s.Recorded(intervals)
	for _, want := range []struct {
		metric, op, per, source string
		value                   float64
	}{
		{"ops_per_s", "query", "", "the engine's own counters", 100},
		{"ops_per_s", "transaction", "", "the engine's own counters: COMMIT statements only", 5},
		{"server_cpu_us", "", "query", metric.OfServer, 4000},
		{"client_cpu_us", "", "query", "the program that made the load", 2000},
		{"cpu_us", "", "query", metric.OfServer + " and the program that made the load", 6000},
		{"process_write_kb", "", "query", metric.OfServer, 1},
		{"duration_s", "", "", "", 10},
	} {
		if r := metric.Find(s.Rows, want.metric, want.op, want.per); r == nil || r.Value != want.value || r.Source != want.source {
			t.Errorf("%+v: %+v", want, r)
		}
	}
	if r := metric.Find(s.Rows, "server_cpu_us", "", "transaction"); r != nil {
		t.Errorf("%+v, of a part of the transactions", r)
	}
	for i := range s.Rows {
		if r := &s.Rows[i]; metric.IsLatency(r.Metric) || r.Metric == "client_gc_pause_ms" {
			t.Errorf("%+v is invented", r)
		}
	}

	none := &account.Step{Of: &workload.Step{}, Seconds: 10, Observed: &account.Observed{Hosted: true, InWindow: changes[2:], WithSync: changes[2:]}}
	none.Recorded(nil)
	if r := metric.Find(none.Rows, "server_cpu_us", "", ""); r != nil {
		t.Errorf("%+v, of no work", r)
	}
}
