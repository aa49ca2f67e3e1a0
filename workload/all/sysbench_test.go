package all_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
	"rumbench/workload"
)

// The original's tables are compared with ours, and its statements.
const (
	sbTables = 2
	sbSize   = 20_000
)

// original is a server that logs all statements, and the real sysbench.
type original struct {
	t      *testing.T
	server *server.Server
	dsn    string
	log    string
}

func startOriginal(t *testing.T) *original {
	t.Helper()
	_, err := exec.LookPath("sysbench")
	need.Installed(t, err)
	e, _ := catalog.Plugins{}.Engine("mysql")
	if !usable(t, e) {
		t.Skip("MariaDB is not installed")
	}
	o := &original{}
	o.server, o.dsn = startServer(t, e, server.Setting{Name: "general_log", Value: "1"}, server.Setting{Name: "general_log_file", Value: "general.log"})
	o.log = filepath.Join(o.server.DataDir(), "general.log")
	return o
}

// TestSysbench compares with the original, on one server.
func TestSysbench(t *testing.T) {
	o := startOriginal(t)
	run := func(name string, f func(*testing.T, *original)) {
		t.Run(name, func(t *testing.T) {
			own := *o
			own.t = t
			own.query("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest")
			f(t, &own)
		})
	}
	run("statements", testStatements)
	run("selects", testSelects)
	run("tables", testTables)
	run("rollback after timeout", testRollback)
}

// query asks the server by its own client and returns what it prints.
func (o *original) query(text string) string {
	o.t.Helper()
	out, err := exec.Command("mariadb", "--no-defaults", "-S", o.server.Endpoint().Socket, "-u", o.server.Endpoint().User, "-N", "-e", text).CombinedOutput()
	if err != nil {
		o.t.Fatalf("%s: %v: %s", text, err, out)
	}
	return strings.TrimSpace(string(out))
}

// sysbench runs the original.
func (o *original) sysbench(distribution, script string, more ...string) {
	o.t.Helper()
	at := o.server.Endpoint()
	args := append([]string{"--db-driver=mysql", "--mysql-socket=" + at.Socket, "--mysql-user=" + at.User, "--mysql-db=sbtest", "--threads=1",
		"--rand-type=" + distribution, fmt.Sprint("--table-size=", sbSize), script}, more...)
	if out, err := exec.Command("sysbench", args...).CombinedOutput(); err != nil {
		o.t.Fatalf("sysbench %v: %v: %s", args, err, out)
	}
}

// logged returns the statements that were executed during f.
func (o *original) logged(f func()) (out []string) {
	o.t.Helper()
	before := o.size()
	f()
	all, err := os.ReadFile(o.log)
	expect.NoError(o.t, err)
	var entries []string // a statement of several lines goes on in the next
	for line := range strings.Lines(string(all[before:])) {
		if entry.MatchString(line) || len(entries) == 0 {
			entries = append(entries, line)
		} else {
			entries[len(entries)-1] += line
		}
	}
	for _, e := range entries {
		if m := executed.FindStringSubmatch(spaces.ReplaceAllString(strings.TrimSpace(e), " ")); m != nil {
			out = append(out, plain(m[1]))
		}
	}
	return out
}

// entry is how an entry of the general log begins.
var entry = regexp.MustCompile(`^(?:\d{6} +[\d:]+)?\t+ *\d+ [A-Z]`)

func (o *original) size() int64 {
	info, err := os.Stat(o.log)
	expect.NoError(o.t, err)
	return info.Size()
}

// executed finds the statements of clients in the general log, be they
// prepared or text.
var executed = regexp.MustCompile(`^(?:\d{6} [\d:]+ )?\d+ (?:Execute|Query) ((?:BEGIN|COMMIT|ROLLBACK|SELECT|UPDATE|DELETE|INSERT)\b.*)$`)

var (
	spaces  = regexp.MustCompile(`\s+`)
	around  = regexp.MustCompile(`\s*([=,()+])\s*`)
	texts   = regexp.MustCompile(`'[^']*'`)
	numbers = regexp.MustCompile(`-?\b\d+\b`)
	tableNo = regexp.MustCompile(`sbtest(\d+)`)
)

// plain writes a statement without quotes around names, the schema before them, which
// ours name, and with one way to set blanks.
func plain(s string) string {
	s = strings.ReplaceAll(s, "`"+engine.DefaultSchema+"`.", "")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "`", ""), "count(", "COUNT(")
	return strings.TrimSpace(around.ReplaceAllString(spaces.ReplaceAllString(s, " "), "$1"))
}

