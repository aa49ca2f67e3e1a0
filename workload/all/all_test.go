package all_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	engines "rumbench/engine/all"
	"rumbench/engine/enginetest"
	"rumbench/engine/native"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
	"rumbench/workload"
	workloads "rumbench/workload/all"
	"rumbench/workload/workloadtest"
)

// variants are small runs of every workload, with every step.
var variants = map[string][]map[string]any{
	"ibench": {
		{"rows": int64(1000), "write_rows": int64(200), "query_seconds": 0.5, "rates": []int64{200}, "clients": int64(2), "resync": int64(7)},
		{"rows": int64(1000), "write_rows": int64(200), "query_seconds": 0.5, "rates": []int64{100, 500}, "schema": "classic", "form": "2020", "deletes": false, "one_table": true, "clients": int64(2)},
		{"rows": int64(1000), "query_seconds": 0.5, "rates": []int64{100, 500}, "schema": "classic", "form": "2016", "deletes": false, "index_build": "together"},
	},
	"linkbench": {
		{"maxid": int64(400), "clients": []int64{1, 3}, "transactions": int64(300), "load_clients": int64(2), "load_batch": int64(50), "list_limit": int64(20), "settle_floor": time.Duration(0), "check": "each"},
		{
			"maxid": int64(3000), "dialect": "2013", "index": "plain", "locality": "ranges", "load_order": "descending", "link_types": int64(3), "warmup_seconds": 1.0,
			"clients": []int64{2}, "transactions": int64(400), "settle_floor": time.Duration(0),
		},
		{"maxid": int64(300), "atomic": false, "mix": "update_link", "clients": []int64{2}, "transactions": int64(300), "settle_floor": time.Duration(0)},
	},
	"rollup": {
		{"rows": int64(2400), "stages": int64(3), "tables": int64(2), "clients": int64(3), "check": "each"},
		{"rows": int64(1200), "stages": int64(2), "tables": int64(3), "clients": int64(2), "id_scope": "global", "rollup_columns": "wide", "order": "rollup_first", "check": "each"},
		{"rows": int64(600), "stages": int64(2), "tables": int64(2), "clients": int64(2), "schema": "scattered", "transactions": false, "check": "each"},
		{"rows": int64(1500), "stages": int64(2), "tables": int64(2), "clients": int64(3), "schema": "aggregating", "pairs": int64(45), "facts_per_pair": int64(6), "rollup_columns": "wide", "transactions": false, "check": "each"},
	},
	"telemetry": {
		telemetry(map[string]any{"rates": []int64{200, 400}, "late": 0.2}),
		telemetry(map[string]any{"schema": "middle", "batch": int64(3), "on_existing": "replace", "transactions": true}),
		telemetry(map[string]any{"schema": "write", "value": "uniform63", "batch": int64(6)}),
		telemetry(map[string]any{"schema": "middle", "model": "doc", "batch": int64(2)}),
		telemetry(map[string]any{"schema": "write", "model": "doc"}),
	},
	"create-index": {{"rows": int64(700), "readers": int64(2), "load_clients": int64(2), "settle": 0.0}},
	"largeobject":  {{"rows": int64(200), "readers": int64(2), "settle": 0.0}, {"rows": int64(100), "settle": 0.0, "atomic": false}},
	"queue":        {{"rows": int64(300), "clients": int64(3), "load_clients": int64(2)}},
	"udb":          {{"objects": int64(400), "clients": int64(3), "load_clients": int64(2), "settle": 0.0}},
	"up2x":         {{"rows": int64(700), "clients": int64(3), "load_clients": int64(2), "settle": 0.0}},
	"ycsb": {
		{"records": int64(600), "clients": int64(3), "load_clients": int64(2), "settle": 0.0},
		{"records": int64(300), "clients": int64(2), "order": "ordered", "distribution": "exponential", "fields": int64(3), "batch": int64(7), "settle": 0.0},
	},
	"zippydb": {{"rows": int64(700), "clients": int64(3), "load_clients": int64(2), "settle": 0.0}},
	"tpcc": {
		tpcc(map[string]any{"warehouses": int64(2), "clients": []int64{1, 3}}),
		tpcc(map[string]any{"style": "batch", "binding": "any", "mix": "weights", "warehouses": int64(3), "warmup_seconds": 1.0, "check": "4"}),
		tpcc(map[string]any{"warehouses": int64(1), "clients": []int64{12}, "transactions": int64(60), "check": "4", "waits": 0.00001}),
	},
	"sysbench": {
		{
			"tables": []int64{3}, "table_size": int64(250), "clients": []int64{2}, "ratios": []int64{4, 1}, "load_batch": int64(100), "load_clients": int64(2), "settle_floor": time.Duration(0),
			"tests": []string{
				"point-query.pre", "oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_update_index", "oltp_update_non_index",
				"ratio", "ratio-points", "point-transactions", "settle.post", "point-query", "oltp_insert", "oltp_delete",
			},
		},
		{
			"tables": []int64{1}, "table_size": int64(400), "clients": []int64{2}, "distribution": "zipfian-1.1", "scramble": "hash", "table_draw": "statement", "k_update": "random", "settle_floor": time.Duration(0),
			"tests": []string{
				"select_random_points", "select_random_ranges", "select", "simple-ranges", "random-points-10", "hot-points",
				"points-covered-pk", "points-notcovered-pk", "points-covered-si", "points-notcovered-si",
				"range-covered-pk", "range-notcovered-pk", "range-covered-si", "range-notcovered-si", "scan",
				"update-inlist", "update-index", "update-nonindex", "update-one", "update-zipf", "write-only", "read-write-10", "read-only-10",
				"read-only-simple", "read-only-sum", "read-only-order", "read-only-distinct", "read-only-count", "delete", "insert",
			},
		},
		{
			"tables": []int64{2}, "table_size": int64(200), "clients": []int64{3}, "distribution": "special-1.0", "table_draw": "transaction", "skip_trx": true, "rw_mode": "repeat", "ratios": []int64{3}, "settle_floor": time.Duration(0),
			"warmup_seconds": 1.0, "tests": []string{"oltp_read_write", "ratio"},
		},
	},
}

