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

// owner is the user whose tables they are.
type owner interface {
	plant(home string, names []string)
	// content is what the user's tables in all homes hold, and how they are defined.
	content() map[string]string
	// tables lists the tables in a schema.
	tables(schema string) []string
}

// runsWithKills is how many runs are killed: a few, or as many as RUMBENCH_KILLS says (make
// planted).
func runsWithKills() int {
	if n, err := strconv.Atoi(os.Getenv("RUMBENCH_KILLS")); err == nil {
		return n
	}
	if os.Getenv(need.LongVariable) == "" {
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
				schema, force, ofTrial := []string{"", ", schema: " + p.home}[i%3/2], i%2 == 1, draw.IntN(2) == 0
				h.write("plan.yaml", p.plan(name, p.dsns[i%len(p.dsns)], schema))
				args := []string{"run", "plan.yaml", "--out", fmt.Sprint("out", i)}
				if force {
					args = append(args, "--force")
				}
				c, killed := h.start(args...), ""
				killer := time.AfterFunc(time.Duration(draw.Int64N(int64(6*time.Second))), func() {
					if child := childOf(c.cmd.Process.Pid); child != 0 && ofTrial {
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
			// Clients whose connections a proxy ends because they are idle go on with others, and the result says so.
			idle := strings.Replace(p.plan(name, p.dsns[1], ""), "write_seconds: 0.5,", "write_seconds: 11,", 1)
			h.write("plan.yaml", idle+"rate: {at: 0.2, arrivals: even}\n")
			h.run(0, "run", "plan.yaml", "--out", "idle", "--no-preflight")
			h.contains("the result", h.file("idle/trials/"+name+".1/trial.json"), `"sessions_renewed"`)
			h.write("plan.yaml", p.plan(name, p.dsns[0], ""))
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
	second := "public"
	switch name {
	case "mysql":
		c.Options, second = map[string]any{"innodb_log_file_size": "16M"}, "test"
	case "tarantool":
		p.params, second = "tests: [update-index], clients: [2], table_size: 100", ""
	case "mongodb":
		// FerretDB loses concurrent updates.
		p.params, second, p.durability = "tests: [update-index], clients: [1], table_size: 20", "test", model.DurabilityOS
		c.Server.Binary = "/opt/rumbench/ferretdb/ferretdb"
		_, err := os.Stat(c.Server.Binary)
		need.Installed(t, err)
	}
	c.Durability = p.durability
	db := need.Value(e.Open(t.Context(), c))(t)
	t.Cleanup(func() { enginetest.Discard(db) })
	at := db.(interface{ Endpoint() server.Endpoint }).Endpoint()
	p.dsns = []string{enginetest.DSN(e, at)}
	proxy := enginetest.HAProxy(t, at, "4s")
	switch name {
	case "mysql":
		p.dsns = append(p.dsns, fmt.Sprintf("root@tcp(127.0.0.1:%d)/", proxy))
		p.owner = newSQLOwner(t, name, p.dsns[0])
	case "postgres":
		p.dsns = append(p.dsns, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", proxy))
		for _, mode := range []string{"session", "transaction", "statement"} {
			port := enginetest.PgBouncer(t, at, mode, "ignore_startup_parameters = search_path,extra_float_digits")
			p.dsns = append(p.dsns, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", port))
		}
		p.owner = newSQLOwner(t, name, p.dsns[0])
	case "tarantool":
		p.dsns = append(p.dsns, fmt.Sprintf("127.0.0.1:%d", proxy))
		p.owner = newLuaOwner(t, at)
	case "mongodb":
		p.dsns = append(p.dsns, fmt.Sprintf("mongodb://127.0.0.1:%d/", proxy))
		p.owner = newDocumentOwner(t, p.dsns[1])
	}
	names := tableNames(t)
	p.plant(p.home, names)
	p.plant(second, names)
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

// sqlOwner is the user of a SQL server.
type sqlOwner struct {
	*testing.T
	*sqlkit.Admin
	homes []string
}

func newSQLOwner(t *testing.T, name, dsn string) *sqlOwner {
	t.Helper()
	dial := serverkit.NewHost("").Dial
	var c serverkit.Connector
	var err error
	if name == "mysql" {
		c, err = mysqlwire.NewConnector(need.Value(mysqlwire.ParseDSN(dsn))(t), dial)
	} else {
		c, err = pgwire.ParseDSN(dsn, dial)
	}
	must(t, err)
	p := &sqlOwner{T: t}
	p.Admin, err = sqlkit.Connect(t.Context(), c.Connect, &sqlkit.Dialect{Classify: func(err error) error { return err }})
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	if name == "mysql" {
		p.exec("SET SESSION sql_mode = 'ANSI_QUOTES'")
	}
	return p
}

func (p *sqlOwner) exec(text string) {
	p.Helper()
	must(p.T, p.Exec(p.Context(), text))
}

// plant also makes a view of a name that rumbench uses, and a table whose name differs in case.
func (p *sqlOwner) plant(home string, names []string) {
	p.Helper()
	p.exec("CREATE SCHEMA IF NOT EXISTS " + home)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append([]string{"SbTest1", "precious"}, names...)))) {
		table := home + `."` + name + `"`
		if name == "sbtest2" {
			p.exec("CREATE VIEW " + table + " AS SELECT id, precious FROM " + home + `."precious"`)
			continue
		}
		p.exec("CREATE TABLE " + table + " (id int, precious varchar(20))")
		p.exec("INSERT INTO " + table + " VALUES (1, 'mine'), (2, 'also mine')")
	}
	p.homes = append(p.homes, home)
}

// tables lists the tables of a schema.
func (p *sqlOwner) tables(schema string) []string {
	p.Helper()
	names, err := p.Lines(p.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+schema+"'")
	must(p.T, err)
	return names
}

func (p *sqlOwner) content() map[string]string {
	p.Helper()
	out := map[string]string{}
	for _, home := range p.homes {
		for _, table := range p.tables(home) {
			rows, err := p.Lines(p.Context(), "SELECT concat(id, precious) FROM "+home+`."`+table+`" ORDER BY id`)
			must(p.T, err)
			columns, err := p.Lines(p.Context(), "SELECT concat(column_name, data_type) FROM information_schema.columns WHERE table_schema = '"+
				home+"' AND table_name = '"+table+"' ORDER BY ordinal_position")
			must(p.T, err)
			out[home+"."+table] = strings.Join(append(rows, columns...), " ")
		}
	}
	return out
}

// luaOwner is the user of Tarantool. Its homes are beginnings of the spaces' names.
type luaOwner struct {
	*testing.T
	conn  *iproto.Conn
	homes []string
}

func newLuaOwner(t *testing.T, at server.Endpoint) *luaOwner {
	t.Helper()
	socket := need.Value(net.Dial("unix", at.Socket))(t)
	conn := need.Value(iproto.Connect(t.Context(), socket, at.User, ""))(t)
	t.Cleanup(func() { must(t, conn.Close()) })
	return &luaOwner{T: t, conn: conn}
}

// eval returns the text that an expression returns.
func (p *luaOwner) eval(expr string, args ...string) string {
	p.Helper()
	b := iproto.AppendMap(iproto.Begin(nil, iproto.Eval), 2)
	b = iproto.AppendText(iproto.AppendUint(b, iproto.KeyExpr), expr)
	b = iproto.AppendArray(iproto.AppendUint(b, iproto.KeyTuple), len(args))
	for _, a := range args {
		b = iproto.AppendText(b, a)
	}
	data, err := p.conn.Do(p.Context(), iproto.Finish(b))
	must(p.T, err)
	data.Array()
	return string(data.Text())
}

func prefix(home string) string {
	if home == "" {
		return ""
	}
	return home + "."
}

func (p *luaOwner) plant(home string, names []string) {
	p.Helper()
	for _, name := range names {
		p.eval("local s = box.schema.space.create(...) s:create_index('mine') s:insert{1, 'mine'} s:insert{2, 'also mine'} "+
			"return ''", prefix(home)+name)
	}
	p.homes = append(p.homes, home)
}

func (p *luaOwner) tables(schema string) (names []string) {
	p.Helper()
	for _, name := range strings.Fields(p.eval(`local out = {} for name in pairs(box.space) do
		if type(name) == 'string' and not name:startswith('_') then table.insert(out, name) end end return table.concat(out, ' ')`)) {
		if rest, ok := strings.CutPrefix(name, prefix(schema)); ok && !strings.Contains(rest, ".") {
			names = append(names, rest)
		}
	}
	return names
}

func (p *luaOwner) content() map[string]string {
	p.Helper()
	out := map[string]string{}
	for _, home := range p.homes {
		for _, name := range p.tables(home) {
			out[prefix(home)+name] = p.eval(`local s = box.space[...] return require('json').encode({s.id, s:format(), s:select()})`, prefix(home)+name)
		}
	}
	return out
}

// documentOwner is the user of MongoDB.
type documentOwner struct {
	*testing.T
	*mongo.Client
	homes []string
}

func newDocumentOwner(t *testing.T, uri string) *documentOwner {
	t.Helper()
	c, err := mongo.Connect(options.Client().ApplyURI(uri).SetDirect(true).SetMaxConnIdleTime(time.Second).
		SetHeartbeatInterval(10 * time.Minute).SetServerMonitoringMode(options.ServerMonitoringModePoll))
	must(t, err)
	t.Cleanup(func() { must(t, c.Disconnect(context.WithoutCancel(t.Context()))) })
	return &documentOwner{T: t, Client: c}
}

func (p *documentOwner) plant(home string, names []string) {
	p.Helper()
	for _, name := range names {
		_, err := p.Database(home).Collection(name).InsertMany(p.Context(), []any{
			bson.D{{Key: "_id", Value: 1}, {Key: "precious", Value: "mine"}}, bson.D{{Key: "_id", Value: 2}}})
		must(p.T, err)
	}
	p.homes = append(p.homes, home)
}

func (p *documentOwner) tables(schema string) []string {
	p.Helper()
	names, err := p.Database(schema).ListCollectionNames(p.Context(), bson.D{})
	must(p.T, err)
	return names
}

func (p *documentOwner) content() map[string]string {
	p.Helper()
	out := map[string]string{}
	for _, home := range p.homes {
		for _, name := range p.tables(home) {
			cursor, err := p.Database(home).Collection(name).Find(p.Context(), bson.D{})
			must(p.T, err)
			var rows []bson.D
			must(p.T, cursor.All(p.Context(), &rows))
			out[home+"."+name] = fmt.Sprint(rows)
		}
	}
	return out
}
