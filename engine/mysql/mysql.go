// Package mysql is MySQL and MariaDB as an engine, with any storage that the
// server has: InnoDB, MyRocks, Aria, MyISAM. The server is started on a private
// directory, or attached to by a DSN.
//
// What it shares with other SQL databases is in sqlkit, how servers are started
// in internal/server. Here are the dialect, the settings of each storage, what
// can be measured, and how the server is brought to rest.
package mysql

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"rumbench/engine"
	"rumbench/internal/server"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

// Info describes the engine.
func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "mysql",
		Structure:    "B-tree (innodb) or LSM tree (rocksdb), server",
		Doc:          "MySQL and MariaDB with the storage that the plan names: innodb (the usual one), rocksdb (MyRocks), aria, myisam or another that the server has.",
		Version:      "go-sql-driver/mysql " + engine.ModuleVersion("github.com/go-sql-driver/mysql"),
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Servers:      []string{server.MariaDB, server.MySQL},
		SpaceFactor:  5,
		SpaceBase:    512 * mb,
	}
}

// InfoOf describes the engine with one storage.
func (e Engine) InfoOf(c engine.Config) engine.Info {
	i, s := e.Info(), storageOf(c.Storage)
	i.Structure = s.name
	if s.structure != "" {
		i.Structure += ", " + s.structure
	}
	if len(s.isolations) == 0 {
		i.Capabilities = slices.DeleteFunc(i.Capabilities, func(c model.Capability) bool { return c == model.CapTransactions })
	}
	return i
}

// Promise says what the levels mean of the storage.
func (Engine) Promise(c engine.Config) string { return storageOf(c.Storage).promises[c.Durability] }

const (
	optSkipUnique = "skip_unique_checks"
	optBulkLoad   = "bulk_load"
)

// options are rumbench's own; all others are variables of the server.
var options = []engine.Option{
	{Name: optSkipUnique, Type: "bool", Doc: "the inserts of a first load do not look whether their keys exist (session variable unique_checks = 0), where the storage can leave it out (default false)"},
	{Name: optBulkLoad, Type: "bool", Doc: "the inserts of a first load write sorted files past the memtable (rocksdb only; one client per table); not a rate of inserts that others can be compared with (default false)"},
	{Name: optWaits, Type: "bool", Doc: "a private server times every wait of its sessions (performance_schema with all wait instruments), which costs some of its throughput: a configuration of its own, to be compared with none that has it not (default false)"},
	{Name: "any variable of the server", Type: "as in its configuration file", Doc: "written into the private server's configuration verbatim, such as innodb_log_file_size: 1G"},
}

// Check tells whether the configuration can be honoured.
func (Engine) Check(c engine.Config) error {
	_, err := newSetup(context.Background(), c)
	return err
}

// setup is a configuration that has been checked.
type setup struct {
	engine.Config
	storage    *storage
	program    server.Program // none when attached
	dsn        *driver.Config // nil: a private server
	settings   []server.Setting
	skipUnique bool
	bulkLoad   bool
	waits      bool // are timed
}

func newSetup(ctx context.Context, c engine.Config) (*setup, error) {
	s := &setup{Config: c, storage: storageOf(c.Storage)}
	s.Server.Schema = cmp.Or(c.Server.Schema, engine.DefaultSchema)
	var err error
	if s.skipUnique, err = c.BoolOption(optSkipUnique, false); err != nil {
		return nil, err
	}
	if s.bulkLoad, err = c.BoolOption(optBulkLoad, false); err != nil {
		return nil, err
	}
	if s.waits, err = c.BoolOption(optWaits, false); err != nil {
		return nil, err
	}
	if s.bulkLoad && s.storage.name != rocksdb.name {
		return nil, &engine.KnobError{Knob: "options." + optBulkLoad, Value: "true", Reason: "only storage rocksdb has a bulk load"}
	}
	if c.Server.DSN != "" {
		return s, s.attach()
	}
	return s, s.private(ctx)
}

// variables are the options that are the server's own.
func (s *setup) variables() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Options)), func(name string) bool { return name == optSkipUnique || name == optBulkLoad || name == optWaits })
}

