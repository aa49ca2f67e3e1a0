package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/server"
)

// serverPlan is a plan of two targets on servers, the first of which is in step
// qr100 for ten minutes unless it is ended.
const serverPlan = `
workload: ibench
params: {rows: 2k, steps: [l.i0, l.x, qr100], rates: [100], query_seconds: %v, settle_floor: 0s}
interval: 100ms
calibrate: false
order: sequential
common: {cache: 16MiB}
targets:
  - {name: first, engine: %s}
  - {name: second, engine: %s}
`

// serverEngines are the engines whose servers are installed; in CI all must be.
func serverEngines(t *testing.T) (engines []string) {
	t.Helper()
	for engine, kind := range map[string]string{"mysql": server.MariaDB, "postgres": server.Postgres} {
		if _, err := server.Find(t.Context(), kind, server.Source{}); need.Found(t, err) {
			engines = append(engines, engine)
		}
	}
	if len(engines) == 0 {
		need.Setup(t)
	}
	return engines
}

// servers lists the processes that work below a directory.
func (h *host) servers(name string) []int { return workingIn(h.path(name)) }

func workingIn(dir string) (pids []int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir+"/") {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// gone checks that no server runs and no data is left.
func (h *host) gone() {
	h.Helper()
	wait(h.T, "no server runs", func() bool { return len(h.servers("out")) == 0 })
	for _, trial := range []string{"first.1", "second.1"} {
		if h.exists("out/trials/" + trial + "/data") {
			h.Errorf("data of %s was left behind", trial)
		}
	}
}

// A server that is killed while a step runs: the trial fails and reports its last
// words, what was measured is there, the next trial runs if it is to keep going.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("plan.yaml", fmt.Sprintf(serverPlan, 600, engine, engine))
			c := h.start("run", "plan.yaml", "--out", "out", "--keep-going")
			c.during("out/trials/first.1", "qr100")
			pids := h.servers("out/trials/first.1")
			if len(pids) == 0 {
				t.Fatal("no server runs")
			}
			for _, pid := range pids {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			c.during("out/trials/second.1", "qr100") // it goes on
			first := h.trial("out/trials/first.1")
			if first.Status != result.Failed || !strings.Contains(first.Reason, "signal: killed; its last messages: ") || !strings.Contains(first.Hint, "killed from outside") {
				t.Errorf("%s: %q, hint %q", first.Status, first.Reason, first.Hint)
			}
			if n := len(first.Steps); n != 3 || first.Steps[2].Status != result.Failed || first.Steps[2].Find("rows_per_s", "query", "") == nil {
				t.Errorf("%d steps", n)
			}
			if h.exists("out/trials/first.1/data") {
				t.Error("data was left behind")
			}
			if log := h.file("out/trials/first.1/server.log"); len(log) < 100 {
				t.Errorf("the server's log holds %q", log)
			}
			// And Ctrl-C stops the second one's server in good order.
			send(t, c.cmd.Process, syscall.SIGINT)
			if code := c.end(); code != 1 {
				t.Errorf("exit code %d", code)
			}
			second := h.trial("out/trials/second.1")
			if second.Status != result.Partial || second.Steps[2].Find("server_cpu_us", "", "") == nil {
				t.Errorf("%s: %s", second.Status, second.Reason)
			}
			h.gone()
		})
	}
}

