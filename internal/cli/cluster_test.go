package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

const (
	galeraLibrary = "/usr/lib/galera/libgalera_smm.so"
	galeraSecret  = "n0body-Knows"
)

// galera starts a Galera cluster with a node on each machine, and returns their data source names.
func galera(t *testing.T, machines []*need.Machine) (dsns []string) {
	t.Helper()
	for _, path := range []string{galeraLibrary, "/usr/sbin/mariadbd", "/usr/bin/mariadb-install-db", "/usr/bin/rsync"} {
		_, err := os.Stat(path)
		need.Installed(t, err)
	}
	var addresses []string
	for _, m := range machines {
		addresses = append(addresses, m.Address)
	}
	for i, m := range machines {
		dir := filepath.Join(m.Home, "node")
		expect.NoError(t, os.MkdirAll(dir, 0o755))
		expect.NoError(t, exec.Command("chown", "mysql", dir).Run()) // as root rsync would write as nobody
		data, socket, log := filepath.Join(dir, "data"), filepath.Join(dir, "s"), filepath.Join(dir, "log.err")
		args := []string{"/usr/sbin/mariadbd", "--no-defaults", "--user=mysql", "--datadir=" + data, "--socket=" + socket,
			"--log-error=" + log, "--bind-address=" + m.Address, "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
			"--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=32M", "--wsrep-on=ON",
			"--wsrep-provider=" + galeraLibrary, "--wsrep-cluster-name=test", "--wsrep-node-name=" + m.Name,
			"--wsrep-node-address=" + m.Address, "--wsrep-cluster-address=gcomm://" + strings.Join(addresses, ","),
			"--wsrep-provider-options=gcache.size=16M", "--wsrep-sst-method=rsync", "--wsrep-auto-increment-control=OFF"}
		expect.NoError(t, exec.Command("mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir="+data,
			"--auth-root-authentication-method=normal", "--skip-test-db").Run())
		if i == 0 {
			args = append(args, "--wsrep-new-cluster")
		}
		node := m.Command(args...)
		expect.NoError(t, node.Start())
		t.Cleanup(func() {
			_ = node.Process.Kill()
			_ = node.Wait()
			if b, _ := os.ReadFile(log); t.Failed() {
				t.Logf("node %s: %s", m.Name, b[max(0, len(b)-2000):])
			}
		})
		ask := func(text string) string {
			out, _ := exec.Command("mariadb", "--no-defaults", "-uroot", "-S", socket, "-Ne", text).CombinedOutput()
			return string(out)
		}
		wait(t, "node "+m.Name+" is ready", func() bool {
			return strings.Contains(ask("SHOW STATUS LIKE 'wsrep_ready'"), "ON") &&
				strings.Contains(ask("SHOW STATUS LIKE 'wsrep_cluster_size'"), fmt.Sprint(i+1))
		})
		if i == 0 {
			ask("DELETE FROM mysql.global_priv WHERE User = ''; FLUSH PRIVILEGES; CREATE USER bench@'%' IDENTIFIED BY '" +
				galeraSecret + "'; GRANT ALL ON *.* TO bench@'%'")
		}
		dsns = append(dsns, fmt.Sprintf("bench:%s@tcp(%s:3306)/", galeraSecret, m.Address))
	}
	return dsns
}

const clusterPlan = `
workload: sysbench
params: {clients: [5], table_size: 2k, tables: [2], load_clients: 2, read_seconds: %s, write_seconds: 2, settle_floor: 1s,
  tests: [point-query, update-index]}
targets: [{name: galera, engine: mysql, dsn: ["%s", "${SECOND_NODE}"]}]
machines: [{name: "s[1-2]", ssh: "m[1-2]"}, {name: "c[1-2]", ssh: "m[3-4]"}]
server_on: ["s[1-2]"]
clients_on: ["c[1-2]"]
fleet: {lost: 8s}
calibrate: false
`