// telemetry returns a run with all faults, an outage, and several drops.
func telemetry(more map[string]any) map[string]any {
	p := map[string]any{
		"devices": int64(12), "metrics": int64(3), "history": 120 * time.Second, "partition": 80 * time.Second, "partitions": int64(4),
		"rates": []int64{360}, "mix_seconds": 4.0, "read_seconds": 1.0, "range": time.Minute, "rollup": 40 * time.Second,
		"rollup_devices": int64(6), "writers": int64(2), "readers": int64(2), "load_batch": int64(7), "silence": 60 * time.Second, "backfill": int64(4),
		"late": 0.05, "duplicate": 0.05, "correct": 0.05, "burst_share": 0.3, "settle_floor": time.Duration(0),
	}
	maps.Copy(p, more)
	return p
}

// tpcc returns a run of few rows.
func tpcc(more map[string]any) map[string]any {
	p := map[string]any{
		"items": int64(60), "customers_per_district": int64(12), "new_orders_per_district": int64(4), "clients": []int64{2}, "transactions": int64(120),
		"load_clients": int64(3), "load_batch": int64(50), "retry_max": int64(0), "settle_floor": time.Duration(0),
	}
	maps.Copy(p, more)
	return p
}

// chosen are the workloads that make test runs on each target: each workload on an embedded
// engine and on a server, and each target with two workloads or more. make test-long runs all
// on all. FerretDB has its own, see few.
var chosen = map[string]string{
	"pebble": "ycsb ibench", "badger": "linkbench up2x rollup", "bbolt": "sysbench zippydb create-index queue",
	"sqlite": "telemetry tpcc largeobject udb", "lmdb": "rollup udb", "wiredtiger": "linkbench largeobject",
	"wiredtiger lsm": "ycsb up2x", "rocksdb": "zippydb ycsb", "rocksdb optimistic": "tpcc up2x",
	"rocksdb locks": "sysbench create-index",

	"mysql innodb": "sysbench linkbench", "mysql rocksdb": "ibench create-index", "mysql attached": "queue up2x",
	"postgres": "tpcc telemetry rollup", "postgres attached": "largeobject zippydb", "tarantool memtx": "ycsb zippydb",
	"tarantool vinyl": "udb queue", "tarantool attached": "ycsb linkbench", "mongodb": "ycsb ibench",
	"mongodb attached": "udb zippydb",
}