// Whoever of campaign and trial is killed, no server and no data is left.
func TestKilledAroundServer(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		for _, who := range []string{"trial", "campaign", "both"} {
			t.Run(engine+" "+who, func(t *testing.T) {
				t.Parallel()
				h := newHost(t)
				h.write("plan.yaml", fmt.Sprintf(serverPlan, 600, engine, "memory, cache: null, durability: none"))
				h.replace("plan.yaml", "common: {cache: 16MiB}\n", "")
				h.replace("plan.yaml", ", cache: null", "")
				c := h.start("run", "plan.yaml", "--out", "out", "--keep-going")
				c.during("out/trials/first.1", "qr100")
				child := c.child()
				if who != "trial" {
					send(t, c.cmd.Process, syscall.SIGKILL)
				}
				if who != "campaign" {
					send(t, child, syscall.SIGKILL)
				}
				if who == "trial" {
					c.during("out/trials/second.1", "qr100")
					send(t, c.cmd.Process, syscall.SIGINT)
				}
				c.end()
				wait(t, "the trial has ended", func() bool { return !alive(child) })
				if who == "both" { // nobody is left to remove the data; the next run does
					wait(t, "no server runs", func() bool { return len(h.servers("out")) == 0 })
					h.finite("out", "600")
					h.run(0, "run", "--resume", "out")
				}
				h.gone()
			})
		}
	}
}

// overcounted reports whether a number is missing because the kernel counts large folios
// as a whole.
func overcounted(s *result.Step, name string) bool {
	return name == metric.ProcessWriteKB && metric.Has(s.Warnings, metric.ImpossibleIO)
}

// A second Ctrl-C ends a trial whose server does not stop: no process of it is left, the lock is
// free, and the campaign goes on when asked to.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("plan.yaml", fmt.Sprintf(serverPlan, 600, engine, "memory, cache: null, durability: none"))
			h.replace("plan.yaml", "common: {cache: 16MiB}\n", "")
			h.replace("plan.yaml", ", cache: null", "")
			c := h.start("run", "plan.yaml", "--out", "out")
			c.during("out/trials/first.1", "qr100")
			child := c.child()
			for _, pid := range h.servers("out/trials/first.1") {
				if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			wait(t, "the trial has ended", func() bool { // requests within a second count as one
				time.Sleep(100 * time.Millisecond)
				_ = c.cmd.Process.Signal(syscall.SIGINT)
				return !alive(child)
			})
			if code := c.end(); code != 1 {
				t.Errorf("exit code %d", code)
			}
			if left := h.servers("out"); alive(child) || len(left) > 0 {
				t.Errorf("the trial lives: %v, and servers %v", alive(child), left)
			}
			lock, err := os.OpenFile(h.path("lock"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
				t.Errorf("the lock is held: %v", err)
			}
			if b, err := os.ReadFile(h.path("lock")); err != nil || len(b) > 0 {
				t.Errorf("it names %q, %v", b, err)
			}
			h.contains("standard error", c.stderr.String(), "go on with it: rumbench run --resume out")
			if err := lock.Close(); err != nil {
				t.Fatal(err)
			}
			h.finite("out", "600")
			h.run(0, "run", "--resume", "out")
			h.gone()
		})
	}
}

// A trial on servers separates CPU of server and client, what the server
// wrote, and where it was read back.
func TestServerTrial(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		h := newHost(t)
		h.write("plan.yaml", fmt.Sprintf(serverPlan, 2, engine, engine))
		h.run(0, "run", "plan.yaml", "--out", "out")
		h.gone()
		tr := h.trial("out/trials/second.1")
		q := tr.Steps[2]
		for _, metric := range []string{"server_cpu_us", "client_cpu_us", "host_cpu_us", "cpu_accounted", "write_kb", "process_write_kb", "engine_write_kb", "server_memory_bytes", "db_bytes", "data_bytes", "space_amplification", "checkpoint_age_bytes"} {
			r := q.Find(metric, "", "")
			if r == nil {
				if !overcounted(&q, metric) {
					t.Errorf("%s: no %s", engine, metric)
				}
				continue
			}
			if r.Value < 0 || r.Source == "" && metric != "host_cpu_us" {
				t.Errorf("%s: %+v", engine, r)
			}
		}
		if r := q.Find("server_cpu_us", "", ""); r != nil && (r.Value <= 0 || r.Source != "the server's processes") {
			t.Errorf("%s: %+v", engine, r)
		}
		if len(tr.Warnings) > 0 {
			t.Errorf("%s: %q", engine, tr.Warnings)
		}
		versions := ""
		for _, v := range tr.Versions {
			versions += v.Name + " "
		}
		if !strings.Contains(versions, "server") {
			t.Errorf("versions of %s", versions)
		}
	}
}