// shape is a statement without its values; the one of "k = k + 1" stays.
func shape(s string) string {
	s = strings.ReplaceAll(s, "k=k+1", "k=k+ONE")
	s = texts.ReplaceAllString(s, "?")
	s = tableNo.ReplaceAllString(s, "sbtestN")
	return numbers.ReplaceAllString(s, "?")
}

func shapes(list []string) (out []string) {
	for _, s := range list {
		out = append(out, shape(s))
	}
	return out
}

// ours is the workload on a schema of its own on the same server.
type ours struct {
	t  *testing.T
	db engine.DB
}

func (o *original) attach(schema model.Schema) *ours {
	o.t.Helper()
	db := openConfig(o.t, "mysql", engine.Config{Durability: model.DurabilityOS, Schema: schema, Server: engine.ServerConfig{DSN: o.dsn, Force: true}})
	return &ours{o.t, db}
}

// step performs so many events of a step's only group by one client; watch is
// called with a function that performs one.
func (u *ours) step(s *workload.Step, watch func(event func() error)) {
	u.t.Helper()
	ctx := u.t.Context()
	if s.Creates {
		expect.NoError(u.t, u.db.CreateTables(ctx))
	}
	stage, err := s.Open(ctx, workload.Env{DB: u.db, Seed: 3, Results: true})
	expect.NoError(u.t, err)
	var clients []workload.Client
	for i := range s.Groups[0].Clients {
		session, err := u.db.Session(ctx)
		expect.NoError(u.t, err)
		defer session.Close()
		c, err := stage.Client(ctx, workload.Seat{Client: i, Session: session})
		expect.NoError(u.t, err)
		clients = append(clients, c)
	}
	for _, c := range clients {
		watch(func() error {
			if r, ok := c.(workload.Readier); ok {
				expect.NoError(u.t, r.Ready(ctx))
			}
			return c.Do(ctx, &workload.Outcome{})
		})
	}
}

// all performs all events of a step.
func (u *ours) all(s *workload.Step) {
	u.t.Helper()
	u.step(s, func(event func() error) {
		for range s.Groups[0].Work {
			if err := event(); err == workload.ErrDone {
				return
			} else if err != nil {
				u.t.Fatal(err)
			}
		}
	})
}

// event returns the statements of one event of a step of ours.
func (o *original) event(u *ours, step *workload.Step) (statements []string) {
	o.t.Helper()
	u.step(step, func(event func() error) {
		statements = o.logged(func() { expect.NoError(o.t, event()) })
	})
	return statements
}

func sysbenchRun(t *testing.T, given map[string]any) workload.Run {
	t.Helper()
	w, _ := catalog.Plugins{}.Workload("sysbench")
	return runOf(t, w, given)
}

// runOf returns a workload with parameters.
func runOf(t *testing.T, w workload.Workload, given map[string]any) workload.Run {
	t.Helper()
	p, err := w.Info().Resolve("", given)
	expect.NoError(t, err)
	r, err := w.New(p)
	expect.NoError(t, err)
	return r
}

var scripts = []string{
	"oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index", "oltp_insert", "oltp_delete",
}

// testStatements: the server's log of one event of each test is
// the same for the original and for ours but for the values, and these keep
// the same rules.
func testStatements(t *testing.T, o *original) {
	o.sysbench("uniform", "oltp_read_write", "prepare", fmt.Sprint("--tables=", sbTables))
	r := sysbenchRun(t, map[string]any{"tests": scripts, "tables": []int64{sbTables}, "table_size": int64(sbSize)})
	steps := r.Steps()
	u := o.attach(r.Schema())
	u.all(&steps[0])
	u.all(&steps[1])
	for i, script := range scripts {
		step := &steps[3+i]
		expect.Must(t, step.Name == script, "step", i, "is", step.Name, "want", script)
		const events = 3
		for e := range events {
			theirs := o.logged(func() {
				o.sysbench("uniform", script, "run", "--events=1", "--time=100", fmt.Sprint("--tables=", sbTables))
			})
			mine := o.event(u, step)
			// The one difference: where the server numbers the rows the original
			// gives 0 for the number, and ours gives none.
			for i := range theirs {
				if script == "oltp_insert" {
					theirs[i] = strings.Replace(strings.Replace(theirs[i], "(id,k,", "(k,", 1), "VALUES(0,", "VALUES(", 1)
				}
			}
			a, b := strings.Join(shapes(theirs), "\n"), strings.Join(shapes(mine), "\n")
			expect.Must(t, a == b, script, "--- sysbench", a, "--- rumbench", b)
			checkValues(t, script+" of sysbench", theirs)
			checkValues(t, script+" of rumbench", mine)
			if e == 0 {
				t.Logf("%s: %d statements, such as %.120q", script, len(mine), mine[len(mine)/2])
			}
		}
	}
}