// choose leaves a workload on a target to make test-long unless it is chosen.
func choose(t *testing.T, w, target string) {
	t.Helper()
	if !slices.Contains(strings.Fields(chosen[target]), w) {
		need.Long(t)
	}
}

// TestChosen: the table keeps its word.
func TestChosen(t *testing.T) {
	need.Setup(t) // servers are targets too
	kinds := map[string]map[bool]bool{}
	for _, target := range targets(t) {
		names := strings.Fields(chosen[target.name])
		expect.True(t, len(names) >= 2, "make test runs", names, "on", target.name)
		for _, name := range names {
			w, _ := catalog.Plugins{}.Workload(name)
			if !slices.ContainsFunc(variants[name], func(given map[string]any) bool {
				return model.Missing(target.can, runOf(t, w, given).Needs()) == nil
			}) {
				t.Errorf("%s cannot run %s", target.name, name)
			}
			if kinds[name] == nil {
				kinds[name] = map[bool]bool{}
			}
			kinds[name][target.server] = true
		}
	}
	for _, w := range workloads.Workloads() {
		if name := w.Info().Name; len(kinds[name]) < 2 {
			t.Errorf("make test runs %s on servers or on embedded engines only: %v", name, kinds[name])
		}
	}
}

// TestEveryEngine runs every workload on every engine, see chosen. Servers are started once,
// for all of it; each run has a schema of its own there.
func TestEveryEngine(t *testing.T) {
	all := targets(t)
	t.Run("same rows", func(t *testing.T) { testSameRows(t, all) })
	t.Run("concurrent clients", func(t *testing.T) { testConcurrent(t, all) })
	t.Run("stocks are locked", func(t *testing.T) { testStocks(t, all) })
}

// testSameRows: a seed gives the same rows in every table and index after every step,
// and the same answers to the same queries, on every engine as on the reference.
// Operations find the rows that they have to find. Every target runs the first variant
// of a workload that it can do; each other variant runs on an embedded engine and on a
// server.
func testSameRows(t *testing.T, all []target) {
	for _, w := range workloads.Workloads() {
		t.Run(w.Info().Name, func(t *testing.T) {
			ran := map[string]bool{}
			for i, given := range variants[w.Info().Name] {
				r := oneByOne{runOf(t, w, given)}
				var on []target
				for _, target := range all {
					paired := slices.Index(pairs[i%len(pairs)], target.name)
					if model.Missing(target.can, r.Needs()) != nil || ran[target.name] && paired < 0 {
						continue
					}
					target.leave = choose
					switch {
					case i > 0 && paired == 0: // the embedded engine of another variant
						target.leave = func(*testing.T, string, string) {}
					case ran[target.name]:
						target.leave = func(t *testing.T, _, _ string) { need.Long(t) }
					}
					ran[target.name] = true
					on = append(on, target)
				}
				t.Run(fmt.Sprint(i), func(t *testing.T) { sameRows(t, w.Info().Name, r, on) })
			}
		})
	}
}

// pairs are the targets of variants other than the first, in turn.
var pairs = [][]string{{"sqlite", "postgres"}, {"bbolt", "mysql innodb"}}

