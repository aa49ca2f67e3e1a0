package cli_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/mysql/mysqlwire"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/need"
	"rumbench/internal/plan"
	"rumbench/internal/server"
	"rumbench/model"
)

// planted is a server with tables of a user's, which have the names of all tables that
// rumbench uses.
type planted struct {
	*testing.T
	engine string
	owner  *sqlkit.Admin
	dsns   []string // ways to the server
	homes  []string // the schemas that the user's tables are in
	names  []string
}

// runsWithKills is how many runs are killed: a few, or as many as RUMBENCH_KILLS says (make
// planted).
func runsWithKills(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("RUMBENCH_KILLS"))
	if err != nil {
		n = 5
	}
	return n
}

// Whatever happens to a run on a server that is attached to, and with --force, directly,
// through a proxy and through a pooler: nothing of the user's is changed.
func TestNothingOfTheUsersIsTouched(t *testing.T) {
	t.Parallel()
	for _, name := range serverEngines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plant(t, name)
			before := p.content()
			draw := rand.New(rand.NewPCG(1, 2))
			h := newHost(t)
			for i := range runsWithKills(t) {
				schema, force, ofTrial := []string{"", ", schema: " + p.homes[0]}[i%3/2], i%2 == 1, draw.IntN(2) == 0
				h.write("plan.yaml", fmt.Sprintf(plantedPlan, name, p.dsns[i%len(p.dsns)], schema))
				args := []string{"run", "plan.yaml", "--out", fmt.Sprint("out", i)}
				if force {
					args = append(args, "--force")
				}
				c := h.start(args...)
				killed := time.AfterFunc(time.Duration(draw.Int64N(int64(6*time.Second))), func() {
					if child := childOf(c.cmd.Process.Pid); child != 0 && ofTrial {
						_ = syscall.Kill(child, syscall.SIGKILL)
					} else {
						_ = c.cmd.Process.Kill()
					}
				})
				c.end()
				killed.Stop()
				if after := p.content(); !maps.Equal(before, after) {
					t.Fatalf("run %d, %q: before\n%v\nafter\n%v\n%s", i, args, before, after, c.stderr)
				}
			}
			// What the killed runs have left is replaced, and removed in the end.
			h.write("plan.yaml", fmt.Sprintf(plantedPlan, name, p.dsns[0], ""))
			h.run(0, "run", "plan.yaml", "--out", "last", "--force")
			if after := p.content(); !maps.Equal(before, after) {
				t.Errorf("before\n%v\nafter\n%v", before, after)
			}
			if left := p.tables("rumbench"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

const plantedPlan = `
workload: sysbench
params: {tests: [oltp_read_write], clients: [2], tables: 2, table_size: 500, write_seconds: 1, settle_floor: 0s}
calibrate: false
targets: [{engine: %s, dsn: %q%s, durability: process}]
`

// plant starts a server and makes the user's tables.
func plant(t *testing.T, name string) *planted {
	t.Helper()
	p := &planted{T: t, engine: name, homes: []string{"mine", "public"}, names: tableNames(t)}
	e, _ := catalog.Plugins{}.Engine(name)
	c := engine.Config{Durability: model.DurabilityProcess, Dir: need.TempDir(t), Schema: model.Schema{}}
	if name == "mysql" {
		c.Options, p.homes = map[string]any{"innodb_log_file_size": "16M"}, []string{"mine", "test"}
	}
	db, err := e.Open(t.Context(), c)
	must(t, err)
	t.Cleanup(func() { enginetest.Discard(db) })
	must(t, db.CreateTables(t.Context()))
	at := db.(interface{ Endpoint() server.Endpoint }).Endpoint()
	p.connect(enginetest.DSN(e, at))
	p.dsns = []string{enginetest.DSN(e, at)}
	proxy := enginetest.HAProxy(t, at, "4s")
	if name == "mysql" {
		p.dsns = append(p.dsns, fmt.Sprintf("root@tcp(127.0.0.1:%d)/", proxy))
	} else {
		p.dsns = append(p.dsns, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", proxy))
		for _, mode := range []string{"session", "transaction"} {
			port := enginetest.PgBouncer(t, at, mode, "ignore_startup_parameters = search_path,extra_float_digits")
			p.dsns = append(p.dsns, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", port))
		}
	}
	for _, home := range p.homes {
		p.exec("CREATE SCHEMA IF NOT EXISTS " + home)
		for _, table := range p.names {
			table = `"` + table + `"`
			p.exec("CREATE TABLE " + home + "." + table + " (id int, precious varchar(20))")
			p.exec("INSERT INTO " + home + "." + table + " VALUES (1, 'mine'), (2, 'also mine')")
		}
	}
	p.exec("DROP SCHEMA rumbench") // the private database's own, which is empty
	return p
}

// tableNames are the names of the tables of all workloads.
func tableNames(t *testing.T) (names []string) {
	t.Helper()
	for _, w := range (catalog.Plugins{}).WorkloadNames() {
		src := "workload: " + w + "\ntargets: [{engine: memory, durability: none}]\n"
		p, err := plan.Load("test.yaml", []byte(src), nil, catalog.Plugins{})
		if err != nil {
			t.Logf("%s: %v", w, err)
			continue
		}
		for _, table := range p.Run.Schema().Tables {
			if !slices.Contains(names, table.Name) {
				names = append(names, table.Name)
			}
		}
	}
	for _, name := range []string{"sbtest1", "sbtest2"} {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// connect connects as the owner.
func (p *planted) connect(dsn string) {
	p.Helper()
	dial := serverkit.NewHost("").Dial
	var c serverkit.Connector
	var err error
	if p.engine == "mysql" {
		var config *mysqlwire.Config
		config, err = mysqlwire.ParseDSN(dsn)
		must(p.T, err)
		c, err = mysqlwire.NewConnector(config, dial)
	} else {
		c, err = pgwire.ParseDSN(dsn, dial)
	}
	must(p.T, err)
	p.owner, err = sqlkit.Connect(p.Context(), c.Connect, &sqlkit.Dialect{Classify: func(err error) error { return err }})
	must(p.T, err)
	p.Cleanup(func() { must(p.T, p.owner.Close()) })
	if p.engine == "mysql" {
		p.exec("SET SESSION sql_mode = 'ANSI_QUOTES'")
	}
}

func (p *planted) exec(text string) {
	p.Helper()
	must(p.T, p.owner.Exec(p.Context(), text))
}

// tables lists the tables of a schema.
func (p *planted) tables(schema string) []string {
	p.Helper()
	names, err := p.owner.Lines(p.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+schema+"'")
	must(p.T, err)
	return names
}

// content is what the user's tables hold, by schema and table, and how they are defined.
func (p *planted) content() map[string]string {
	p.Helper()
	out := map[string]string{}
	for _, home := range p.homes {
		for _, table := range p.tables(home) {
			rows, err := p.owner.Lines(p.Context(), "SELECT concat(id, precious) FROM "+home+`."`+table+`" ORDER BY id`)
			must(p.T, err)
			columns, err := p.owner.Lines(p.Context(), "SELECT concat(column_name, data_type) FROM information_schema.columns WHERE table_schema = '"+
				home+"' AND table_name = '"+table+"' ORDER BY ordinal_position")
			must(p.T, err)
			out[home+"."+table] = strings.Join(append(rows, columns...), " ")
		}
	}
	if len(out) != len(p.homes)*len(p.names) {
		must(p.T, errors.New("tables are gone or new: "+fmt.Sprint(out)))
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
