package metric_test

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

func TestNamed(t *testing.T) {
	for text, want := range map[string]string{
		"rows_per_s": "rows_per_s", " Write_KB ": "write_kb", "stalls": "stalls", "rows": "rows",
		"throughput": "rows_per_s", "rows/s": "rows_per_s", "rate/s": "rows_per_s", "tps": "ops_per_s", "ops/s": "ops_per_s", "QPS": "queries_per_s",
		"p99": "response_p99_us service_p99_us", "p99.9": "response_p999_us service_p999_us", "median": "response_p50_us service_p50_us", "max": "response_max_us service_max_us",
		"cpu": "cpu_us host_cpu_us", "written": "write_kb process_write_kb", "read": "read_kb process_read_kb",
		"space": "space_amplification", "size": "db_bytes", "memory": "server_memory_bytes", "memory (pss)": "server_memory_bytes", "context switches": "context_switches",
	} {
		got, err := metric.Named(text)
		expect.True(t, err == nil && strings.Join(got, " ") == want, text, got, err, want)
	}
	for text, want := range map[string]string{
		"latency": "did you mean p50, p95, p99, p99.9 or max?", "writes": "did you mean write_kb, writes_per_s or write_amplification?",
		"reads": "did you mean read_kb, reads_per_s or device_reads?", "written KB": "did you mean write_kb or engine_write_kb?",
		"rows_per_sec": "did you mean rows_per_s?", "throughputs": "did you mean throughput?", "row/s": "did you mean rows?",
		"thruput": "did you mean throughput?", "tput": "did you mean throughput?", "latensy": "did you mean p50, p95, p99, p99.9 or max?",
		"writeamp": "did you mean write_amplification?", "cachehit": "did you mean cache_hit_ratio?",
		"amplification": "did you mean write_amplification, read_amplification", "velocity": "rumbench list metrics", "cost": "rumbench list metrics", "": "rumbench list metrics",
	} {
		_, err := metric.Named(text)
		expect.True(t, err != nil && strings.HasPrefix(hint.Of(err), want) &&
			strings.Contains(err.Error(), "there is no metric"), text, err, hint.Of(err), want)
	}
}

func TestNicknames(t *testing.T) {
	for _, n := range metric.Nicknames() {
		expect.True(t, metric.ByName(n.Name) == nil, "is a metric", n.Name)
		for _, name := range n.Means {
			expect.True(t, metric.ByName(name) != nil, "means, which is no metric", n.Name, name)
		}
	}
	got, err := metric.AllNamed([]string{"p99", "rows_per_s", "service_p99_us", "throughput"})
	want := []string{"response_p99_us", "service_p99_us", "rows_per_s"}
	expect.True(t, err == nil && slices.Equal(got, want), got, err)
	if got, err := metric.AllNamed([]string{"p99", "speed"}); err == nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}
