package published

import (
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// What sysbench 1.0.20 printed comes out of its own figures byte by byte.
func TestSysbenchAsPrinted(t *testing.T) {
	b, err := os.ReadFile("../../importer/testdata/sysbench/mariadb-10.11.19/sb.o.read-write.range100.pk1.dop2")
	expect.NoError(t, err)
	_, text, _ := strings.Cut(string(b), "2 CPUs\n")
	text = strings.Replace(text, "Initializing random number generator from current time\n", "", 1) // it has no seed
	text = text[:strings.Index(text, "[ 2s ]")] + text[strings.Index(text, "SQL statistics:"):]
	got := sysbenchHead("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)", 2, 0, 1) +
		sysbenchInterval{sysbenchCounts: sysbenchCounts{Events: 3077.70, Reads: 43115.81, Writes: 12313.81, Others: 6157.40}, End: 1.0002, Seconds: 1, Threads: 2, Percentile: 99, Latency: 1.89}.String() +
		sysbenchFinal{sysbenchCounts: sysbenchCounts{Events: 11823, Reads: 165522, Writes: 47292, Others: 23646}, Seconds: 5.0029, Min: 0.35, Avg: 0.85, Max: 17.32, Percentile: 99, Latency: 4.33, Sum: 9993.42, Threads: 2, EventsSD: 378.5}.String()
	// sysbench divides by another clock than the one that it prints.
	rates := regexp.MustCompile(`\([\d.]+ per sec`)
	trim := func(s string) string { return rates.ReplaceAllString(strings.TrimRight(s, "\n")+"\n", " per sec") }
	expect.Same(t, trim(text), trim(got), "sysbench +own")
}

// What is not known is no figure.
func TestSysbenchUnknown(t *testing.T) {
	nan := math.NaN()
	stalled := sysbenchInterval{End: 3, Seconds: 1, Threads: 2, Percentile: 95, Latency: nan, Paced: true, QueueLength: 7}
	expect.Equal(t, stalled.String(), "[ 3s ] thds: 2 tps: 0.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00) lat (ms,95%): - err/s: 0.00 reconn/s: 0.00\n[ 3s ] queue length: 7, concurrency: -\n")
	short := sysbenchInterval{sysbenchCounts: sysbenchCounts{Events: 10, Reads: nan}, End: 0.5, Seconds: 0.5, Threads: 1, Percentile: 95, Latency: 1}
	expect.Equal(t, short.String(), "[ 0.50s ] thds: 1 tps: 20.00 qps: - (r/w/o: -/0.00/0.00) lat (ms,95%): 1.00 err/s: 0.00 reconn/s: 0.00\n")
	final := sysbenchFinal{sysbenchCounts: sysbenchCounts{Events: 10, Reads: nan}, Seconds: 2, Min: nan, Avg: 1, Max: 2, Percentile: 95, Latency: nan, Sum: 10, Threads: 1, BusySD: nan}.String()
	expect.All(t, final, "total:                           -\n", "queries:                             -      (- per sec.)\n", "         min:                                       -\n", "execution time (avg/stddev):   0.0100/-\n")
}