// A disk that another process fills under a server: what failed, in the server's
// own words, and what can be done.
func TestFullDiskUnderServer(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		h := newHost(t)
		disk := h.mount("size=2600m,mode=0755")
		h.write("plan.yaml", fmt.Sprintf(serverPlan, 600, engine, engine))
		h.replace("plan.yaml", "rows: 2k", "rows: 50M") // it is in the load until the disk is full
		h.replace("plan.yaml", "steps: [l.i0, l.x, qr100]", "steps: [l.i0]")
		fillTo(t, filepath.Join(disk, "ballast"), 1600<<20)
		// The size is refused before anything starts.
		_, talk := h.run(5, "run", "plan.yaml", "--out", "disk/out")
		h.contains("standard error", talk, "the disk under disk/out would fill", "hint: ")
		h.replace("plan.yaml", "rows: 50M", "rows: 200k")
		c := h.start("run", "plan.yaml", "--out", "disk/out", "--set", "params.load_batch=1")
		c.during("disk/out/trials/first.1", "l.i0")
		fill(t, filepath.Join(disk, "more"))
		code := c.end()
		tr := h.trial("disk/out/trials/first.1")
		if code != 1 || tr.Status != result.Failed || !strings.Contains(tr.Hint, "the disk is full") {
			t.Errorf("%s: exit code %d, %s: %q, hint %q", engine, code, tr.Status, tr.Reason, tr.Hint)
		}
		if h.exists("disk/out/trials/first.1/data") {
			t.Error("data was left behind")
		}
	}
}

// A server that does not start with its settings, or takes too few clients, fails the
// preflight with its own words. Nothing is left, on a server that was attached to
// neither.
func TestPreflightOfServer(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		h, attached := newHost(t), newHost(t)
		refused, words := "mysql, options: {innodb_page_size: 5000}", "Invalid page size=5000"
		if engine == "postgres" {
			refused, words = "postgres, options: {shared_buffers: 900GB}", "FATAL:  could not map anonymous shared memory"
		}
		h.write("plan.yaml", fmt.Sprintf(serverPlan, 1, refused, engine))
		h.replace("plan.yaml", "common: {cache: 16MiB}\n", "")
		out, talk := h.run(1, "run", "plan.yaml", "--out", "out")
		h.contains("standard error", talk, "preflight: 1 of 2 targets cannot run the plan", "\n  first: open "+engine+": ", words)
		if out != "" || strings.Contains(talk, "[1/2]") || len(h.servers("out")) > 0 || h.exists("out/trials") || h.exists("out/campaign.json") {
			t.Errorf("%s: a failed preflight leaves something:\n%s", engine, talk)
		}
		if engine == "postgres" {
			h.contains("the server's log", h.file("out/_preflight/first/server.log"), words)
		}

		h.write("plan.yaml", fmt.Sprintf(serverPlan, 600, engine+", options: {max_connections: 60}", engine))
		c := h.start("run", "plan.yaml", "--out", "out")
		c.during("out/trials/first.1", "qr100")
		attached.write("plan.yaml", fmt.Sprintf("workload: sysbench\nparams: {tests: [oltp_read_write], table_size: 100, write_seconds: 0.1, settle_floor: 0s}\n"+
			"calibrate: false\ntargets: [{engine: %s, schema: other, dsn: %q}]\n", engine, h.dsn(engine, "first.1")))
		_, talk = attached.run(1, "run", "plan.yaml", "--out", "out", "--set", "params.clients=70")
		attached.contains("standard error", talk, "open a session for each of 70 clients: at number ", "oo many c")
		_, talk = attached.run(0, "run", "plan.yaml", "--out", "out") // it finds no schema of that name
		attached.contains("standard error", talk, "preflight: "+engine+": 1 target ok in ", "complete in ")
		send(t, c.cmd.Process, syscall.SIGINT)
		c.end()
		h.gone()
	}
}

