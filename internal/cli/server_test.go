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

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/server"
)

// servers are the servers of engines that have one.
var servers = map[string]string{"mysql": server.MariaDB, "postgres": server.Postgres}

// installed skips a test whose engine has a server that is not installed.
func installed(t *testing.T, engine string) {
	t.Helper()
	if kind := servers[engine]; kind != "" {
		_, err := server.Find(t.Context(), kind, server.Source{})
		need.Installed(t, err)
	}
}

// eachServer runs a test on each server, on one of them in make test.
func eachServer(t *testing.T, usual string, test func(t *testing.T, engine string)) {
	t.Parallel()
	for engine := range servers {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			if engine != usual {
				need.Long(t)
			}
			installed(t, engine)
			test(t, engine)
		})
	}
}

// serving starts a campaign whose first target is a server, and waits until that is in step qr100, for ten
// minutes unless it is ended.
func (h *host) serving(engine, second string) *campaign {
	h.Helper()
	h.write("plan.yaml", planFor("{name: first, cache: 16MiB, engine: "+engine+"}", "{name: second, engine: "+second+"}"))
	c := h.start("run", "plan.yaml", "--out", "out", "--keep-going", "--no-preflight")
	c.during("out/trials/first.1", "qr100")
	return c
}

// inMemory is a second target that costs nothing.
const inMemory = "memory, durability: none"

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
	h.removed("out/trials/first.1/data", "out/trials/second.1/data")
}

// A server that is killed while a step runs: the trial fails and reports its last
// words, what was measured is there, the next trial runs if it is to keep going.
func TestServerKilled(t *testing.T) {
	eachServer(t, "mysql", func(t *testing.T, engine string) {
		h := newHost(t)
		c := h.serving(engine, engine)
		pids := h.servers("out/trials/first.1")
		expect.Must(t, len(pids) != 0, "no server runs")
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
		h.removed("out/trials/first.1/data")
		if log := h.file("out/trials/first.1/server.log"); len(log) < 100 {
			t.Errorf("the server's log holds %q", log)
		}
		// And Ctrl-C stops the second one's server in good order.
		c.ends(syscall.SIGINT, 1)
		second := h.trial("out/trials/second.1")
		expect.True(t, second.Status == result.Partial && second.Steps[2].Find("server_cpu_us", "", "") != nil,
			second.Status, second.Reason)
		h.gone()
	})
}

// Whoever of campaign and trial is killed, no server and no data is left. A machine that goes down leaves what was
// written until then.
func TestKilledAroundServer(t *testing.T) {
	eachServer(t, "postgres", func(t *testing.T, engine string) {
		for _, who := range []string{"trial", "campaign", "both"} {
			t.Run(who, func(t *testing.T) {
				t.Parallel()
				h := newHost(t)
				c := h.serving(engine, inMemory)
				child := c.child()
				if who == "both" {
					send(t, c.cmd.Process, syscall.SIGSTOP) // so that neither outlives the other
				}
				if who != "campaign" {
					send(t, child, syscall.SIGKILL)
				}
				if who != "trial" {
					send(t, c.cmd.Process, syscall.SIGKILL)
				} else {
					c.during("out/trials/second.1", "qr100")
					send(t, c.cmd.Process, syscall.SIGINT)
				}
				c.end()
				wait(t, "the trial has ended", func() bool { return !alive(child) })
				if who == "both" { // nobody is left to remove the data; the next run does
					wait(t, "no server runs", func() bool { return len(h.servers("out")) == 0 })
					const reason = "it was killed, or the machine went down"
					h.checkPartial("out/trials/first.1", result.Partial, reason)
					expect.True(t, h.exists("out/trials/first.1/data"), "who removed the data?")
					out, _ := h.run(0, "report", "out", "--out", "shown")
					h.contains("report", h.file("shown/report.md"), reason)
					h.contains("standard output", out, "shown/report.html")
					h.resume("600", "first.1", "second.1")
					h.removed("out/trials/first.1.partial1/data")
					h.checkPartial("out/trials/first.1.partial1", result.Partial, reason)
				}
				h.gone()
			})
		}
	})
}

