package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
)

// secretDSNs hold a password that begins with "geheim", in every way that the
// drivers read. Nothing listens where they lead.
var secretDSNs = []struct{ engine, dsn string }{
	{"mysql", `bench:geheim@tcp(127.0.0.1:1)/`},
	{"mysql", `bench:geheim wort@tcp(127.0.0.1:1)/`},
	{"mysql", `bench:geheim"wort'x@tcp(127.0.0.1:1)/`},
	{"mysql", `bench:geheim,wort\x@tcp(127.0.0.1:1)/db?timeout=1s`},
	{"mysql", `bench:geheim@y/geheim@tcp(127.0.0.1:1)/`},
	{"postgres", `postgres://bench:geheim@127.0.0.1:1/db?sslmode=disable`},
	{"postgres", `postgres://bench@127.0.0.1:1/db?sslmode=disable&password=geheim`},
	{"postgres", `host=127.0.0.1 port=1 sslmode=disable user=bench password=geheim,wort dbname=db`},
	{"postgres", `host=127.0.0.1 port=1 sslmode=disable user=bench password = 'geheim \' wort' dbname=db`},
	{"tarantool", `bench:geheim@127.0.0.1:1`},
	{"tarantool", `bench@geheim@127.0.0.1:1`},
	{"mongodb", `mongodb://bench:geheim@127.0.0.1:1/?authSource=admin`},
}

// noSecret looks for the password in a text.
func noSecret(t *testing.T, subject, text string) {
	t.Helper()
	if at := strings.Index(strings.ToLower(text), "geheim"); at >= 0 {
		t.Errorf("%s has the password: …%s", subject, text[max(0, at-80):min(len(text), at+40)])
	}
}

// What a campaign leaves that others can read holds no password, nor do the
// pages made of it; only the file of secrets does, which its owner alone reads.
func TestNoPasswordIsStored(t *testing.T) {
	need.Setup(t)
	h := newHost(t)
	t.Setenv("BENCH_DSN", `bench:geheim@tcp(127.0.0.1:1)/`)
	h.write("pg.dsn", "postgres://bench:geheim@127.0.0.1:1/\n")
	p := "workload: ibench\nparams: {rows: 2k, steps: [l.i0]}\ncalibrate: false\ncommon: {durability: os}\n# an old one: bench:geheim@tcp(old)/\ntargets:\n"
	for i, d := range secretDSNs {
		p += fmt.Sprintf("  - {name: t%d, engine: %s, dsn: %q}\n", i, d.engine, d.dsn)
	}
	p += "  - {name: env, engine: mysql, dsn: '${BENCH_DSN}'}\n  - {name: file, engine: postgres, dsn_file: pg.dsn}\n  - {name: set, engine: mysql}\n"
	h.write("plan.yaml", p)
	out, talk := h.run(1, "run", "plan.yaml", "--out", "out", "--no-preflight", "--keep-going", "--set", "targets.set.dsn="+secretDSNs[1].dsn)
	_, again := h.run(1, "run", "--resume", "out")
	h.contains("the talk of a resumed campaign", again, "127.0.0.1:1")
	shown, _ := h.run(0, "show", "out")
	for subject, text := range map[string]string{"standard output": out, "standard error": talk, "a resumed campaign": again, "show": shown} {
		noSecret(t, subject, text)
	}
	h.run(0, "report", "out", "--out", "page")
	h.run(0, "report", "out", "--out", "redacted", "--redact")
	h.contains("plan.yaml", h.file("out/plan.yaml"), "dsn: \"${RUMBENCH_DSN_1}\"", "dsn: \"${BENCH_DSN}\"", "/pg.dsn")
	kept := 0
	for _, dir := range []string{"out", "page", "redacted"} {
		for path, text := range expect.Value(snapshot(h.path(dir)))(t) {
			info := expect.Value(os.Stat(h.path(dir, path)))(t)
			if filepath.Base(path) == "secrets.env" && info.Mode().Perm() == 0o600 {
				kept++
				continue
			}
			noSecret(t, path, text)
		}
	}
	expect.Equal(t, kept, 1, "files of secrets that only their owner can read")
}

// A data source name that cannot be used is not shown, wherever it stands.
func TestNoPasswordInPlanErrors(t *testing.T) {
	h := newHost(t)
	check := func(targets string, args ...string) {
		t.Helper()
		h.write("plan.yaml", "workload: ibench\n"+targets+"\n")
		out, talk, code := rumbench(t, append([]string{"run", h.path("plan.yaml"), "--out", h.path("out")}, args...)...)
		if noSecret(t, fmt.Sprint(targets, args), out+talk); code != 2 {
			t.Errorf("%s %v: exit code %d", targets, args, code)
		}
	}
	for _, targets := range []string{
		`targets: [{engine: mysql, dsn: "bench:geheim@tcp(127.0.0.1:1"}]`,
		`targets: [{engine: mysql, dsn: "bench:geheim@127.0.0.1/"}]`,
		`targets: [{engine: mysql, dsn: "bench:geheim@tcp(h)/?loc=geheim"}]`,
		`targets: [{engine: mysql, dsn: "geheim@geheim(h)/", cash: 1GiB}]`,
		`targets: [{engine: postgres, dsn: "postgres://bench:ge heim@geheim/"}]`,
		`targets: [{engine: postgres, dsn: "host=h user=me password='geheim"}]`,
		`targets: [{engine: postgres, dns: "host=h user=me password=geheim"}]`,
		`targets: ["mysql:bench:geheim@tcp(h)/"]`,
		`targets: [{engine: "bench:geheim@tcp(h)/"}]`,
		`targets: [{engine: mysql, dsn: "bench:geheim@tcp(h)/]`,
		"targets:\n  - engine: mysql\n    dsn: bench:word\n      geheim@tcp(h\n",
		"targets:\n  - engine: mysql\n    dsn:\n\t  geheim\n",
		"targets:\n  - engine: mysql\n    dsn: [geheim]\n",
		"targets:\n  - engine: mysql\n    dsn: a${NO_SUCH_geheim}\n",
		`dsn: geheim` + "\n" + `targets: [pebble]`,
	} {
		check(targets)
	}
	for _, set := range []string{
		"targets.a.dsn=bench:geheim@tcp(h", "targets.b.dsn=host=h password=geheim wort", "targets.c.dsn=bench:geheim@tcp(h)/",
		"targets=[{engine: mysql, dsn: 'bench:geheim@tcp(h'}]", "targets=[{engine: mysql, dsn: bench:geheim@tcp(h)/",
	} {
		check("targets: [{name: a, engine: mysql}, {name: b, engine: postgres}]", "--set", set)
	}
}

// A data source name in the place of another argument is not quoted.
func TestNoPasswordInWrongCalls(t *testing.T) {
	h := newHost(t)
	for command, code := range map[string]int{"run": 2, "show": 1, "report": 1, "import": 1} {
		out, talk := h.run(code, command, "postgres://me:geheim@h/x")
		noSecret(t, command, out+talk)
	}
}