func sameRows(t *testing.T, name string, r workload.Run, on []target) {
	t.Helper()
	want := lockstep(t, r, "memory")
	workloadtest.CheckFound(t, "memory", want)
	for _, st := range want {
		t.Logf("step %-8s %5d operations, %v", st.Step, st.Ops, st.Sums)
	}
	for _, target := range on {
		t.Run(target.name, func(t *testing.T) {
			target.leave(t, name, target.name)
			got := workloadtest.Lockstep(t, r, target.open(t, r.Schema()), 42)
			workloadtest.Compare(t, target.name, want, got)
			workloadtest.CheckFound(t, target.name, got)
		})
	}
}

// testConcurrent: invariants hold with clients that run at the same time and yield to
// each other.
func testConcurrent(t *testing.T, all []target) {
	for _, w := range workloads.Workloads() {
		t.Run(w.Info().Name, func(t *testing.T) {
			concurrent(t, w.Info().Name, runOf(t, w, variants[w.Info().Name][0]), all)
		})
	}
}

// concurrent runs a workload on all targets but those that are attached to as others
// have configured them.
func concurrent(t *testing.T, name string, r workload.Run, all []target) {
	for _, target := range all {
		if target.foreign || model.Missing(target.can, r.Needs()) != nil {
			continue
		}
		t.Run(target.name, func(t *testing.T) {
			choose(t, name, target.name)
			workloadtest.Concurrent(t, r, target.open(t, r.Schema()), 42)
		})
	}
}

// oneByOne is a run whose rows are numbered without gaps on every engine: where
// sessions cache numbers, each begins with others.
type oneByOne struct{ workload.Run }

func (r oneByOne) Schema() model.Schema {
	s := r.Run.Schema()
	for _, t := range s.Tables {
		for i := range t.Columns {
			t.Columns[i].AutoCache = 0
		}
	}
	return s
}

// TestWorkloads runs the conformance suite of workloads on the reference engine, and for variants other
// than the first its last case.
func TestWorkloads(t *testing.T) {
	for _, w := range workloads.Workloads() {
		for i, small := range variants[w.Info().Name] {
			suite := workloadtest.Suite{
				Workload: w, Small: small,
				Open: func(t *testing.T, s model.Schema) engine.DB { return open(t, "memory", s) },
			}
			name := fmt.Sprintf("%s/%d", w.Info().Name, i)
			if i > 0 {
				t.Run(name+" divided", func(t *testing.T) { workloadtest.Divided(t, suite) })
			}
			t.Run(name, func(t *testing.T) {
				if i > 0 {
					need.Long(t)
				}
				workloadtest.Run(t, suite)
			})
		}
	}
}

func lockstep(t *testing.T, r workload.Run, name string) []workloadtest.State {
	t.Helper()
	return workloadtest.Lockstep(t, r, open(t, name, r.Schema()), 42)
}

// open opens an empty database, with a log where the engine has one.
func open(t *testing.T, name string, schema model.Schema) engine.DB {
	t.Helper()
	e, _ := catalog.Plugins{}.Engine(name)
	c := engine.Config{Durability: model.DurabilityProcess, Schema: schema}
	c.Server.Binary = binaries[name]
	if e.Check(c) != nil {
		c.Durability = model.DurabilityNone
	}
	return openConfig(t, name, c)
}

func openConfig(t *testing.T, name string, c engine.Config) engine.DB {
	t.Helper()
	e, _ := catalog.Plugins{}.Engine(name)
	c.Dir = need.TempDir(t)
	if c.Options == nil {
		c.Options = libraryOf(name)
	}
	if c.Server.DSN == "" {
		c.Server.Binary = binaries[name]
	}
	if c.Durability == "" {
		if c.Durability = model.DurabilityProcess; e.Check(c) != nil {
			c.Durability = model.DurabilityOS
		}
	}
	return openEngine(t, e, c)
}

// libraryOf is an engine's option that chooses its library where make test has not the usual one.
func libraryOf(name string) map[string]any {
	if name == "wiredtiger" && !need.IsLong() {
		return map[string]any{"library": "3.2.1"}
	}
	return nil
}