// overcounted reports whether a number is missing because the kernel counts large folios
// as a whole.
func overcounted(s *result.Step, name string) bool {
	return name == metric.ProcessWriteKB && metric.Has(s.Warnings, remark.ImpossibleIO)
}

// A second Ctrl-C ends a trial whose server does not stop: no process of it is left, the lock is
// free, and the campaign goes on when asked to.
func TestSecondInterrupt(t *testing.T) {
	eachServer(t, "postgres", func(t *testing.T, engine string) {
		h := newHost(t)
		c := h.serving(engine, inMemory)
		child := c.child()
		for _, pid := range h.servers("out/trials/first.1") {
			expect.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		}
		wait(t, "the trial has ended", func() bool { // requests within a second count as one
			time.Sleep(100 * time.Millisecond)
			_ = c.cmd.Process.Signal(syscall.SIGINT)
			return !alive(child)
		})
		c.exits(1)
		if left := h.servers("out"); alive(child) || len(left) > 0 {
			t.Errorf("the trial lives: %v, and servers %v", alive(child), left)
		}
		if text := h.file("lock"); text != "" || h.locked() {
			t.Errorf("the lock is held: %v, and names %q", h.locked(), text)
		}
		h.contains("standard error", c.stderr.String(), "go on with it: rumbench run --resume out")
		h.resume("600", "first.1", "second.1")
		h.gone()
	})
}

// A trial on servers separates CPU of server and client, what the server
// wrote, and where it was read back.
func TestServerTrial(t *testing.T) {
	eachServer(t, "mysql", func(t *testing.T, engine string) {
		h := newHost(t)
		h.write("plan.yaml", planFor("{name: first, cache: 16MiB, engine: "+engine+"}"))
		h.run(0, "run", "plan.yaml", "--out", "out", "--set", "params.query_seconds=2")
		h.gone()
		tr := h.trial("out/trials/first.1")
		q := tr.Steps[2]
		for _, metric := range []string{"server_cpu_us", "client_cpu_us", "host_cpu_us", "cpu_accounted", "write_kb", "process_write_kb", "engine_write_kb", "server_memory_bytes", "db_bytes", "data_bytes", "space_amplification", "checkpoint_age_bytes"} {
			r := q.Find(metric, "", "")
			if r == nil {
				expect.True(t, overcounted(&q, metric), "no", metric)
				continue
			}
			expect.True(t, r.Value >= 0 && (r.Source != "" || metric == "host_cpu_us"), r)
		}
		if r := q.Find("server_cpu_us", "", ""); r != nil && (r.Value <= 0 || r.Source != "the server's processes") {
			t.Errorf("%+v", r)
		}
		expect.True(t, len(tr.Warnings) == 0, tr.Warnings)
		expect.True(t, tr.Versions.Value("server") != "", "versions", tr.Versions)
	})
}

// A disk that another process fills under a server: what failed, in the server's
// own words, and what can be done.
func TestFullDiskUnderServer(t *testing.T) {
	eachServer(t, "postgres", func(t *testing.T, engine string) {
		h := newHost(t)
		disk := h.mount("size=2600m,mode=0755")
		h.write("plan.yaml", planFor("{name: first, cache: 16MiB, engine: "+engine+"}"))
		h.replace("plan.yaml", "rows: 1k", "rows: 50M") // it is in the load until the disk is full
		h.replace("plan.yaml", "steps: [l.i0, l.x, qr100]", "steps: [l.i0]")
		fillTo(t, filepath.Join(disk, "ballast"), 1600<<20)
		// The size is refused before anything starts.
		_, talk := h.run(5, "run", "plan.yaml", "--out", "disk/out")
		h.contains("standard error", talk, "the disk under disk/out would fill", "hint: ")
		h.replace("plan.yaml", "rows: 50M", "rows: 200k")
		c := h.start("run", "plan.yaml", "--out", "disk/out", "--no-preflight", "--set", "params.load_batch=1")
		c.during("disk/out/trials/first.1", "l.i0")
		fill(t, filepath.Join(disk, "more"))
		code := c.end()
		tr := h.trial("disk/out/trials/first.1")
		expect.True(t, code == 1 && tr.Status == result.Failed && strings.Contains(tr.Hint, "the disk is full"),
			"exit code", code, tr.Status, tr.Reason, "hint", tr.Hint)
		h.removed("disk/out/trials/first.1/data")
	})
}

