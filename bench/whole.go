package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Budgets of whole programs: pages, other benchmarks, the tests.

// built builds rumbench in a directory that servers may enter, which run as other users.
func built(dir string, flags ...string) (exe string, err error) {
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	exe = filepath.Join(dir, "rumbench")
	args := slices.Concat([]string{"build", "-o", exe}, flags, []string{"rumbench/cmd/rumbench"})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build rumbench: %w\n%s", err, out)
	}
	return exe, nil
}

// pageSize measures the page of an ordinary campaign: 3 targets, 10 steps, 3 trials.
func pageSize(dir string) ([]budget, error) {
	exe, err := built(dir)
	if err != nil {
		return nil, err
	}
	campaign := filepath.Join(dir, "page")
	if _, err := trialsOf(exe, campaign, `name: page
workload: ibench
params: {rows: 20k, write_rows: 10k, query_seconds: 1, settle_floor: 0}
calibrate: false
trials: 3
targets: [pebble, bbolt, sqlite]
`); err != nil {
		return nil, err
	}
	info, err := os.Stat(filepath.Join(campaign, "report.html"))
	if err != nil {
		return nil, err
	}
	size := float64(info.Size()) / 1e6
	return []budget{{subject: "page of 3 targets, 10 steps and 3 trials", value: size, limit: 1.5, unit: "MB"}}, nil
}

// peers measures rumbench's client beside other benchmarks, in fewer rounds than make bench-peers.
func peers(string) ([]budget, error) {
	cmd := exec.Command("go", "run", "-tags", "native", "./bench/peers", "-brief", "-rounds", "3", "-seconds", "1")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("compare with other benchmarks: %w", err)
	}
	var list []budget
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var o struct {
			Peer, Test                     string
			Clients                        int
			CPU, Rate, CPULimit, RateLimit float64
		}
		if err := d.Decode(&o); err != nil {
			return nil, err
		}
		subject := fmt.Sprintf("%s, %s, clients: %d", o.Peer, strings.TrimPrefix(o.Test, "oltp_"), o.Clients)
		if o.CPULimit > 0 {
			list = append(list, budget{subject: subject + ": CPU", value: o.CPU, limit: o.CPULimit, unit: "×"})
		}
		if o.RateLimit > 0 {
			list = append(list, budget{subject: subject + ": rate", value: o.Rate, limit: o.RateLimit, unit: "×", atLeast: true})
		}
	}
	return list, nil
}

// testTimes measures make check. make test prints its own time.
func testTimes(string) ([]budget, error) {
	start := time.Now()
	out, err := exec.Command("go", "test", "-count", "1", "-vet=off", "-short", "-p", "4", "./...").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("make check: %w\n%s", err, out)
	}
	return []budget{{subject: "make check", value: time.Since(start).Minutes(), limit: 3, unit: "min"}}, nil
}
