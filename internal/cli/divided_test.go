package cli_test

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
)

const dividedPlan = `
workload: sysbench
params: {clients: [5], table_size: 2k, tables: [2], load_clients: 3, read_seconds: %s, write_seconds: 1,
  settle_floor: 0s, tests: [point-query, update-index, insert]}
targets: [%s]
machines: [{name: db, ssh: m1, listen: %s}, {name: "c[2-3]", ssh: "m[2-3]"}]
server_on: db
clients_on: ["c[2-3]"]
fleet: {lost: 8s}
`

// counters are those in which the server counts the operations of a step, one by one.
var counters = map[string]map[string]string{
	"mariadb": {"point-query": "mysql.com_select", "update-index": "mysql.handler_commit", "insert": "mysql.handler_commit"},
	"postgres": {"load": "postgres.database.rows_inserted", "update-index": "postgres.database.rows_updated",
		"insert": "postgres.database.rows_inserted"},
}

const mariadb = "{name: mariadb, engine: mysql, server: mariadb, cache: 32MiB}"

// found is how many operations of a step the server itself has counted.
func found(t *testing.T, s *result.Step, counter string) float64 {
	t.Helper()
	for _, c := range s.Counters {
		if c.Name == counter {
			return c.Value
		}
	}
	t.Errorf("step %s has no counter %s", s.Name, counter)
	return 0
}

// secrets returns what may be nowhere but in the memory of processes: the passwords of the servers' ports.
func secrets(t *testing.T, homes string) (out []string) {
	t.Helper()
	_ = filepath.WalkDir(homes, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "password" {
			if b, err := os.ReadFile(path); err == nil && len(b) > 0 { // else it is still to be written
				out = append(out, strings.TrimSpace(string(b)))
			}
		}
		return nil
	})
	return out
}

// leaks returns the processes and the files below a directory that hold a secret.
func leaks(t *testing.T, secret, dir string) (out []string) {
	t.Helper()
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range processes {
		for _, name := range []string{"cmdline", "environ"} {
			if b, err := os.ReadFile(filepath.Join(p, name)); err == nil && strings.Contains(string(b), secret) {
				out = append(out, filepath.Join(p, name))
			}
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), secret) {
				out = append(out, path)
			}
		}
		return err
	})
	expect.NoError(t, err)
	return out
}

// The clients of two engines, with all that is tried and measured before.
func TestClientsElsewhere(t *testing.T) {
	need.Long(t)
	machines := need.Machines(t, 3)
	bring(t, machines)
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(dividedPlan, "3", mariadb+", {name: postgres, engine: postgres, cache: 32MiB}",
		machines[0].Address))
	text, _ := h.run(0, "run", "plan.yaml", "--dry-run")
	h.contains("the dry run", text, "the server on db, clients on c2, c3")
	elsewhere(t, h, machines, []string{"mariadb", "postgres"})
	h.contains("the report", h.file("out/report.html"), "5 clients on 2 machines of their own", "Machines of the clients", "c2", "c3")
}

// elsewhere runs a campaign in which two machines drive the servers of a third. What they counted together is what the
// server counted, whatever their clocks say, and nobody but they learns its password. Nothing stays.
func elsewhere(t *testing.T, h *host, machines []*need.Machine, targets []string, flags ...string) {
	t.Helper()
	c := h.start(append([]string{"run", "plan.yaml", "--out", "out"}, flags...)...)
	var passwords, ports []string
	wait(t, "the server starts", func() bool { passwords = secrets(t, machines[0].Home); return len(passwords) > 0 })
	wait(t, "the server listens", func() bool { ports = listening(t, machines[0]); return len(ports) > 0 })
	for _, address := range ports {
		expect.True(t, strings.HasPrefix(address, machines[0].Address+":") || strings.HasPrefix(address, "127.0.0.1:"),
			"the server listens on", address)
	}
	found := leaks(t, passwords[0], h.path("out"))
	c.complete()
	if found = append(found, leaks(t, passwords[0], h.path("out"))...); len(found) > 0 {
		t.Errorf("the password is in %v", found)
	}
	for _, name := range targets {
		checkDivided(t, h, name)
	}
	nothingStays(t, machines)
}