// A server that does not start with its settings, or takes too few clients, fails the
// preflight with its own words. Nothing is left, on a server that was attached to
// neither.
func TestPreflightOfServer(t *testing.T) {
	eachServer(t, "postgres", func(t *testing.T, engine string) {
		h, attached := newHost(t), newHost(t)
		refused, words := "{innodb_page_size: 5000}", "Invalid page size=5000"
		if engine == "postgres" {
			refused, words = "{shared_buffers: 900GB}", "FATAL:  could not map anonymous shared memory"
		}
		h.write("plan.yaml", planFor("{name: first, engine: "+engine+", options: "+refused+"}", "{name: second, engine: "+inMemory+"}"))
		out, talk := h.run(1, "run", "plan.yaml", "--out", "out")
		h.contains("standard error", talk, "preflight: 1 of 2 targets cannot run the plan", "\n  first: open "+engine+": ", words)
		expect.True(t, out == "" && !strings.Contains(talk, "[1/2]") && len(h.servers("out")) <= 0 && !h.exists("out/trials") && !h.exists("out/campaign.json"), talk)
		if engine == "postgres" {
			h.contains("the server's log", h.file("out/_preflight/first/server.log"), words)
		}

		c := h.serving(engine+", options: {max_connections: 60}", inMemory)
		attached.write("plan.yaml", fmt.Sprintf("workload: sysbench\nparams: {tests: [oltp_read_write], table_size: 100, write_seconds: 0.1, settle_floor: 0s}\n"+
			"calibrate: false\ntargets: [{engine: %s, schema: other, dsn: %q}]\n", engine, h.dsn(engine, "first.1")))
		_, talk = attached.run(1, "run", "plan.yaml", "--out", "out", "--set", "params.clients=70")
		attached.contains("standard error", talk, "open a session for each of 70 clients: at number ", "oo many c")
		_, talk = attached.run(0, "run", "plan.yaml", "--out", "out") // it finds no schema of that name
		attached.contains("standard error", talk, "preflight: "+engine+": 1 target ok in ", "complete in ")
		c.ends(syscall.SIGINT, 1)
		h.gone()
	})
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
	expect.NoError(t, syscall.Statfs(filepath.Dir(path), &st))
	f := expect.Value(os.Create(path))(t)
	defer f.Close()
	expect.NoError(t, syscall.Fallocate(int(f.Fd()), 0, 0, int64(st.Bavail)*st.Bsize-free))
}

