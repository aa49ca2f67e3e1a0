package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"rumbench/internal/expect"
)

// A file without an end, or a beginning, is refused by every command that a user gives one.
func TestEndlessFiles(t *testing.T) {
	dir := t.TempDir()
	campaign, pipe, big, line := filepath.Join(dir, "campaign"), filepath.Join(dir, "pipe.yaml"), filepath.Join(dir, "big"), filepath.Join(dir, "line")
	writeCampaign(t, campaign, made{target: "a", rates: []float64{1000, 1010}, params: params})
	expect.NoError(t, syscall.Mkfifo(pipe, 0o644))
	for path, text := range map[string]string{
		big: strings.Repeat("x", 2<<20), line: strings.Repeat("y", 60_000), filepath.Join(dir, "p.yaml"): "workload: ./pipe.yaml\ntargets: [pebble]\n",
	} {
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for _, command := range [][]string{
		{"cost", campaign, "--card"}, {"stat", "--list", "--exprs"}, {"table", campaign, "--notes"}, {"report", campaign, "--out", filepath.Join(dir, "page"), "--notes"},
		{"workload", "check"}, {"workload", "try"}, {"workload", "import", "pgbench"}, {"run"},
	} {
		for path, reason := range map[string]string{"/dev/zero": "not a regular file", pipe: "nothing is written", big: "larger than any such file", line: ""} {
			if path == line && command[0] == "workload" && command[1] == "import" {
				continue // a statement of any length is valid
			}
			out, talk, code := rumbench(t, append(command, path)...)
			expect.True(t, code == 2 && strings.Contains(talk, reason) && out == "" && len(talk) <= 5000,
				command, path, "exit code", code, len(talk), "bytes", talk)
		}
	}
	if _, talk, code := rumbench(t, "run", filepath.Join(dir, "p.yaml")); code != 2 || !strings.Contains(talk, "nothing is written") {
		t.Errorf("%d, %s", code, talk)
	}
}

// A rate that no engine reaches is refused: to walk its operations would never end. So is a time that does not
// fit, which is not taken for another one.
func TestEndlessTimes(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	const rate, time = "1e\\+07", "longer than 100 years|is not between"
	for text, want := range map[string]string{
		"workload: ycsb\nparams: {rate: 1e300}\n": rate, "workload: ibench\nparams: {rates: [9999999999]}\n": rate,
		"workload: tpcc\nrate: 1e9\n": rate, "workload: ycsb\ntargets: [{engine: bbolt, params: {rate: 1e18}}]\n": rate,
		"workload: sysbench\nparams: {read_seconds: 1e10}\n": time, "workload: sysbench\nparams: {settle_floor: 1e300}\n": time,
		"workload: tpcc\nparams: {seconds: 99999999h}\n": time, "workload: tpcc\ninterval: 1e300\n": time,
		"workload: tpcc\ncool_down: 1e300\n": time, "workload: tpcc\nstop: {budget: 1e10}\ntrials: 3\n": time,
	} {
		if !strings.Contains(text, "targets") {
			text += "targets: [bbolt]\n"
		}
		expect.Write(t, plan, text, 0o644)
		if _, talk, code := rumbench(t, "run", plan, "--dry-run"); code != 2 || !regexp.MustCompile(want).MatchString(talk) {
			t.Errorf("%s: exit code %d: %s", text, code, talk)
		}
	}
	if _, talk, code := rumbench(t, "stat", "--count", "9000000000", "--interval", "10s"); code != 2 || !strings.Contains(talk, "longer than 100 years") {
		t.Errorf("%d: %s", code, talk)
	}
}