func openEngine(t *testing.T, e engine.Engine, c engine.Config) engine.DB {
	t.Helper()
	db, err := e.Open(context.Background(), c)
	expect.NoError(t, err)
	t.Cleanup(func() { enginetest.Discard(db) })
	return db
}

// target is an engine in one of its forms.
type target struct {
	name    string
	can     []model.Capability
	open    func(t *testing.T, s model.Schema) engine.DB
	foreign bool // attached to, and configured by others
	server  bool
	leave   func(t *testing.T, workload, target string) // to make test-long, or not
}

// targets are all engines that keep rows, but the reference; those that are
// servers with each of their storages, and as others have configured them.
func targets(t *testing.T) (all []target) {
	t.Helper()
	for _, e := range engines.Engines() {
		info := e.Info()
		if info.Name == "memory" || binaries[info.Name] == ferretDB || !slices.Contains(info.Capabilities, model.CapResults) || !usable(t, e) {
			continue
		}
		if len(info.Servers) > 0 {
			all = append(all, onServers(t, e)...)
			continue
		}
		forms := []engine.Config{{}}
		for _, storage := range storages[info.Name] {
			forms = append(forms, engine.Config{Storage: storage})
		}
		for _, choice := range transactions[info.Name] {
			forms = append(forms, engine.Config{Options: map[string]any{"transactions": choice}})
		}
		for _, c := range forms {
			name := strings.TrimSpace(fmt.Sprint(info.Name, " ", c.Storage, cmp.Or(c.Options["transactions"], any(""))))
			all = append(all, target{name: name, can: engine.InfoOf(e, c).Capabilities, open: func(t *testing.T, s model.Schema) engine.DB {
				c.Schema = s
				return openConfig(t, info.Name, c)
			}})
		}
	}
	return all
}

// onServers returns the targets of an engine on servers, each of which is started when
// it is first needed, and runs until the test's end.
func onServers(t *testing.T, e engine.Engine) (all []target) {
	t.Helper()
	for _, storage := range storages[e.Info().Name] {
		c := engine.Config{Storage: storage, Durability: model.DurabilityProcess, Schema: anySchema}
		c.Server.Binary = binaries[e.Info().Name]
		if e.Check(c) != nil {
			c.Durability = model.DurabilityOS
		}
		add := target{name: strings.TrimSpace(e.Info().Name + " " + storage), server: true, can: engine.InfoOf(e, c).Capabilities}
		if shared := sync.OnceValue(func() *enginetest.Shared { return enginetest.Share(t, e, c) }); storage != "vinyl" {
			add.open = func(t *testing.T, s model.Schema) engine.DB { return openEngine(t, e, shared().Config(s)) }
		} else { // which cannot have several databases, see its conformance test
			add.open = func(t *testing.T, s model.Schema) engine.DB {
				return openConfig(t, e.Info().Name, engine.Config{Storage: storage, Schema: s})
			}
		}
		all = append(all, add)
	}
	dsn := sync.OnceValue(func() string { return startForeign(t, e) })
	var schemas int
	return append(all, target{name: e.Info().Name + " attached", server: true, can: engine.InfoOf(e, engine.Config{}).Capabilities, foreign: true, open: func(t *testing.T, s model.Schema) engine.DB {
		schemas++
		return openEngine(t, e, engine.Config{Durability: model.DurabilityOS, Schema: s, Server: engine.ServerConfig{DSN: dsn(), Schema: fmt.Sprint("attached", schemas)}})
	}})
}

// anySchema is one of a database that is not used.
var anySchema = model.Schema{Tables: []model.Table{{Name: "t", Columns: []model.Column{{Name: "id", Type: model.Int}}, Key: []string{"id"}}}}

