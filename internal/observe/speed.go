package observe

import (
	"path/filepath"
	"strconv"
	"strings"

	"rumbench/engine"
)

// speed adds what the machine says of its processors' speed: how often heat slowed them down, and
// their mean frequency. Virtual machines say neither.
func speed(sysRoot string, s *engine.Sample) {
	cpus := filepath.Join(sysRoot, "devices", "system", "cpu")
	if n, ok := sum(filepath.Join(cpus, "cpu[0-9]*", "thermal_throttle", "core_throttle_count"), firstOfCore); ok > 0 {
		s.Counter("host.thermal_throttles", "count", n)
	}
	all := func(string) bool { return true }
	if khz, n := sum(filepath.Join(cpus, "cpu[0-9]*", "cpufreq", "scaling_cur_freq"), all); n > 0 {
		s.Gauge("host.cpu_hz", "Hz", khz*1e3/float64(n))
	}
}

// firstOfCore reports whether a file is of the first of the threads that share a core, and its counts.
func firstOfCore(file string) bool {
	cpu := filepath.Dir(filepath.Dir(file))
	siblings := Text(cpu, "topology", "thread_siblings_list")
	first, _, _ := strings.Cut(strings.ReplaceAll(siblings, "-", ","), ",")
	return siblings == "" || "cpu"+first == filepath.Base(cpu)
}

// sum adds up the numbers in those files of a pattern that count; n is how many there are.
func sum(pattern string, counts func(file string) bool) (total float64, n int) {
	files, _ := filepath.Glob(pattern) // the pattern is well-formed
	for _, f := range files {
		if v, err := strconv.ParseFloat(Text(f), 64); err == nil && counts(f) {
			total, n = total+v, n+1
		}
	}
	return total, n
}
