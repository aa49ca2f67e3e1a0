package cli_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/mysql/mysqlwire"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/engine/tarantool/iproto"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/plan"
	"rumbench/internal/server"
	"rumbench/model"
)

// planted is a server with a user's tables, which have the names of all tables that rumbench uses.
type planted struct {
	owner
	params     string // of the workload
	durability model.Durability
	dsns       []string // ways to the server
	home       string   // a schema that the user's tables are in
}

// owner is the user whose tables they are, in some homes.
type owner struct {
	homes []string
	make  func(home string, names []string)
	// tables lists the tables in a schema.
	tables func(schema string) []string
	// read returns what a table holds, and how it is defined.
	read func(home, table string) string
}

func (o *owner) plant(home string, names []string) {
	o.make(home, names)
	o.homes = append(o.homes, home)
}

// content is what the user's tables in all homes hold.
func (o *owner) content() map[string]string {
	out := map[string]string{}
	for _, home := range o.homes {
		for _, table := range o.tables(home) {
			out[home+"."+table] = o.read(home, table)
		}
	}
	return out
}

// runsWithKills is how many runs are killed: a few, or as many as RUMBENCH_KILLS says (make
// planted).
func runsWithKills() int {
	if n, err := strconv.Atoi(os.Getenv("RUMBENCH_KILLS")); err == nil {
		return n
	}
	if !need.IsLong() {
		return 2
	}
	return 5
}

// Whatever happens to a run on a server that is attached to, and with --force, directly,
// through a proxy and through a pooler: nothing of the user's is changed.
func TestNothingOfTheUsersIsTouched(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mysql", "postgres", "tarantool", "mongodb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" || name == "mongodb" {
				need.Long(t)
			}
			p := plant(t, name)
			before := p.content()
			unchanged := func(run string) {
				t.Helper()
				if after := p.content(); !maps.Equal(before, after) {
					t.Fatalf("%s: before\n%v\nafter\n%v", run, before, after)
				}
			}
			draw := rand.New(rand.NewPCG(1, 2))
			h := newHost(t)
			outcomes := map[string]int{}
			for i := range runsWithKills() {
				schema, force, ofTrial := []string{"", ", schema: " + p.home}[i%2], i%3 > 0, draw.IntN(2) == 0
				h.write("plan.yaml", p.plan(name, p.dsns[i%len(p.dsns)], schema))
				args := []string{"run", "plan.yaml", "--out", fmt.Sprint("out", i)}
				if force {
					args = append(args, "--force")
				}
				c, killed := h.start(args...), ""
				killer := time.AfterFunc(time.Duration(draw.Int64N(int64(6*time.Second))), func() {
					if child := childOf(c.cmd.Process.Pid, ""); child != 0 && ofTrial {
						_ = syscall.Kill(child, syscall.SIGKILL)
						killed = "trial killed, "
					} else {
						_ = c.cmd.Process.Kill()
					}
				})
				code := c.end()
				if !killer.Stop() { // it has run
					killed = cmp.Or(killed, "killed, ")
				}
				outcomes[fmt.Sprintf("%sexit %d", killed, code)]++
				unchanged(fmt.Sprintf("run %d, %q: %s", i, args, c.stderr))
			}
			t.Logf("%s: %v, over %d ways", name, outcomes, len(p.dsns))
			// What the killed runs have left is replaced, and removed in the end.
			h.write("plan.yaml", p.plan(name, p.dsns[0], ""))
			wait(t, "no trial holds the lock", func() bool { return !h.locked() })
			h.run(0, "run", "plan.yaml", "--out", "last", "--force")
			unchanged("the last run")
			if left := p.tables("rumbench"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			// A user's tables in a schema of our name are the user's.
			p.plant("rumbench", p.tables(p.home))
			before = p.content()
			for _, force := range [][]string{nil, {"--force"}} {
				h.run(1, append([]string{"run", "plan.yaml", "--out", fmt.Sprint("own", len(force))}, force...)...)
				unchanged(fmt.Sprint("in a schema of our name ", force))
			}
		})
	}
}

// Clients whose connections a proxy ends because they are idle go on with others, and the result says so.
func TestIdleConnections(t *testing.T) {
	need.Long(t)
	for _, name := range []string{"mysql", "postgres", "tarantool", "mongodb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, h := plant(t, name), newHost(t)
			idle := strings.Replace(p.plan(name, p.dsns[1], ""), "write_seconds: 0.5,", "write_seconds: 11,", 1)
			h.write("plan.yaml", idle+"rate: {at: 0.2, arrivals: even}\n")
			h.run(0, "run", "plan.yaml", "--out", "idle", "--no-preflight")
			h.contains("the result", h.file("idle/trials/"+name+".1/trial.json"), `"sessions_renewed"`)
		})
	}
}