// storages are those of an engine on servers, and of an embedded one beside its default.
var storages = map[string][]string{"mysql": {"innodb", "rocksdb"}, "postgres": {""}, "mongodb": {""}, "tarantool": {"memtx", "vinyl"}, "wiredtiger": {"lsm"}}

// binaries are the programs of servers that no package installs. Where no mongod is
// named, FerretDB stands in for MongoDB: it speaks its protocol.
var binaries = map[string]string{"mongodb": cmp.Or(os.Getenv("RUMBENCH_MONGOD"), ferretDB)}

const ferretDB = "/opt/rumbench/ferretdb/ferretdb"

// transactions are the kinds of an engine whose option they are, beside none.
var transactions = map[string][]string{"rocksdb": {"optimistic", "locks"}}

// usable reports whether an engine's server or library is installed; in CI it must
// be. Native engines are tested by go test -tags native.
func usable(t *testing.T, e engine.Engine) bool {
	t.Helper()
	if i := e.Info(); i.Native && !native.Built {
		t.Logf("not tested: %v", native.Missing(i.Name))
		return false
	}
	for _, kind := range e.Info().Servers[:min(1, len(e.Info().Servers))] {
		if _, err := server.Find(t.Context(), kind, server.Source{Binary: binaries[e.Info().Name]}); !need.Found(t, err) {
			return false
		}
	}
	return true
}

// startForeign starts a server with no settings but what durability needs, and returns
// how to attach to it.
func startForeign(t *testing.T, e engine.Engine) (dsn string) {
	t.Helper()
	var settings []server.Setting
	if e.Info().Name == "tarantool" { // others sync at commits by default
		settings = append(settings, server.Setting{Name: "wal_mode", Value: "fsync"})
	}
	_, dsn = startServer(t, e, settings...)
	return dsn
}

// startServer starts a server of the engine's usual kind until the test's end,
// after databases that are opened later. It returns how to attach to it, too.
func startServer(t *testing.T, e engine.Engine, settings ...server.Setting) (running *server.Server, dsn string) {
	t.Helper()
	running, err := server.Start(t.Context(), server.Config{
		Kind: e.Info().Servers[0], Source: server.Source{Binary: binaries[e.Info().Name]}, Dir: need.TempDir(t), Settings: settings,
		Ready: func(ctx context.Context, at server.Endpoint) error {
			w, err := e.(engine.Watcher).Watch(ctx, enginetest.DSN(e, at))
			if err != nil {
				return err
			}
			return w.Close()
		},
	})
	expect.NoError(t, err)
	t.Cleanup(running.Kill)
	return running, enginetest.DSN(e, running.Endpoint())
}

// TestForeignData: no engine opens, or writes into, the directory of another.
func TestForeignData(t *testing.T) {
	ctx := context.Background()
	var onDisk []engine.Engine
	for _, e := range engines.Engines() {
		if e.Info().SpaceFactor > 0 && usable(t, e) {
			onDisk = append(onDisk, e)
		}
	}
	for _, mine := range onDisk {
		c := engine.Config{Dir: need.TempDir(t), Durability: model.DurabilityOS, Schema: anySchema}
		c.Server.Binary, c.Options = binaries[mine.Info().Name], libraryOf(mine.Info().Name)
		db, err := mine.Open(ctx, c)
		expect.NoError(t, err)
		expect.NoError(t, db.Close())
		before, err := os.ReadDir(c.Dir)
		expect.NoError(t, err)
		for _, other := range onDisk {
			if other.Info().Name == mine.Info().Name {
				continue
			}
			c.Server.Binary, c.Options = binaries[other.Info().Name], libraryOf(other.Info().Name)
			if db, err := other.Open(ctx, c); err == nil {
				db.Close()
				t.Errorf("%s opens a directory of %s", other.Info().Name, mine.Info().Name)
			}
		}
		if after, err := os.ReadDir(c.Dir); err != nil || len(after) != len(before) {
			t.Errorf("the directory of %s holds %v, before %v (%v)", mine.Info().Name, after, before, err)
		}
	}
}