// complete waits for a campaign that succeeds.
func (c *campaign) complete() {
	c.Helper()
	if code := c.end(); code != 0 {
		c.Fatalf("exit code %d: %s", code, c.stderr)
	}
}

// nothingStays checks that nothing of a campaign is left on machines.
func nothingStays(t *testing.T, machines []*need.Machine) {
	t.Helper()
	for _, m := range machines {
		wait(t, "no agent runs", func() bool { return len(m.Processes()) <= 1 }) // of sshd
		if left, _ := filepath.Glob(filepath.Join(m.Home, "rumbench-fleet", "*")); len(left) > 0 {
			t.Errorf("%s has %v", m.Name, left)
		}
	}
}

// checkDivided checks the trial of a target whose clients were on c2 and c3.
func checkDivided(t *testing.T, h *host, target string) {
	t.Helper()
	trial := h.trial("out/trials/" + target + ".1")
	if trial.Status != result.Complete || trial.Placement == nil || trial.Placement.Server != "db" ||
		!slices.Equal(trial.Placement.Clients, []string{"c2", "c3"}) {
		t.Fatalf("%s: %s, %+v", trial.Status, trial.Reason, trial.Placement)
	}
	for i := range trial.Steps {
		s := &trial.Steps[i]
		if s.Name == "settle" {
			continue
		}
		first, second := figuresOf(s, "c2"), figuresOf(s, "c3")
		if first[metric.OpsPerS] == 0 || second[metric.OpsPerS] == 0 {
			t.Errorf("step %s: clients %v and %v", s.Name, first, second)
			continue
		}
		if trip := first[metric.RoundTripMinUS]; trip <= 0 || trip > first[metric.ServiceP50US] ||
			first[metric.NetworkSentKB] == 0 || first[metric.ClientCPUUS] == 0 {
			t.Errorf("step %s: %v", s.Name, first)
		}
		rows := s.Find(metric.Rows, s.Primary, "").Value
		if counter := counters[target][s.Name]; counter != "" {
			expect.Equal(t, found(t, s, counter), rows, "step", s.Name, "the clients have counted", "and the server")
		}
		if n := math.Round((first[metric.OpsPerS] + second[metric.OpsPerS]) * s.Seconds); s.Name != "load" && s.Name != "index" && n != rows {
			t.Errorf("step %s: the machines have counted %v of %v", s.Name, n, rows)
		}
		expect.True(t, s.Name != "load" || rows == 4000, rows, "rows were loaded")
		if s.Name == "point-query" && (s.Find(metric.ClientCPUUS, "", "") == nil ||
			strings.Contains(fmt.Sprint(s.Warnings), "clocks")) {
			t.Errorf("step %s: %v", s.Name, s.Warnings)
		}
	}
	h.contains("the series", h.file("out/trials/"+target+".1/series.jsonl"), "client@c2", "client@c3")
	if plans := h.file("out/trials/" + target + ".1/plans.jsonl"); !strings.Contains(plans, "point-query") {
		t.Error("the plans of the clients' statements are not there")
	}
}

var localAddress = regexp.MustCompile(`^\S+\s+\S+\s+\S+\s+(\S+)`)

// listening returns the addresses of TCP ports that a machine's processes listen on, but ssh's.
func listening(t *testing.T, m *need.Machine) (out []string) {
	t.Helper()
	text, err := exec.Command("ip", "netns", "exec", m.Space(), "ss", "-Htln").Output()
	expect.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if found := localAddress.FindStringSubmatch(line); found != nil && !strings.HasSuffix(found[1], ":22") {
			out = append(out, found[1])
		}
	}
	return out
}

// kill ends all of rumbench on a machine at once.
func kill(t *testing.T, m *need.Machine) {
	t.Helper()
	for _, pid := range m.Processes() {
		if name, _ := os.ReadFile("/proc/" + pid + "/comm"); strings.TrimSpace(string(name)) == "rumbench" {
			_ = exec.Command("kill", "-9", pid).Run()
		}
	}
}

// readAll returns the content of the files below a directory whose path ends so.
func readAll(dir, suffix string) (text string) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, suffix) {
			b, _ := os.ReadFile(path)
			text += string(b)
		}
		return nil
	})
	return text
}