func (p *planted) plan(engine, dsn, schema string) string {
	return fmt.Sprintf(`
workload: sysbench
params: {%s, tables: 2, write_seconds: 0.5, settle_floor: 0s}
calibrate: false
targets: [{engine: %s, dsn: %q%s, durability: %s}]
`, p.params, engine, dsn, schema, p.durability)
}

// plant starts a server and makes the user's tables.
func plant(t *testing.T, name string) *planted {
	t.Helper()
	p := &planted{durability: model.DurabilityProcess, params: "tests: [oltp_read_write], clients: [2], table_size: 200", home: "mine"}
	e, _ := catalog.Plugins{}.Engine(name)
	if kind := e.Info().Servers[0]; name != "mongodb" {
		_, err := server.Find(t.Context(), kind, server.Source{})
		need.Installed(t, err)
	}
	spare := model.Table{Name: "spare", Columns: []model.Column{{Name: "id", Type: model.Int}}, Key: []string{"id"}}
	c := engine.Config{Dir: need.TempDir(t), Schema: model.Schema{Tables: []model.Table{spare}}}
	c.Server.Schema = "private"
	second, byProxy := "public", "postgres://postgres@127.0.0.1:%d/postgres"
	switch name {
	case "mysql":
		c.Options, second, byProxy = map[string]any{"innodb_log_file_size": "16M"}, "test", "root@tcp(127.0.0.1:%d)/"
	case "tarantool":
		p.params, second, byProxy = "tests: [update-index], clients: [2], table_size: 100", "", "127.0.0.1:%d"
	case "mongodb":
		// FerretDB loses concurrent updates.
		p.params, second, byProxy = "tests: [update-index], clients: [1], table_size: 20", "test", "mongodb://127.0.0.1:%d/"
		p.durability, c.Server.Binary = model.DurabilityOS, ferretDB
		_, err := os.Stat(ferretDB)
		need.Installed(t, err)
	}
	c.Durability = p.durability
	db := expect.Value(e.Open(t.Context(), c))(t)
	t.Cleanup(func() { enginetest.Discard(db) })
	at := db.(interface{ Endpoint() server.Endpoint }).Endpoint()
	p.dsns = []string{enginetest.DSN(e, at), fmt.Sprintf(byProxy, enginetest.HAProxy(t, at, "4s"))}
	switch name {
	case "tarantool":
		p.owner = luaOwner(t, at)
	case "mongodb":
		p.owner = documentOwner(t, p.dsns[1])
	case "postgres":
		for _, mode := range []string{"session", "transaction", "statement"} {
			port := enginetest.PgBouncer(t, at, mode, "ignore_startup_parameters = search_path,extra_float_digits")
			p.dsns = append(p.dsns, fmt.Sprintf(byProxy, port))
		}
		fallthrough
	default:
		p.owner = sqlOwner(t, name, p.dsns[0])
	}
	names := tableNames(t)
	p.plant(p.home, names)
	p.plant(second, names)
	return p
}