// testSelects is the same for the tests that have one table.
func testSelects(t *testing.T, o *original) {
	o.sysbench("uniform", "oltp_read_write", "prepare", "--tables=1")
	selects := []string{"select_random_points", "select_random_ranges"}
	r := sysbenchRun(t, map[string]any{"tests": selects, "table_size": int64(sbSize)})
	steps := r.Steps()
	u := o.attach(r.Schema())
	u.all(&steps[0])
	u.all(&steps[1])
	for i, script := range selects {
		theirs := o.logged(func() { o.sysbench("uniform", script, "run", "--events=1", "--time=100", "--tables=1") })
		mine := o.event(u, &steps[3+i])
		a, b := strings.Join(shapes(theirs), "\n"), strings.Join(shapes(mine), "\n")
		expect.Must(t, a == b && len(mine) == 1, script, "--- sysbench", a, "--- rumbench", b)
		for _, list := range [][]string{theirs, mine} {
			values := numbers.FindAllString(strings.TrimPrefix(list[0], "SELECT"), -1)
			for i, v := range values {
				n, _ := strconv.Atoi(v)
				expect.True(t, n >= 0 && n <= sbSize+5, script, n, list[0])
				if start, _ := strconv.Atoi(values[max(i-1, 0)]); script == "select_random_ranges" && i%2 == 1 && n-start != 5 {
					t.Errorf("%s: a range from %d to %d: %s", script, start, n, list[0])
				}
			}
		}
	}
}

// testRollback: a transaction that waited for a lock too long is
// undone, whatever the server has undone itself, and comes again with the same
// keys. sysbench sends no ROLLBACK there: its next BEGIN commits what was done.
func testRollback(t *testing.T, o *original) {
	o.query("SET GLOBAL innodb_lock_wait_timeout = 1")
	r := sysbenchRun(t, map[string]any{"tests": []string{"oltp_write_only"}, "table_size": int64(5)})
	steps := r.Steps()
	u := o.attach(r.Schema())
	u.all(&steps[0])
	u.all(&steps[1])
	var held sync.WaitGroup
	begun := make(chan bool)
	held.Go(func() {
		close(begun)
		o.query("BEGIN; UPDATE " + engine.DefaultSchema + ".sbtest1 SET c = c; SELECT SLEEP(3)") // undone when the client leaves
	})
	defer held.Wait()
	<-begun
	for o.query("SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_rows_locked > 0") == "0" {
		time.Sleep(150 * time.Millisecond) // the server reads it anew when nobody has asked for a tenth of a second
	}
	var statements []string
	failures := 0
	u.step(&steps[3], func(event func() error) {
		statements = o.logged(func() {
			for event() != nil {
				if failures++; failures > 10 {
					t.Fatal("the transaction never succeeds")
				}
			}
		})
	})
	expect.Must(t, failures != 0, "nothing failed: the test has lost its point")
	var tries [][]string
	for _, s := range statements {
		if s == "BEGIN" {
			tries = append(tries, nil)
		}
		if strings.Contains(s, "SLEEP") || strings.Contains(s, "SET c=c") || strings.Contains(s, "INNODB_TRX") || len(tries) == 0 {
			continue // of the one who holds the lock
		}
		tries[len(tries)-1] = append(tries[len(tries)-1], s)
	}
	expect.Must(t, len(tries) == failures+1, failures, "failures in", statements)
	last := tries[failures]
	expect.True(t, len(last) == 6 && last[5] == "COMMIT", "the last try is", last)
	for _, try := range tries[:failures] {
		n := len(try) - 1
		expect.True(t, try[n] == "ROLLBACK", try[n])
		for i := range n {
			expect.True(t, try[i] == last[i], try[i], last[i])
		}
	}
}

// checkValues holds the values of an event against the rules of sysbench.
func checkValues(t *testing.T, who string, statements []string) {
	t.Helper()
	var points, deleted string
	for _, s := range statements {
		table := tableNo.FindString(s)
		if m := tableNo.FindStringSubmatch(s); m != nil {
			if n, _ := strconv.Atoi(m[1]); n < 1 || n > sbTables {
				t.Errorf("%s: there is no table %s", who, table)
			}
		}
		for _, text := range texts.FindAllString(s, -1) {
			expect.True(t, regexp.MustCompile(`^'(\d{11}-){9}\d{11}'$|^'(\d{11}-){4}\d{11}'$`).MatchString(text),
				who, "text", text)
		}
		values := numbers.FindAllString(strings.ReplaceAll(tableNo.ReplaceAllString(texts.ReplaceAllString(s, ""), ""), "k=k+1", ""), -1)
		var ids []int
		for _, v := range values {
			n, _ := strconv.Atoi(v)
			ids = append(ids, n)
		}
		for i, n := range ids {
			expect.True(t, n >= 1 && (n <= sbSize || i != 0), who, n, "is not among the ids", s)
		}
		switch {
		case strings.Contains(s, " BETWEEN "):
			expect.True(t, len(ids) == 2 && ids[1]-ids[0] == 99, who, "range", ids, s)
		case strings.HasPrefix(s, "SELECT c "):
			if points == "" {
				points = table
			}
			expect.Equal(t, points, table, who, "the point selects are on", "and")
		case strings.HasPrefix(s, "DELETE "):
			deleted = table + " " + values[0]
		case strings.HasPrefix(s, "INSERT ") && deleted != "":
			expect.Equal(t, table+" "+values[0], deleted, who, "was deleted", "inserted")
		}
	}
}