// dsn returns the data source name of the private server of a trial in out.
func (h *host) dsn(engine, trial string) string {
	run := h.path("out/trials/" + trial + "/data/run")
	if engine != "postgres" {
		return "root@unix(" + run + "/s)/"
	}
	sockets, _ := filepath.Glob(run + "/.s.PGSQL.*")
	for _, s := range sockets {
		if _, port, ok := strings.Cut(s, ".s.PGSQL."); ok && !strings.Contains(port, "lock") {
			return "user=postgres database=postgres host=" + run + " port=" + port
		}
	}
	h.Fatalf("no socket in %s", run)
	return ""
}

// fillTo leaves so many bytes free.
func fillTo(t *testing.T, path string, free int64) {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &st); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Fallocate(int(f.Fd()), 0, 0, int64(st.Bavail)*st.Bsize-free); err != nil {
		t.Fatal(err)
	}
}

// The load of another program is recorded as a campaign: with what it costs the
// server, the program's exit code, and what was recorded of a load that was killed.
func TestRecording(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.write("plan.yaml", fmt.Sprintf(serverPlan, 600, engine, engine))
			c := h.start("run", "plan.yaml", "--out", "out")
			c.during("out/trials/first.1", "qr100")
			attach := "--attach=db=" + engine + ":" + h.dsn(engine, "first.1")
			out, talk := h.run(0, "stat", attach, "--interval", "200ms", "--out", "done", "--", "sh", "-c", "echo the load; sleep 2")
			h.contains("standard output", out, "the load\n")
			h.contains("standard error", talk, "done/report.html", "server")
			done := h.trial("done/trials/db.1")
			step := done.Steps[0]
			op := step.Primary
			if done.Status != result.Complete || done.Engine != engine || done.Durability == result.Unknown || len(done.Settings) < 10 || done.EngineVersion() == "" {
				t.Errorf("%+v", done)
			}
			for _, name := range []string{"server_cpu_us", "cpu_us", "process_write_kb", "context_switches"} {
				if step.Find(name, "", op) == nil && !overcounted(&step, name) {
					t.Errorf("no %s per %s", name, op)
				}
			}
			for _, name := range []string{"server_memory_bytes", "db_bytes", "duration_s"} {
				if step.Find(name, "", "") == nil {
					t.Errorf("no %s", name)
				}
			}
			if rate := step.Find("ops_per_s", op, ""); rate == nil || rate.Value <= 0 || step.Find("service_p50_us", "", "") != nil || len(step.Counters) < 50 {
				t.Errorf("rate %+v, %d counters", rate, len(step.Counters))
			}
			h.contains("report", h.file("done/report.md"), "Latency was not measured", "load: sh -c echo the load; sleep 2")
			_, talk = h.run(1, "stat", attach, "--out", "done", "--", "true")
			h.contains("standard error", talk, "the directory is not empty")

			h.run(7, "stat", attach, "--interval", "200ms", "--out", "failed", "--", "sh", "-c", "sleep 1; exit 7")
			if failed := h.trial("failed/trials/db.1"); failed.Status != result.Failed || failed.Steps[0].Find("ops_per_s", op, "") == nil {
				t.Errorf("%s: %s", failed.Status, failed.Reason)
			}
			h.run(137, "stat", attach, "--interval", "200ms", "--out", "killed", "--", "sh", "-c", "sleep 1; kill -9 $$")
			if killed := h.trial("killed/trials/db.1"); killed.Status != result.Partial || killed.Steps[0].Status != result.Partial {
				t.Errorf("%s: %s", killed.Status, killed.Reason)
			}

			h.run(0, "stat", attach, "--interval", "200ms", "--out", "secret", "--", "sh", "-c", "sleep 0.3", "sh", "--mysql-password=geheim wort", "--pass", "geheim",
				"-p", "geheim", "me:geheim", "--token=geheim", "u@geheim@host")
			if engine == "mysql" { // whose driver sets what it does not know, so that the server quotes it
				_, talk := h.run(1, "stat", attach+"?password=geheim", "--out", "quoted", "--", "true")
				h.contains("standard error", talk, "***")
				noSecret(t, "standard error", talk)
			}
			files, err := snapshot(h.path("secret"))
			if err != nil {
				t.Fatal(err)
			}
			for path, text := range files {
				noSecret(t, path, text)
			}

			log, err := os.ReadFile("../importer/testdata/sysbench/mysql-5.5.9/sb.o.read-write.range100.pk1.dop2")
			if err != nil {
				t.Fatal(err)
			}
			h.write("sysbench", "#!/bin/sh\nsleep 1\ncat <<'END'\n"+string(log)+"END\n")
			if err := os.Chmod(h.path("sysbench"), 0o755); err != nil {
				t.Fatal(err)
			}
			h.run(0, "stat", attach, "--interval", "200ms", "--out", "timed", "--", h.path("sysbench"))
			if p99 := h.trial("timed/trials/db.1").Steps[0].Find("service_p99_us", "transaction", ""); p99 == nil || p99.Source != "the output of sysbench 1.0.20" {
				t.Errorf("%+v", p99)
			}

			r := h.start("stat", attach, "--interval", "200ms", "--out", "lost")
			r.during("lost/trials/db.1", "load")
			send(t, r.cmd.Process, syscall.SIGKILL)
			r.end()
			lost, err := result.ReadTrial(h.path("lost/trials/db.1"))
			if err != nil || lost.Status != result.Partial || lost.Steps[0].Find("ops_per_s", op, "") == nil || lost.Steps[0].Find("errors", "", "") != nil {
				t.Errorf("%+v, %v", lost, err)
			}
			h.run(0, "report", "lost")
			r = h.start("stat", attach, "--interval", "200ms", "--out", "stopped")
			r.during("stopped/trials/db.1", "load")
			send(t, r.cmd.Process, syscall.SIGINT)
			if code := r.end(); code != 0 || h.trial("stopped/trials/db.1").Status != result.Complete {
				t.Errorf("exit code %d", code)
			}
			h.run(0, "stat", attach, "--interval", "200ms", "--out", "again", "--", "sh", "-c", "sleep 1")
			out, _ = h.run(0, "compare", "done", "again")
			h.contains("comparison", out, "rows_per_s "+op, "cpu_us per "+op)
			send(t, c.cmd.Process, syscall.SIGINT)
			c.end()
			h.gone()
		})
	}
}

// The live collector watches a real server, and its process.
func TestStatOfServer(t *testing.T) {
	t.Parallel()
	for _, engine := range serverEngines(t) {
		h := newHost(t)
		h.write("plan.yaml", fmt.Sprintf(serverPlan, 600, engine, engine))
		c := h.start("run", "plan.yaml", "--out", "out")
		c.during("out/trials/first.1", "qr100")
		out, talk := h.run(0, "stat", "--attach", "db="+engine+":"+h.dsn(engine, "first.1"), "--interval", "200ms", "--count", "3", "--format", "jsonl", "--expr", `written = rate("engine.bytes_written")`)
		h.contains("standard output", out, `"name":"engine.bytes_written"`, `"name":"process.cpu_ns"`, `"name":"`+engine+`.`, `"name":"written"`)
		h.contains("standard error", talk, "its data is in ")
		send(t, c.cmd.Process, syscall.SIGINT)
		c.end()
		h.gone()
	}
}
