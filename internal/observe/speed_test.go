package observe

import (
	"os"
	"path/filepath"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// Heat and frequencies are summed over the processors; a machine that reports neither has neither.
func TestSpeed(t *testing.T) {
	sys := t.TempDir()
	points := func() map[string]float64 {
		var s engine.Sample
		newSpeed(sys).read(&s)
		out := map[string]float64{}
		for _, p := range s.Points {
			out[p.Name] = p.Value
		}
		return out
	}
	if got := points(); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for file, content := range map[string]string{
		"cpu0/thermal_throttle/core_throttle_count": "3\n", "cpu1/thermal_throttle/core_throttle_count": "4\n",
		"cpu0/cpufreq/scaling_cur_freq": "2000000\n", "cpu10/cpufreq/scaling_cur_freq": "3000000\n",
	} {
		path := filepath.Join(sys, "devices/system/cpu", file)
		expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	if got := points(); got["host.thermal_throttles"] != 7 || got["host.cpu_hz"] != 2.5e9 {
		t.Errorf("%v", got)
	}
}