// tableNames are the names of the tables of all workloads.
func tableNames(t *testing.T) []string {
	names := map[string]bool{"sbtest1": true, "sbtest2": true}
	for _, w := range (catalog.Plugins{}).WorkloadNames() {
		src := "workload: " + w + "\ntargets: [{engine: memory, durability: none}]\n"
		p, err := plan.Load("test.yaml", []byte(src), nil, catalog.Plugins{})
		if err != nil {
			t.Logf("%s: %v", w, err)
			continue
		}
		for _, table := range p.Run.Schema().Tables {
			names[table.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// sqlOwner is the user of a SQL server, who also has a view of a name that rumbench uses, and a table whose name
// differs in case.
func sqlOwner(t *testing.T, name, dsn string) owner {
	t.Helper()
	dial := serverkit.NewHost("").Dial
	var c serverkit.Connector
	var err error
	if name == "mysql" {
		c, err = mysqlwire.NewConnector(expect.Value(mysqlwire.ParseDSN(dsn))(t), dial)
	} else {
		c, err = pgwire.ParseDSN(dsn, dial)
	}
	expect.NoError(t, err)
	db := expect.Value(sqlkit.Connect(t.Context(), c.Connect, &sqlkit.Dialect{Classify: func(err error) error { return err }}))(t)
	t.Cleanup(func() { expect.NoError(t, db.Close()) })
	exec := func(text string) { t.Helper(); expect.NoError(t, db.Exec(t.Context(), text)) }
	lines := func(text string) []string { t.Helper(); return expect.Value(db.Lines(t.Context(), text))(t) }
	if name == "mysql" {
		exec("SET SESSION sql_mode = 'ANSI_QUOTES'")
	}
	return owner{
		make: func(home string, names []string) {
			exec("CREATE SCHEMA IF NOT EXISTS " + home)
			for _, name := range slices.Compact(slices.Sorted(slices.Values(append([]string{"SbTest1", "precious"}, names...)))) {
				table := home + `."` + name + `"`
				if name == "sbtest2" {
					exec("CREATE VIEW " + table + " AS SELECT id, precious FROM " + home + `."precious"`)
					continue
				}
				exec("CREATE TABLE " + table + " (id int, precious varchar(20))")
				exec("INSERT INTO " + table + " VALUES (1, 'mine'), (2, 'also mine')")
			}
		},
		tables: func(schema string) []string {
			return lines("SELECT table_name FROM information_schema.tables WHERE table_schema = '" + schema + "'")
		},
		read: func(home, table string) string {
			rows := lines("SELECT concat(id, precious) FROM " + home + `."` + table + `" ORDER BY id`)
			columns := lines("SELECT concat(column_name, data_type) FROM information_schema.columns WHERE table_schema = '" +
				home + "' AND table_name = '" + table + "' ORDER BY ordinal_position")
			return strings.Join(append(rows, columns...), " ")
		},
	}
}

// luaOwner is the user of Tarantool. Its homes are beginnings of the spaces' names.
func luaOwner(t *testing.T, at server.Endpoint) owner {
	t.Helper()
	conn := expect.Value(iproto.Connect(t.Context(), expect.Value(net.Dial("unix", at.Socket))(t), at.User, ""))(t)
	t.Cleanup(func() { expect.NoError(t, conn.Close()) })
	eval := func(expr string, args ...string) string {
		t.Helper()
		b := iproto.AppendMap(iproto.Begin(nil, iproto.Eval), 2)
		b = iproto.AppendText(iproto.AppendUint(b, iproto.KeyExpr), expr)
		b = iproto.AppendArray(iproto.AppendUint(b, iproto.KeyTuple), len(args))
		for _, a := range args {
			b = iproto.AppendText(b, a)
		}
		data := expect.Value(conn.Do(t.Context(), iproto.Finish(b)))(t)
		data.Array()
		return string(data.Text())
	}
	prefix := func(home string) string { return strings.TrimPrefix(home+".", ".") }
	return owner{
		make: func(home string, names []string) {
			for _, name := range names {
				eval("local s = box.schema.space.create(...) s:create_index('mine') s:insert{1, 'mine'} s:insert{2, 'also mine'} "+
					"return ''", prefix(home)+name)
			}
		},
		tables: func(schema string) (names []string) {
			for _, name := range strings.Fields(eval(`local out = {} for name in pairs(box.space) do
				if type(name) == 'string' and not name:startswith('_') then table.insert(out, name) end end return table.concat(out, ' ')`)) {
				if rest, ok := strings.CutPrefix(name, prefix(schema)); ok && !strings.Contains(rest, ".") {
					names = append(names, rest)
				}
			}
			return names
		},
		read: func(home, table string) string {
			return eval(`local s = box.space[...] return require('json').encode({s.id, s:format(), s:select()})`, prefix(home)+table)
		},
	}
}

// documentOwner is the user of MongoDB.
func documentOwner(t *testing.T, uri string) owner {
	t.Helper()
	c := expect.Value(mongo.Connect(options.Client().ApplyURI(uri).SetDirect(true).SetMaxConnIdleTime(time.Second).
		SetHeartbeatInterval(10 * time.Minute).SetServerMonitoringMode(options.ServerMonitoringModePoll)))(t)
	t.Cleanup(func() { expect.NoError(t, c.Disconnect(context.WithoutCancel(t.Context()))) })
	return owner{
		make: func(home string, names []string) {
			for _, name := range names {
				expect.Value(c.Database(home).Collection(name).InsertMany(t.Context(), []any{
					bson.D{{Key: "_id", Value: 1}, {Key: "precious", Value: "mine"}}, bson.D{{Key: "_id", Value: 2}}}))(t)
			}
		},
		tables: func(schema string) []string {
			return expect.Value(c.Database(schema).ListCollectionNames(t.Context(), bson.D{}))(t)
		},
		read: func(home, table string) string {
			cursor := expect.Value(c.Database(home).Collection(table).Find(t.Context(), bson.D{}))(t)
			var rows []bson.D
			expect.NoError(t, cursor.All(t.Context(), &rows))
			return fmt.Sprint(rows)
		},
	}
}
