// Package mysql is MySQL and MariaDB as an engine, with any storage that the server has: InnoDB,
// MyRocks, Aria, MyISAM. The server is started on a private directory, or attached to by a DSN.
//
// The code shared with other database servers is in serverkit and sqlkit, the protocol in
// engine/mysql/mysqlwire. Here are the dialect, the settings of each storage, the
// measurements, and the code that brings the server to rest.
package mysql

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"rumbench/engine"
	"rumbench/engine/mysql/mysqlwire"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "mysql",
		Structure:    "B-tree (innodb) or LSM tree (rocksdb), server",
		Doc:          "MySQL and MariaDB with the storage that the plan names: innodb (the usual one), rocksdb (MyRocks), aria, myisam or another that the server has.",
		Version:      "go-sql-driver/mysql " + engine.ModuleVersion("github.com/go-sql-driver/mysql"),
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Variables:    variables,
		Aliases:      []string{"mysqld", "mariadbd"},
		Storages:     []string{innodb.name, rocksdb.name, "myrocks", aria.name, myisam.name},
		Servers:      rules.Kinds,
		Joins:        true,
		SpaceFactor:  5,
		SpaceBase:    512 * mb,
	}
}

// InfoOf describes the engine with one storage.
func (e Engine) InfoOf(c engine.Config) engine.Info {
	i, s := e.Info(), storageOf(c.Storage)
	i.Structure, i.Promises, i.Files = s.name, s.promises, filesOf(c)
	if slices.Contains([]string{"memory", "blackhole"}, s.name) {
		i.Forgets = "tables of storage " + s.name + " are empty after a start"
	}
	if s == innodb {
		i.DirectIO = "of MariaDB 10.6 and MySQL 8.4, and later"
	}
	if s.structure != "" {
		i.Structure += ", " + s.structure
	}
	if len(s.isolations) == 0 {
		i.Capabilities = slices.DeleteFunc(i.Capabilities, func(c model.Capability) bool { return c == model.CapTransactions })
	}
	return i
}

const (
	optSkipUnique = "skip_unique_checks"
	optBulkLoad   = "bulk_load"
)

// options are rumbench's own; all others are variables of the server.
var options = []engine.Option{
	{Name: optSkipUnique, Type: "bool", Doc: "the inserts of a first load do not look whether their keys exist (session variable unique_checks = 0), where the storage can leave it out (default false)"},
	{Name: optBulkLoad, Type: "bool", Doc: "the inserts of a first load write sorted files past the memtable (rocksdb only; one client per table); not a rate of inserts that others can be compared with (default false)"},
	{Name: optWaits, Type: "bool", Affects: engine.AspectTiming, Doc: "a private server times every wait of its sessions (performance_schema with all wait instruments), which costs some of its throughput; do not compare it with runs without it (default false)"},
	{Name: "any variable of the server", Type: "as in its configuration file", Doc: "written into the private server's configuration verbatim, such as innodb_log_file_size: 1G"},
}

// variables are the server variables that affect the names in explanations.
var variables = []engine.Option{
	{Name: "large_pages", Effect: engine.HugePages},
	{Name: "innodb_flush_method", Effect: engine.DirectIO},
	{Name: "innodb_use_native_aio", Effect: engine.AsyncIO},
	{Name: "innodb_numa_interleave", Effect: engine.Interleaving},
	{Name: "innodb_page_size", Affects: engine.AspectPageSize},
	{Name: "innodb_doublewrite", Affects: engine.AspectDoublewrite},
	{Name: "innodb_log_file_size", Affects: engine.AspectCheckpoint},
	{Name: "rocksdb_db_write_buffer_size", Affects: engine.AspectMemtable},
	{Name: "innodb_redo_log_capacity", Affects: engine.AspectCheckpoint},
	{Name: "sync_binlog", Affects: engine.AspectLogSync}, {Name: "log_bin", Affects: engine.AspectBinlog},
	{Name: "general_log", Affects: engine.AspectTextLog}, {Name: "slow_query_log", Affects: engine.AspectTextLog},
	{Name: "long_query_time", Affects: engine.AspectTextLog},
	{Name: "innodb_encrypt_tables", Affects: engine.AspectEncryption},
	{Name: "innodb_encrypt_log", Affects: engine.AspectEncryption},
	{Name: "optimizer_switch", Affects: engine.AspectPlan}, {Name: "sort_buffer_size", Affects: engine.AspectSort},
	{Name: "tmp_memory_table_size", Affects: engine.AspectSort}, {Name: "tmp_table_size", Affects: engine.AspectSort},
}

