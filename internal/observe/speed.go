package observe

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
)

// speed reads what the machine says of its processors' speed: how often heat slowed them down, and
// their mean frequency. Virtual machines say neither. Its files are found once: a sample only reads.
type speed struct{ throttles, clocks []string }

func newSpeed(sysRoot string) speed {
	files := func(elem ...string) []string {
		found, _ := filepath.Glob(filepath.Join(append([]string{sysRoot, "devices/system/cpu/cpu[0-9]*"}, elem...)...))
		return found // the pattern is well-formed
	}
	return speed{
		throttles: slices.DeleteFunc(files("thermal_throttle", "core_throttle_count"), laterOfCore),
		clocks:    files("cpufreq", "scaling_cur_freq"),
	}
}

// laterOfCore reports whether a file is of another than the first of the threads that share a core, and
// its counts.
func laterOfCore(file string) bool {
	cpu := filepath.Dir(filepath.Dir(file))
	siblings := Text(cpu, "topology", "thread_siblings_list")
	first, _, _ := strings.Cut(strings.ReplaceAll(siblings, "-", ","), ",")
	return siblings != "" && "cpu"+first != filepath.Base(cpu)
}

func (p speed) read(s *engine.Sample) {
	if n, files := sum(p.throttles); files > 0 {
		s.Counter("host.thermal_throttles", "count", n)
	}
	if khz, files := sum(p.clocks); files > 0 {
		s.Gauge("host.cpu_hz", "Hz", khz*1e3/float64(files))
	}
}

// sum adds up the numbers in files; n is how many there are.
func sum(files []string) (total float64, n int) {
	for _, f := range files {
		if v, err := strconv.ParseFloat(Text(f), 64); err == nil {
			total, n = total+v, n+1
		}
	}
	return total, n
}