// attach checks a configuration for a server that runs already.
func (s *setup) attach() (err error) {
	if s.dsn, err = parseDSN(s.Server.DSN); err != nil {
		return err
	}
	const never = "a server that is attached to is never configured: set it there, and leave it out here"
	switch {
	case s.Server.Kind != "":
		return &engine.KnobError{Knob: "server", Value: s.Server.Kind, Reason: "a target has a dsn, or a server to start, not both"}
	case s.Server.Binary != "":
		return &engine.KnobError{Knob: "binary", Value: s.Server.Binary, Reason: "a target has a dsn, or a server to start, not both"}
	case s.Cache != 0:
		return &engine.KnobError{Knob: "cache", Reason: never}
	case s.Page != 0:
		return &engine.KnobError{Knob: "page", Reason: never}
	case s.DirectIO != nil:
		return &engine.KnobError{Knob: "direct_io", Reason: never}
	case s.Compression != "" && s.storage != innodb: // whose tables are made so, one by one
		return &engine.KnobError{Knob: "compression", Value: string(s.Compression), Reason: never}
	case s.waits:
		return &engine.KnobError{Knob: "options." + optWaits, Reason: never}
	case len(s.variables()) > 0:
		return &engine.KnobError{Knob: "options." + s.variables()[0], Reason: never}
	}
	return s.storage.check(s)
}

// private checks a configuration for a server of our own and makes its settings.
func (s *setup) private(ctx context.Context) (err error) {
	if s.Server.Kind == "" {
		s.Server.Kind = server.MariaDB
	}
	if !slices.Contains(Engine{}.Info().Servers, s.Server.Kind) {
		return &engine.KnobError{Knob: "server", Value: s.Server.Kind, Reason: fmt.Sprintf("the engine runs on one of %v", Engine{}.Info().Servers)}
	}
	if s.program, err = server.Find(ctx, s.Server.Kind, s.Server.Binary); err != nil {
		knob := "server"
		if s.Server.Binary != "" {
			knob = "binary"
		}
		return &engine.KnobError{Knob: knob, Reason: err.Error(), Err: err}
	}
	known, err := server.Variables(ctx, s.program)
	if err != nil {
		return err
	}
	if err := s.storage.check(s); err != nil {
		return err
	}
	if s.storage == rocksdb && !known[rocksdbFlush] {
		return &engine.KnobError{Knob: "storage", Value: rocksdb.name, Reason: s.program.Name() + " has no MyRocks: its plugin ha_rocksdb.so is not installed", Err: noMyRocks{}}
	}
	if s.settings, err = s.storage.settings(s, known); err != nil {
		return err
	}
	if err := s.takesWaits(known); err != nil {
		return err
	}
	for _, name := range s.variables() {
		if slices.Contains(placed, strip(name)) {
			return &engine.KnobError{Knob: "options." + name, Reason: "rumbench decides where a private server keeps and finds things"}
		}
		plain := strip(name)
		if !known[plain] {
			return &engine.KnobError{Knob: "options." + name, Reason: s.program.Name() + " has no such variable", Known: knownOptions(known)}
		}
		if slices.Contains(opening, plain) || strings.HasPrefix(plain, "wsrep_") {
			if err := s.RefuseOpening(name); err != nil {
				return err
			}
		}
		value, err := text(s.Options[name])
		if err != nil {
			return &engine.KnobError{Knob: "options." + name, Value: fmt.Sprint(s.Options[name]), Reason: err.Error()}
		}
		s.settings = s.storage.override(s.settings, server.Setting{Name: strip(name), Value: value})
	}
	return nil
}

// placed are variables that say where things are, which is not the plan's to
// choose: another data directory would be another database.
var placed = []string{
	"datadir", "basedir", "tmpdir", "socket", "pid_file", "user", "chroot", "plugin_dir", "init_file", "log_error", "plugin_load_add",
	"innodb_data_home_dir", "innodb_log_group_home_dir", "innodb_undo_directory", "rocksdb_datadir", "rocksdb_wal_dir",
}

// opening are variables that let others at the server: without a password, or
// from other hosts. So do those of a cluster, which listens for its members.
var opening = []string{"skip_grant_tables", "bind_address", "admin_address", "mysqlx_bind_address", "mysqlx"}

// knownOptions are the names that could have been meant.
func knownOptions(variables map[string]bool) []engine.Option {
	out := []engine.Option{{Name: optSkipUnique}, {Name: optBulkLoad}, {Name: optWaits}}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		out = append(out, engine.Option{Name: name})
	}
	return out
}

// noMyRocks knows how to get the plugin.
type noMyRocks struct{}

func (noMyRocks) Error() string { return "the plugin of MyRocks is not installed" }

// Hint says how to get it.
func (noMyRocks) Hint() string {
	return "rumbench doctor --install prints how to install it (package " + server.MyRocksPackage + ")"
}

// text is an option as a line of the configuration file takes it.
func text(v any) (string, error) {
	switch v := v.(type) {
	case bool:
		if v {
			return "1", nil // see storage.go
		}
		return "0", nil
	case map[string]any, []any:
		return "", fmt.Errorf("it must be one value")
	}
	return fmt.Sprint(v), nil
}