// testTables: the tables have equal columns, and contents of the
// same statistics, also where k is not uniform.
func testTables(t *testing.T, o *original) {
	for i, distribution := range []struct{ theirs, ours string }{{"uniform", "uniform"}, {"special", "special-1.0"}, {"pareto", "pareto"}, {"gaussian", "gaussian-1.0"}} {
		t.Run(distribution.ours, func(t *testing.T) {
			if i > 1 {
				need.Long(t)
			}
			o.t = t
			o.query("DROP TABLE IF EXISTS sbtest.sbtest1")
			o.sysbench(distribution.theirs, "oltp_read_write", "prepare", "--tables=1")
			r := sysbenchRun(t, map[string]any{"table_size": int64(sbSize), "distribution": distribution.ours})
			steps := r.Steps()
			u := o.attach(r.Schema())
			u.all(&steps[0])
			u.all(&steps[1])
			theirs, mine := o.statistics("sbtest"), o.statistics(engine.DefaultSchema)
			for name, want := range theirs {
				if got := mine[name]; math.Abs(got-want) > allowed(name, got, want) {
					t.Errorf("%s: %v, in sysbench's table %v", name, got, want)
				}
			}
			t.Logf("sysbench %v", theirs)
			t.Logf("rumbench %v", mine)
		})
	}
}

// allowed is by how much two statistics of random tables may differ: numbers
// of rows by five standard deviations, moments by some percent, and what is
// not random not at all.
func allowed(name string, a, b float64) float64 {
	switch {
	case strings.HasPrefix(name, "k in "), name == "distinct k":
		return 5 * math.Sqrt(a+b)
	case strings.HasSuffix(name, " k"):
		return 0.06 * b
	}
	return 0
}

// statistics are figures of a table's contents, by name.
func (o *original) statistics(schema string) map[string]float64 {
	o.t.Helper()
	out := map[string]float64{}
	add := func(query string, names ...string) {
		o.t.Helper()
		values := strings.Fields(o.query("USE " + schema + "; " + query))
		if len(values) != len(names) {
			o.t.Fatalf("%s: %v", query, values)
		}
		for i, name := range names {
			v, err := strconv.ParseFloat(values[i], 64)
			expect.NoError(o.t, err)
			out[name] = v
		}
	}
	add("SELECT COUNT(*), MIN(id), MAX(id), COUNT(DISTINCT c), MIN(LENGTH(c)), MAX(LENGTH(c)), MIN(LENGTH(pad)), MAX(LENGTH(pad)) FROM sbtest1",
		"rows", "least id", "greatest id", "distinct c", "shortest c", "longest c", "shortest pad", "longest pad")
	add(`SELECT SUM(c REGEXP '^([0-9]{11}-){9}[0-9]{11}$'), SUM(pad REGEXP '^([0-9]{11}-){4}[0-9]{11}$') FROM sbtest1`, "c of the shape", "pad of the shape")
	add("SELECT AVG(k), STDDEV(k), COUNT(DISTINCT k), SUM(k BETWEEN 9900 AND 10100), SUM(k <= 4000) FROM sbtest1",
		"mean k", "deviation of all k", "distinct k", "k in the middle", "k in the lowest fifth")
	add("SELECT CHARACTER_MAXIMUM_LENGTH FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '"+schema+"' AND TABLE_NAME = 'sbtest1' AND COLUMN_NAME = 'c' AND DATA_TYPE = 'char'", "width of c")
	add("SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '"+schema+"' AND TABLE_NAME = 'sbtest1' AND DATA_TYPE = 'int'", "columns of type int")
	add("SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '"+schema+"' AND TABLE_NAME = 'sbtest1' AND COLUMN_NAME IN ('id', 'k') AND SEQ_IN_INDEX = 1", "indexes")
	return out
}
