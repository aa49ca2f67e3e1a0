package metric_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

func TestMetrics(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metric.All() {
		expect.True(t, !seen[m.Name] && m.Unit != "" && m.Doc != "" && m.Family != "" &&
			!(m.Better != metric.Higher && m.Better != metric.Lower && m.Better != ""), m)
		seen[m.Name] = true
		expect.True(t, slices.Contains(metric.InSection(m.Section), m.Name), "is not found in section", m.Name, m.Section)
		expect.True(t, slices.Contains(metric.Sections, m.Section), "is not found in section", m.Name, m.Section)
		for suffix, unit := range map[string]string{"_us": "µs", "_kb": "KB", "_bytes": "B", "_per_s": "1/s", "_ms": "ms"} {
			expect.True(t, !(strings.HasSuffix(m.Name, suffix) && m.Unit != unit), m.Name, m.Unit)
		}
		for _, other := range []string{m.StandsIn, m.JudgedBy} {
			expect.True(t, other == "" || metric.ByName(other) != nil && metric.ByName(other).Headline == metric.Judged,
				m.Name, "refers to", other, "which is no headline")
		}
		expect.True(t, !(m.Headline == metric.Judged && m.Better == ""), "is judged and neither direction is better", m.Name)
	}
	expect.True(t, metric.ByName("nonsense") == nil, "nonsense is a metric")
}

func TestHeadlines(t *testing.T) {
	var got []string
	for _, m := range metric.Headlines(metric.Judged) {
		got = append(got, layer(m.Family)+": "+m.Name)
	}
	want := []string{"throughput: rows_per_s", "quality of service: service_p99_us", "cost: cpu_us", "cost: read_kb", "cost: write_kb", "cost: space_amplification"}
	expect.List(t, got, want)
	if m := metric.StandIn("cpu_us"); m == nil || m.Name != "host_cpu_us" {
		t.Errorf("%+v stands in for cpu_us", m)
	}
}

func TestWriteLines(t *testing.T) {
	var b strings.Builder
	want := []metric.Row{{Target: "t", Trial: 2, Step: "q", Group: "g", Op: "a", Metric: "rows", Value: 1.25, Unit: "count", Per: "query", N: 7, Source: "s", Warnings: []metric.Warning{metric.Untyped("w")}}}
	expect.NoError(t, metric.WriteLines(&b, append(want, metric.Row{Metric: "x"})))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	expect.True(t, len(lines) == 2 && lines[1] == `{"target":"","trial":0,"step":"","metric":"x","value":0,"unit":""}`,
		lines)
	var got metric.Row
	err := json.Unmarshal([]byte(lines[0]), &got)
	expect.True(t, err == nil && cmp.Diff(want[0], got) == "", got, err)
}

func TestPercentile(t *testing.T) {
	for name, want := range map[string]struct {
		p        float64
		greatest string
		samples  int64
	}{
		"service_p50_us": {50, "service_max_us", 20}, "response_p95_us": {95, "response_max_us", 200}, "statement_p99_us": {99, "statement_max_us", 1000},
		"attempt_p999_us": {99.9, "attempt_max_us", 10_000}, "failed_p99_us": {99, "failed_max_us", 1000}, "lateness_p99_us": {99, "lateness_max_us", 1000},
	} {
		p, greatest, ok := metric.Percentile(name)
		expect.True(t, ok && p == want.p && greatest == want.greatest &&
			metric.LeastSamples(p) == want.samples, name, p, greatest, ok, metric.LeastSamples(p))
		for n, few := range map[int64]bool{0: false, 1: true, want.samples - 1: true, want.samples: false} {
			r := metric.Row{Metric: name, N: n}
			expect.Equal(t, r.Few(), few, name, n)
		}
	}
	// Rates of intervals have a rule of their own; of the scheduler no greatest is known.
	for _, name := range []string{"service_max_us", "interval_ops_p99", "client_sched_p99_us", "rows_per_s"} {
		_, _, ok := metric.Percentile(name)
		expect.True(t, !ok, "is a percentile", name)
	}
}

func TestWarning(t *testing.T) {
	w := metric.Warn(remark.SLAMissed, metric.Values{"group": "insert", "target": 100.0, "achieved": 57.4})
	expect.Equal(t, w.Text, "SLA missed: group insert was to do 100/s and did 57/s")
	b := expect.Value(json.Marshal(w))(t)
	var back metric.Warning
	err := json.Unmarshal(b, &back)
	expect.True(t, err == nil && cmp.Diff(w, back) == "", b, back, err)
	for name, wrong := range map[string]func(){
		"unknown code":  func() { metric.Warn("nonsense", nil) },
		"missing value": func() { metric.Warn(remark.SLAMissed, metric.Values{"group": "g"}) },
		"unused value":  func() { metric.Warn(remark.Saturated, metric.Values{"group": "g", "x": 1.0}) },
	} {
		func() {
			defer func() {
				expect.True(t, recover() != nil, name)
			}()
			wrong()
		}()
	}
}

func TestParts(t *testing.T) {
	joined := func(w metric.Warning) string {
		words, figures := w.Parts()
		expect.Must(t, len(words) == len(figures)+1, words, "and", figures)
		text := words[0]
		for i, f := range figures {
			text += "<" + f + ">" + words[i+1]
		}
		return text
	}
	w := metric.Warn(remark.SLAMissed, metric.Values{"group": "g2", "target": 100.0, "achieved": 57.4})
	expect.Equal(t, joined(w), "SLA missed: group g2 was to do <100>/s and did <57>/s")
	expect.Equal(t, joined(metric.Untyped("read 9 MB")), "read 9 MB")
	shared := metric.Values{"all": 4.0, "worker": "the server", "server": 1.5, "client": 0.5}
	expect.Equal(t, joined(metric.Warn(remark.ProcessorsShared, shared)), "other programs took part of the processors: of <4.00> s of CPU time the server used <1.50> s, rumbench <0.50> s")
	w.Text = "another text of 100" // which its code does not make
	expect.Equal(t, joined(w), w.Text)
}

// TestKinds: codes have their effects and texts.
func TestKinds(t *testing.T) {
	if !metric.HasEffect([]metric.Warning{{Code: remark.Partial}, {Code: remark.WrongPlan}}, metric.Invalidates) || metric.HasEffect([]metric.Warning{{Code: remark.Partial}}, metric.Invalidates) {
		t.Error("effects are not found")
	}
	for _, c := range remark.AboutClient {
		expect.True(t, c.Kind().Text != "", "has no text", c)
	}
	r := metric.Row{Warnings: []metric.Warning{{Code: remark.Disturbed}, {Code: remark.LowerBound}}}
	if r.Mark(); !r.Disturbed || !r.AtLeast {
		t.Errorf("%+v", r)
	}
}

// What makes numbers unusable outweighs what limits them, and both what only informs.
func TestWeightiest(t *testing.T) {
	order := []metric.Code{remark.WrongPlan, remark.SLAMissed, remark.Disturbed, remark.LowerBound, remark.ClientBound, remark.UnexplainedIO}
	for i := range order {
		var list []metric.Warning
		for _, code := range order[i:] {
			list = append([]metric.Warning{{Code: code, Text: string(code)}}, list...)
		}
		expect.Equal(t, metric.Weightiest(append(list, metric.Untyped("a remark"))).Code, order[i], metric.Codes(list))
	}
	expect.Equal(t, metric.Warn(remark.WrongPlan, metric.Values{"what": "a table scan of t"}).Short(), "wrong plan")
	expect.Equal(t, metric.Untyped("as it is").Short(), "as it is")
}
