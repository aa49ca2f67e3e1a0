package result

import "testing"

func TestPercentile(t *testing.T) {
	for metric, want := range map[string]struct {
		p        float64
		greatest string
		samples  int64
	}{
		"service_p50_us": {50, "service_max_us", 20}, "response_p95_us": {95, "response_max_us", 200}, "statement_p99_us": {99, "statement_max_us", 1000},
		"attempt_p999_us": {99.9, "attempt_max_us", 10_000}, "failed_p99_us": {99, "failed_max_us", 1000}, "lateness_p99_us": {99, "lateness_max_us", 1000},
	} {
		p, greatest, ok := Percentile(metric)
		if !ok || p != want.p || greatest != want.greatest || LeastSamples(p) != want.samples {
			t.Errorf("%s: %v, %s, %v, %d samples", metric, p, greatest, ok, LeastSamples(p))
		}
		for n, few := range map[int64]bool{0: false, 1: true, want.samples - 1: true, want.samples: false} {
			if r := (Row{Metric: metric, N: n}); r.Few() != few {
				t.Errorf("%s of %d: few %v", metric, n, r.Few())
			}
		}
	}
	// Rates of intervals have a rule of their own; of the scheduler no greatest is known.
	for _, metric := range []string{"service_max_us", "interval_ops_p99", "client_sched_p99_us", "rows_per_s"} {
		if _, _, ok := Percentile(metric); ok {
			t.Errorf("%s is a percentile", metric)
		}
	}
}

// Rows are shown as what they are; the ones that are stored stay as they are.
func TestShown(t *testing.T) {
	s := Step{Rows: []Row{
		{Op: "index", Metric: "service_p99_us", Value: 7, N: 1}, {Op: "index", Metric: "service_max_us", Value: 9, N: 1},
		{Op: "query", Metric: "service_p99_us", Value: 5, N: 1000}, {Op: "query", Metric: "service_max_us", Value: 8, N: 1000},
		{Op: "lost", Metric: "service_p99_us", Value: 5, N: 3},
	}}
	got := s.Shown()
	if len(got) != 4 || got[0].Value != 9 || got[0].MaxOf != 1 || got[2].Value != 5 || got[2].MaxOf != 0 {
		t.Errorf("%+v", got)
	}
	if s.Rows[0].Value != 7 || s.Rows[0].MaxOf != 0 {
		t.Errorf("%+v", s.Rows[0])
	}
}