// rules define which parts of a configuration are accepted. Settings that are on or off
// are written as 1 and 0: old releases accept nothing else for some of them, and report
// that only in their log.
var rules = &serverkit.Rules{
	Kinds: []string{server.MariaDB, server.MySQL}, Options: options, Plain: strip, Fixed: fixed, Opening: opening, On: "1", Off: "0",
}

func (Engine) Check(c engine.Config) error {
	_, err := newSetup(context.Background(), c)
	return err
}

// setup is a configuration that has been checked.
type setup struct {
	*serverkit.Setup
	storage *storage
	ways    []way // of a first load
	waits   bool  // waits are timed
}

func newSetup(ctx context.Context, c engine.Config) (*setup, error) {
	o := c.ReadOptions()
	s := &setup{storage: storageOf(c.Storage), waits: o.Bool(optWaits, false)}
	skipUnique, bulkLoad := o.Bool(optSkipUnique, false), o.Bool(optBulkLoad, false)
	if o.Err != nil {
		return nil, o.Err
	}
	if bulkLoad {
		if s.storage != rocksdb {
			return nil, engine.Refuse("options."+optBulkLoad, true, "only storage rocksdb has a bulk load")
		}
		s.ways = append(s.ways, inBulk)
	}
	if skipUnique {
		s.ways = append(s.ways, withoutUnique)
	}
	for _, dsn := range c.Server.DSNs() {
		if _, err := mysqlwire.ParseDSN(dsn); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Setup, err = rules.Check(ctx, c); err != nil {
		return nil, err
	}
	if err := s.storage.check(c); err != nil {
		return nil, err
	}
	if s.Server.Join {
		s.waits = false
		return s, nil
	}
	if !s.Attached() {
		return s, s.private(ctx)
	}
	return s, cmp.Or( // InnoDB compresses each table separately
		engine.RefuseIf(s.Compression != "" && s.storage != innodb, "compression", s.Compression, serverkit.NeverSet),
		engine.RefuseIf(s.waits, "options."+optWaits, nil, serverkit.NeverSet))
}

// private makes the settings of a private server.
func (s *setup) private(ctx context.Context) error {
	known, err := s.Known(ctx)
	if err != nil {
		return err
	}
	if s.storage == rocksdb && !known[rocksdbFlush] {
		return &engine.KnobError{Knob: "storage", Value: rocksdb.name, Reason: s.Program.Name() + " has no MyRocks: its plugin ha_rocksdb.so is not installed", Err: errNoMyRocks}
	}
	if s.Settings, err = s.storage.settings(s, known); err != nil {
		return err
	}
	if s.waits {
		if !known["performance_schema"] {
			return engine.Refuse("options."+optWaits, true, "%s was built without performance_schema", s.Program.Name())
		}
		s.Settings = append(s.Settings, waitSettings...)
	}
	for _, v := range s.Variables {
		s.Settings = override(s.Settings, v)
	}
	return nil
}

var errNoMyRocks = hint.With(errors.New("the plugin of MyRocks is not installed"),
	"rumbench doctor --install prints how to install it (package "+server.MyRocksPackage+")")

// fixed are variables that hold locations.
var fixed = []string{
	"datadir", "basedir", "tmpdir", "socket", "pid_file", "user", "chroot", "plugin_dir", "init_file", "log_error", "plugin_load_add",
	"innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory", "rocksdb_datadir", "rocksdb_wal_dir",
}

// opening are variables that let others access the server: without a password, or from
// other hosts. Those of a cluster do so too, because it listens for its members.
var opening = []string{"skip_grant_tables", "bind_address", "admin_address", "mysqlx_bind_address", "mysqlx", "wsrep_"}

func (Engine) ReadDSN(dsn string) (engine.Address, error) {
	config, err := mysqlwire.ParseDSN(dsn)
	if err != nil {
		return engine.Address{}, err
	}
	return engine.Address{User: config.User, Network: config.Net, Host: config.Addr, Database: config.DBName}, nil
}