// Clients on two machines drive a cluster of two servers: sessions are dealt over both, what they did is what both
// have counted, and costs are those of both machines.
func TestCluster(t *testing.T) {
	need.Long(t)
	machines := need.Machines(t, 4)
	bring(t, machines)
	dsns := galera(t, machines[:2])
	t.Setenv("SECOND_NODE", dsns[1])
	h := newHost(t)
	h.write("plan.yaml", fmt.Sprintf(clusterPlan, "3", dsns[0]))
	text, _ := h.run(0, "run", "plan.yaml", "--dry-run")
	h.contains("the dry run", text, "servers on s1, s2, clients on c1, c2")
	h.start("run", "plan.yaml", "--out", "out").complete()
	secret := h.path("out/secrets.env")
	if found := leaks(t, galeraSecret, h.path("out")); !slices.Equal(found, []string{secret}) {
		t.Errorf("the password is in %v", found)
	}
	if b := h.file("out/secrets.env"); strings.Contains(b, machines[1].Address) {
		t.Errorf("what stood in the environment is stored: %s", b)
	}
	trial := h.trial("out/trials/galera.1")
	expect.Must(t, trial.Status == result.Complete && trial.Placement != nil && slices.Equal(trial.Placement.Observed, []string{"s2"}), trial.Status, trial.Reason, trial.Placement)
	if len(trial.Warnings) != 1 { // what sessions waited for
		t.Errorf("warnings: %v", trial.Warnings)
	}
	for i := range trial.Steps {
		checkCluster(t, &trial.Steps[i])
	}
	h.contains("the series", h.file("out/trials/galera.1/series.jsonl"), "process@s1", "process@s2", "host@s2", "client@c2")
	checkSeries(t, h.path("out/trials/galera.1"))
	h.contains("the report", h.file("out/report.html"), "5 clients on 2 machines of their own, 2 servers",
		"Machines of the servers")

	h.write("twice.yaml", fmt.Sprintf(strings.Replace(clusterPlan, "${SECOND_NODE}", dsns[0], 1), "1", dsns[0]))
	_, said := h.run(1, "run", "twice.yaml", "--out", "twice")
	h.contains("the errors", said, "numbers 1 and 2 lead to the same server")
	h.write("lost.yaml", fmt.Sprintf(clusterPlan, "12", dsns[0]))
	lostObserver(t, h, machines)
}

// checkCluster checks a step whose clients were on c1 and c2, and whose servers were on s1 and s2.
func checkCluster(t *testing.T, s *result.Step) {
	t.Helper()
	cpu := 0.0
	for _, machine := range []string{"s1", "s2"} {
		of := figuresOf(s, machine)
		load := len(s.Groups) > 0
		for _, name := range []string{metric.ServerCPUUS, metric.WriteKB, metric.NetworkSentKB, metric.NetworkReceivedKB} {
			if v, known := of[name]; !known || load && name != metric.WriteKB && v <= 0 {
				t.Errorf("step %s: %s of %s: %v", s.Name, name, machine, of)
			}
		}
		if cpu += of[metric.ServerCPUUS]; load && of[metric.Sessions] == 0 {
			t.Errorf("step %s: no sessions of %s: %v", s.Name, machine, of)
		}
	}
	if s.Name != "point-query" {
		return
	}
	rows := s.Find(metric.Rows, "query", "").Value
	expect.Equal(t, found(t, s, "mysql.com_select"), rows, "the clients have counted", "queries, and the servers")
	if us := s.Find(metric.ServerCPUUS, "", ""); us == nil || us.Value < 0.99*cpu || us.Value > 1.01*cpu {
		t.Errorf("the servers used %v µs for each: %+v", cpu, us)
	}
	expect.Equal(t, figuresOf(s, "s1")[metric.Sessions]+figuresOf(s, "s2")[metric.Sessions], 5, "sessions were dealt")
}

// figuresOf returns a step's figures of a machine, by their metrics.
func figuresOf(s *result.Step, machine string) map[string]float64 {
	out := map[string]float64{}
	for _, row := range s.Rows {
		if row.Labels.Machine == machine {
			out[row.Metric] = row.Value
		}
	}
	return out
}

// checkSeries checks that the series of all servers together are the sums of those of each.
func checkSeries(t *testing.T, dir string) {
	t.Helper()
	used := map[string]float64{}
	expect.NoError(t, result.ReadSeries(dir, nil, func(l result.Line) error {
		for key, v := range l.V {
			if name, _, _ := strings.Cut(key, "{"); name == "process.cpu_ns" {
				used[l.Source] += v
			}
		}
		return nil
	}))
	if all, sum := used["process"], used["process@s1"]+used["process@s2"]; all <= 0 || all < 0.999*sum || all > 1.001*sum {
		t.Errorf("the series of CPU time add up to %v", used)
	}
}

// lostObserver loses the agent on the machine of the second server: the step goes on, and its costs are not known.
func lostObserver(t *testing.T, h *host, machines []*need.Machine) {
	t.Helper()
	c := h.start("run", "lost.yaml", "--out", "lost", "--no-preflight")
	wait(t, "point-query runs", func() bool {
		return strings.Contains(readAll(machines[0].Home, "galera.1/series.jsonl"), `"step":"point-query","src":"ops"`)
	})
	kill(t, machines[1])
	c.complete()
	trial := h.trial("lost/trials/galera.1")
	for i := range trial.Steps {
		s := &trial.Steps[i]
		if s.Name != "point-query" && s.Name != "update-index" {
			continue
		}
		_, known := figuresOf(s, "s1")[metric.ServerCPUUS] // without the other's it adds up to nothing
		if cost := s.Find(metric.ServerCPUUS, "", ""); s.Status != result.Complete || cost != nil ||
			s.Find(metric.RowsPerS, "query", "") == nil || known || figuresOf(s, "s1")[metric.Sessions] == 0 ||
			!metric.Has(s.Warnings, remark.SourceUnknown) {
			t.Errorf("step %s: %s, %+v, %v, %v", s.Name, s.Status, cost, figuresOf(s, "s1"), s.Warnings)
		}
	}
}