// A server is watched live. The load of another program is recorded as a campaign: with what it costs the
// server, the program's exit code, and what was recorded of a load that was killed.
func TestRecording(t *testing.T) {
	eachServer(t, "mysql", func(t *testing.T, engine string) {
		h := newHost(t)
		c := h.serving(engine, inMemory)
		attach := "--attach=db=" + engine + ":" + h.dsn(engine, "first.1")
		out, talk := h.run(0, "stat", attach, "--interval", "200ms", "--count", "3", "--format", "jsonl", "--expr", `written = rate("engine.bytes_written")`)
		h.contains("standard output", out, `"name":"engine.bytes_written"`, `"name":"process.cpu_ns"`, `"name":"`+engine+`.`, `"name":"written"`)
		h.contains("standard error", talk, "its data is in ")

		record := func(code int, out, script string, args ...string) (stdout, stderr string) {
			t.Helper()
			return h.run(code, append([]string{"stat", attach, "--interval", "200ms", "--out", out, "--", "sh", "-c", script}, args...)...)
		}
		out, talk = record(0, "done", "echo the load; sleep 2")
		h.contains("standard output", out, "the load\n")
		h.contains("standard error", talk, "done/report.html", "server")
		done := h.trial("done/trials/db.1")
		step := done.Steps[0]
		op := step.Primary
		expect.True(t, done.Status == result.Complete && done.Engine == engine && done.Durability != result.Unknown && len(done.Settings) >= 10 && done.EngineVersion() != "", done)
		for _, name := range []string{"server_cpu_us", "cpu_us", "process_write_kb", "context_switches"} {
			expect.True(t, step.Find(name, "", op) != nil || overcounted(&step, name), "no", name, "per", op)
		}
		for _, name := range []string{"server_memory_bytes", "db_bytes", "duration_s"} {
			expect.True(t, step.Find(name, "", "") != nil, "no", name)
		}
		if rate := step.Find("ops_per_s", op, ""); rate == nil || rate.Value <= 0 || step.Find("service_p50_us", "", "") != nil || len(step.Counters) < 50 {
			t.Errorf("rate %+v, %d counters", rate, len(step.Counters))
		}
		h.contains("report", h.file("done/report.md"), "Latency was not measured", "load: sh -c echo the load; sleep 2")
		_, talk = record(1, "done", "true")
		h.contains("standard error", talk, "exists and is not empty")

		record(7, "failed", "sleep 1; exit 7")
		if failed := h.trial("failed/trials/db.1"); failed.Status != result.Failed || failed.Steps[0].Find("ops_per_s", op, "") == nil {
			t.Errorf("%s: %s", failed.Status, failed.Reason)
		}
		record(137, "killed", "sleep 1; kill -9 $$")
		if killed := h.trial("killed/trials/db.1"); killed.Status != result.Partial || killed.Steps[0].Status != result.Partial {
			t.Errorf("%s: %s", killed.Status, killed.Reason)
		}

		record(0, "secret", "sleep 0.3", "sh", "--mysql-password=geheim wort", "--pass", "geheim", "-p", "geheim", "me:geheim",
			"--token=geheim", "u@geheim@host")
		if engine == "mysql" { // whose driver sets what it does not know, so that the server quotes it
			_, talk := h.run(1, "stat", attach+"?password=geheim", "--out", "quoted", "--", "true")
			h.contains("standard error", talk, "***")
			noSecret(t, "standard error", talk)
		}
		for path, text := range expect.Value(snapshot(h.path("secret")))(t) {
			noSecret(t, path, text)
		}

		log := expect.Read(t, "../importer/testdata/sysbench/mysql-5.5.9/sb.o.read-write.range100.pk1.dop2")
		expect.Write(t, h.path("sysbench"), "#!/bin/sh\nsleep 1\ncat <<'END'\n"+log+"END\n", 0o755)
		h.run(0, "stat", attach, "--interval", "200ms", "--out", "timed", "--", h.path("sysbench"))
		if p99 := h.trial("timed/trials/db.1").Steps[0].Find("service_p99_us", "transaction", ""); p99 == nil || p99.Source != "the output of sysbench 1.0.20" {
			t.Errorf("%+v", p99)
		}

		r := h.start("stat", attach, "--interval", "200ms", "--out", "lost")
		r.during("lost/trials/db.1", "load")
		r.ends(syscall.SIGKILL, -1)
		lost := h.trial("lost/trials/db.1")
		expect.True(t, lost.Status == result.Partial && lost.Steps[0].Find("ops_per_s", op, "") != nil && lost.Steps[0].Find("errors", "", "") == nil, lost)
		h.run(0, "report", "lost")
		r = h.start("stat", attach, "--interval", "200ms", "--out", "stopped")
		r.during("stopped/trials/db.1", "load")
		if r.ends(syscall.SIGINT, 0); h.trial("stopped/trials/db.1").Status != result.Complete {
			t.Error("what was interrupted is not complete")
		}
		record(0, "again", "sleep 1")
		out, _ = h.run(0, "compare", "done", "again")
		h.contains("comparison", out, "rows_per_s "+op, "cpu_us per "+op)
		c.ends(syscall.SIGINT, 1)
		h.gone()
	})
}
