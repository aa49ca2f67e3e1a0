package main

import (
	"cmp"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/internal/explain"
)

// cause is a planted difference: the setting of the second of two targets, and the rule that
// should name it first.
type cause struct {
	number int
	name   string
	rules  rules    // any of them is right; if empty, none may be named
	each   bool     // each of the rules must be named, one of them first
	on     []string // engines
	own    string   // the workload as a map; "": sysbench
	params string   // of sysbench
	// params of the second target if its steps differ: it then runs as a separate campaign
	other   string
	common  string            // of both targets
	base    string            // of the first target
	change  string            // of the second
	second  map[string]string // of the second, by engine, where they differ
	seconds int               // of a step; 0: 8
	beside  func() func()     // starts a concurrent load and returns a function that ends it
	// held, if set, runs the second target as a separate campaign under a control group that
	// throttles it.
	held *hold
}

// rules are names of causes.
type rules = []explain.Rule

const compression = explain.Rule(engine.AspectCompression)

var filters = rules{explain.Rule(engine.AspectFilters), explain.RuleLookups}

// systems are the engines, as targets of a plan.
var systems = map[string]string{
	"innodb":   "engine: mysql, storage: innodb, server: mariadb",
	"myrocks":  "engine: mysql, storage: rocksdb, server: mariadb",
	"postgres": "engine: postgres",
	"pebble":   "engine: pebble",
	"sqlite":   "engine: sqlite",
	"bbolt":    "engine: bbolt",
	"null":     "engine: \"null\"",
}

var usualEngines = []string{"innodb", "myrocks", "postgres", "pebble", "sqlite"}

const (
	small = "table_size: 100k, load_clients: 1, clients: [4], settle_floor: 1s, "
	wide  = "table_size: 400k, load_clients: 1, clients: [4], settle_floor: 1s, "
)

// absent is a workload that looks up keys between the existing ones.
const absent = `{name: absent, values: {pick: {uniform: [0, 199k]}},
  tables: {pairs: {columns: {id: {value: row * 2}, payload: {value: {text: {size: 200}}}}}},
  operations: {look: [{get: pairs, key: {id: pick * 2 + 1}, expect: 0}]},
  steps: [{load: pairs, rows: 200k}, {settle: 1s}, {run: look, seconds: 8, groups: {all: {clients: 4, do: look}}}]}`

