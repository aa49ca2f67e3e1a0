package observe

import (
	"path/filepath"
	"strconv"

	"rumbench/engine"
)

// speed adds what the machine says of its processors' speed: how often heat slowed them down, and
// their mean frequency. Virtual machines say neither.
func speed(sysRoot string, s *engine.Sample) {
	cpus := filepath.Join(sysRoot, "devices", "system", "cpu")
	if n, ok := sum(filepath.Join(cpus, "cpu[0-9]*", "thermal_throttle", "core_throttle_count")); ok > 0 {
		s.Counter("host.thermal_throttles", "count", n)
	}
	if khz, n := sum(filepath.Join(cpus, "cpu[0-9]*", "cpufreq", "scaling_cur_freq")); n > 0 {
		s.Gauge("host.cpu_hz", "Hz", khz*1e3/float64(n))
	}
}

// sum adds up the numbers in the files of a pattern; n is how many there are.
func sum(pattern string) (total float64, n int) {
	files, _ := filepath.Glob(pattern) // the pattern is well-formed
	for _, f := range files {
		if v, err := strconv.ParseFloat(Text(f), 64); err == nil {
			total, n = total+v, n+1
		}
	}
	return total, n
}
