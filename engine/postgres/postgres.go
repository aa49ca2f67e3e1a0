// Package postgres is PostgreSQL as an engine: a server that is started on a private
// directory, or attached to by a DSN, release 12 and later.
//
// The code shared with other database servers is in serverkit and sqlkit, the protocol in
// engine/postgres/pgwire. Here are the dialect, the settings, the measurements, and the
// code that brings the server to rest.
package postgres

import (
	"context"

	"rumbench/engine"
	"rumbench/engine/postgres/pgwire"
	"rumbench/internal/server"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "postgres",
		Structure:    "heap tables with B-tree indexes, server",
		Doc:          "PostgreSQL, from release 12 on, on a private server or on one that runs already.",
		Version:      "jackc/pgx " + engine.ModuleVersion("github.com/jackc/pgx/v5"),
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Variables:    variables,
		Promises:     promises,
		Aliases:      []string{"postgresql", "pg", "pgsql"},
		Servers:      rules.Kinds,
		Joins:        true,
		Files:        files,
		SpaceFactor:  10,
		SpaceBase:    1100 << 20, // the system's tables, and the log up to the usual max_wal_size
	}
}

// rumbench's own options.
const (
	optCopy      = "copy"
	optChecksums = server.DataChecksums
)

var options = []engine.Option{
	{Name: optCopy, Type: "bool", Doc: "the inserts of a first load are done by COPY, one for each batch; not a rate of inserts that others can be compared with (default false)"},
	{Name: optChecksums, Type: "bool", Doc: "checksums of pages, chosen when the data directory is made (default: the release's own, on since 18)"},
	{Name: "any setting of the server", Type: "as in postgresql.conf", Doc: "written into the private server's configuration verbatim, such as max_wal_size: 16GB"},
}

// variables are the server settings that affect the names in explanations.
var variables = []engine.Option{
	{Name: "huge_pages", Effect: engine.HugePages},
	{Name: "io_method", Effect: engine.AsyncIO},
	{Name: "max_wal_size", Affects: engine.AspectCheckpoint},
	{Name: "checkpoint_timeout", Affects: engine.AspectCheckpoint},
	{Name: "wal_compression", Affects: engine.AspectLogCompression},
	{Name: "log_statement", Affects: engine.AspectTextLog}, {Name: "log_duration", Affects: engine.AspectTextLog},
	{Name: "log_min_duration_statement", Affects: engine.AspectTextLog}, {Name: "work_mem", Affects: engine.AspectSort},
	{Name: "enable_indexscan", Affects: engine.AspectPlan}, {Name: "enable_bitmapscan", Affects: engine.AspectPlan},
	{Name: "enable_indexonlyscan", Affects: engine.AspectPlan}, {Name: "random_page_cost", Affects: engine.AspectPlan},
	{Name: "plan_cache_mode", Affects: engine.AspectPlan}, {Name: "jit", Affects: engine.AspectPlan},
}

// promises describe the effect of fsync off, which implements the levels none and process.
var promises = map[model.Durability]string{
	model.DurabilityNone: "nothing is promised: kill -9 of the server loses its last commits; " +
		"a crash of the operating system may lose the whole database, as fsync is off",
	model.DurabilityProcess: "commits survive kill -9 of the server; a crash of the operating system may lose the whole database, as fsync is off",
}

func (Engine) Check(c engine.Config) error {
	_, err := newSetup(context.Background(), c)
	return err
}

func (Engine) ReadDSN(dsn string) (engine.Address, error) {
	config, err := pgwire.ParseDSN(dsn, nil)
	if err != nil {
		return engine.Address{}, err
	}
	network, host := config.Address()
	return engine.Address{User: config.User, Network: network, Host: host, Database: config.Database}, nil
}