// causes are the causes in the specification that a plan can plant. Each is run in pairs of
// trials.
var causes = []cause{
	{number: 1, name: "doublewrite off", rules: rules{explain.RuleDoublewrite}, on: []string{"innodb"},
		params: wide + "tests: [update-index]",
		common: "cache: 32MiB, durability: process, direct_io: true", change: `options: {innodb_doublewrite: "OFF"}`},
	{number: 2, name: "commits are not synced", rules: rules{explain.RuleCommits}, on: usualEngines,
		params: small + "tests: [update-index]",
		common: "cache: 256MiB, durability: os", change: "durability: process"},
	{number: 3, name: "half the cache", rules: rules{explain.RuleReads},
		on:     []string{"innodb", "postgres", "pebble", "sqlite"},
		params: wide + "tests: [point-query]", common: "cache: 48MiB, durability: process", change: "cache: 16MiB"},
	// MyRocks' misses cost 4 % more CPU if the page cache serves them, which is below the noise
	// of most machines.
	{number: 3, name: "half the cache", rules: rules{explain.RuleReads}, on: []string{"myrocks"},
		params: wide + "tests: [point-query]",
		common: "cache: 48MiB, durability: process, direct_io: true", change: "cache: 16MiB"},
	{number: 4, name: "small pages", rules: rules{explain.RulePageSize}, on: []string{"innodb", "sqlite"},
		params: wide + "tests: [point-query]",
		common: "cache: 16MiB, durability: process",
		second: map[string]string{"innodb": "page: 4KiB", "sqlite": "page: 32KiB"}},
	{number: 5, name: "compression", rules: rules{compression},
		on:     []string{"myrocks", "pebble"},
		params: wide + "tests: [point-query]",
		common: "cache: 16MiB, durability: process, compression: none", change: "compression: zstd"},
	{number: 6, name: "another program on all processors", rules: rules{explain.RuleOthers}, on: usualEngines,
		params: small + "tests: [point-query]",
		common: "cache: 256MiB, durability: process", beside: spin},
	{number: 7, name: "a device of 300 writes/s", rules: rules{explain.RuleDevice}, on: usualEngines,
		params: small + "tests: [update-nonindex]",
		common: "cache: 256MiB, durability: os",
		held:   &hold{controller: "blkio", file: "blkio.throttle.write_iops_device", value: "%s 300"}},
	{number: 8, name: "one hot row", rules: rules{explain.RuleRowLocks}, on: []string{"innodb", "myrocks", "postgres"},
		params: "table_size: 100k, load_clients: 1, clients: [16], settle_floor: 1s, zipfian_exp: 0.1, tests: [update-zipf]",
		common: "cache: 256MiB, durability: os", change: "params: {zipfian_exp: 6}"},
	{number: 9, name: "four writers instead of one", rules: rules{explain.RuleWriters, explain.RuleClients},
		on:     []string{"sqlite", "bbolt"},
		params: "table_size: 100k, load_clients: 1, clients: [1], settle_floor: 1s, tests: [update-index]",
		common: "durability: process", change: "params: {clients: [4]}"},
	{number: 10, name: "statements as text", rules: rules{explain.RuleProtocol, explain.RuleCPU},
		on:     []string{"innodb", "postgres"},
		params: small + "tests: [point-query]", common: "cache: 256MiB, durability: process", change: "protocol: text"},
	{number: 11, name: "waits are timed", rules: rules{explain.RuleCPU}, on: []string{"innodb"},
		params: small + "tests: [point-query]",
		common: "cache: 256MiB, durability: process", change: "options: {waits: true}"},
	{number: 12, name: "log of an eighth", rules: rules{explain.Rule(engine.AspectCheckpoint), explain.RuleWholePages},
		on:     []string{"innodb", "postgres"},
		params: wide + "tests: [update-nonindex]", common: "cache: 256MiB, durability: os", seconds: 20,
		second: map[string]string{"innodb": "options: {innodb_log_file_size: 16M}",
			"postgres": `options: {max_wal_size: 32MB}`}},
	{number: 13, name: "no filters, absent keys", rules: filters, on: []string{"pebble"}, own: absent,
		common: "cache: 8MiB, durability: process", base: "options: {bloom_bits: 10}",
		change: "options: {bloom_bits: 0}"},
	{number: 13, name: "no filters, absent keys", rules: filters, on: []string{"myrocks"}, own: absent,
		common: "cache: 8MiB, durability: process",
		base:   `options: {rocksdb_default_cf_options: "block_based_table_factory={filter_policy=bloomfilter:10:false}"}`},
	{number: 14, name: "small memtables", rules: rules{explain.RuleCompaction, explain.RuleStalls},
		on:     []string{"myrocks", "pebble"},
		params: small + "tests: [update-index]", common: "cache: 64MiB, durability: process",
		second: map[string]string{"myrocks": "options: {rocksdb_db_write_buffer_size: 2M}",
			"pebble": "options: {memtable_size: 512KiB}"}},
	{number: 15, name: "change buffering", rules: rules{explain.RuleReads, explain.RuleLookups}, on: []string{"innodb"},
		params: wide + "tests: [update-index]",
		common: "cache: 16MiB, durability: process, direct_io: true",
		change: "options: {innodb_change_buffering: all}"},
	{number: 16, name: "a client on half a processor", rules: rules{explain.RuleClient},
		on:     []string{"innodb", "postgres"},
		params: small + "tests: [point-query]", common: "cache: 256MiB, durability: process",
		held: &hold{controller: "cpu", file: "cpu.cfs_quota_us", value: "50000", free: []string{"mariadbd", "postgres"}}},
	{number: 17, name: "a slower engine", rules: rules{explain.RuleCPU}, on: []string{"null"},
		params: small + "tests: [point-query]",
		common: "durability: none", base: "options: {delay: 20us}", change: "options: {delay: 25us}"},
	{number: 18, name: "reads without a settle step before", rules: rules{explain.RuleStarts}, on: []string{"myrocks"},
		params: wide + "tests: [update-index, settle.post, point-query]", common: "cache: 64MiB, durability: process",
		seconds: 20,
		other:   wide + "tests: [update-index, point-query]"},
	// A settle step makes Pebble merge nothing: its debt is allowed. So one target reads after
	// updates, the other does not.
	{number: 18, name: "reads of a tree that owes merges", rules: rules{explain.RuleStarts}, on: []string{"pebble"},
		params: wide + "tests: [point-query]",
		common: "cache: 64MiB, durability: process", seconds: 20, other: wide + "tests: [update-index, point-query]"},
	{number: 19, name: "nothing", on: usualEngines, params: small + "skip_trx: true, tests: [oltp_read_write]",
		common: "cache: 256MiB, durability: process"},
	{number: 20, name: "a setting without effect", on: []string{"innodb", "postgres"},
		params: small + "tests: [oltp_read_write]",
		common: "cache: 256MiB, durability: process", change: "options: {max_connections: 3000}"},
	{number: 21, name: "doublewrite off, and a third of the cache",
		rules: rules{explain.RuleReads, explain.RuleDoublewrite}, each: true,
		on: []string{"innodb"}, params: wide + "tests: [update-index]",
		common: "cache: 48MiB, durability: process, direct_io: true",
		change: `cache: 16MiB, options: {innodb_doublewrite: "OFF"}`},
	{number: 23, name: "one session in place of four", rules: rules{explain.RuleClients, explain.RuleCPU},
		on:     []string{"postgres"},
		params: small + "tests: [point-query]", common: "cache: 256MiB, durability: process",
		change: "params: {clients: [1]}"},
	{number: 22, name: "a larger memtable", rules: rules{explain.RuleCompaction, explain.RuleStalls},
		on:     []string{"pebble"},
		params: small + "tests: [update-nonindex]", common: "cache: 64MiB, durability: process",
		change: "options: {memtable_size: 64MiB}"},
}

// target is one of the two targets that a cause makes different.
type target struct{ name, set string }

func (c *cause) targets(engine string) []target {
	return []target{{"base", c.base}, {"new", cmp.Or(c.second[engine], c.change)}}
}

func (c *cause) plan(engine, params string, targets []target) string {
	seconds := cmp.Or(c.seconds, 8)
	var b strings.Builder
	fmt.Fprintf(&b, "name: planted-%d-%s\nworkload: %s\ncommon: {%s}\n", c.number, engine, cmp.Or(c.own, "sysbench"),
		c.common)
	if c.own == "" {
		fmt.Fprintf(&b, "params: {%s, read_seconds: %d, write_seconds: %d}\n", params, seconds, seconds)
	}
	b.WriteString("trials: 4\nerrors_allowed: 0.1%\ntargets:\n") // sysbench without transactions meets its own keys
	for _, t := range targets {
		set := t.set
		if set != "" {
			set = ", " + set
		}
		fmt.Fprintf(&b, "  - {name: %s, %s%s}\n", t.name, systems[engine], set)
	}
	return b.String()
}
