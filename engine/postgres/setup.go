package postgres

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/engine"
	"rumbench/internal/server"
	"rumbench/model"
)

// setup is a configuration that has been checked.
type setup struct {
	engine.Config
	program  server.Program   // none when attached
	attached *pgconn.Config   // nil: a private server
	settings []server.Setting // of the private server
	copies   bool             // loads are done by COPY
}

func newSetup(ctx context.Context, c engine.Config) (*setup, error) {
	s := &setup{Config: c}
	if s.Server.Schema == "" {
		s.Server.Schema = engine.DefaultSchema
	}
	if err := s.checkKnobs(); err != nil {
		return nil, err
	}
	var err error
	if s.copies, err = c.BoolOption(optCopy, false); err != nil {
		return nil, err
	}
	if c.Server.DSN != "" {
		return s, s.attach()
	}
	return s, s.private(ctx)
}

// page is compiled into the server.
const page = 8192

// leastCache is what the server needs for itself.
const leastCache = 128 << 10

// checkKnobs refuses what no server can do.
func (s *setup) checkKnobs() error {
	switch {
	case !slices.Contains(model.Durabilities(), s.Durability):
		return &engine.KnobError{Knob: "durability", Value: string(s.Durability), Reason: fmt.Sprintf("it must be one of %v", model.Durabilities())}
	case s.Protocol != "" && !slices.Contains(engine.Protocols(), s.Protocol):
		return &engine.KnobError{Knob: "protocol", Value: string(s.Protocol), Reason: fmt.Sprintf("it must be one of %v", engine.Protocols())}
	case s.Storage != "" && s.Storage != "heap":
		return &engine.KnobError{Knob: "storage", Value: s.Storage, Reason: "only heap can be had"}
	case s.Compression != "" && s.Compression != model.CompressionNone:
		return &engine.KnobError{Knob: "compression", Value: string(s.Compression), Reason: "the server does not compress tables; only none can be had"}
	case s.Page != 0 && s.Page != page:
		return &engine.KnobError{Knob: "page", Value: strconv.FormatInt(s.Page, 10), Reason: fmt.Sprintf("it is compiled into the server; only %d can be had", page)}
	case s.DirectIO != nil && *s.DirectIO:
		return &engine.KnobError{Knob: "direct_io", Value: "true", Reason: "the server always uses the page cache"}
	case s.Cache != 0 && s.Cache < leastCache:
		return &engine.KnobError{Knob: "cache", Value: strconv.FormatInt(s.Cache, 10), Reason: fmt.Sprintf("it must be at least %d bytes", leastCache)}
	case strings.HasPrefix(s.Server.Schema, "pg_") || len(s.Server.Schema) > longestName || strings.Contains(s.Server.Schema, "\x00"):
		return &engine.KnobError{Knob: "schema", Value: s.Server.Schema, Reason: fmt.Sprintf("it must not begin with pg_, nor be longer than %d bytes", longestName)}
	}
	if err := s.CheckIsolation(model.Isolations()...); err != nil {
		return err
	}
	return checkSchema(s.Schema)
}

// variables are the options that are the server's own.
func (s *setup) variables() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Options)), func(name string) bool { return name == optCopy })
}

// attach checks a configuration for a server that runs already.
func (s *setup) attach() (err error) {
	const (
		both  = "a target has a dsn, or a server to start, not both"
		never = "a server that is attached to is never configured: set it there, and leave it out here"
	)
	switch {
	case s.Server.Kind != "":
		return &engine.KnobError{Knob: "server", Value: s.Server.Kind, Reason: both}
	case s.Server.Binary != "":
		return &engine.KnobError{Knob: "binary", Value: s.Server.Binary, Reason: both}
	case s.Cache != 0:
		return &engine.KnobError{Knob: "cache", Reason: never}
	case s.Page != 0:
		return &engine.KnobError{Knob: "page", Reason: never}
	case s.DirectIO != nil:
		return &engine.KnobError{Knob: "direct_io", Reason: never}
	case len(s.variables()) > 0:
		return &engine.KnobError{Knob: "options." + s.variables()[0], Reason: never}
	}
	s.attached, err = parseDSN(s.Server.DSN)
	return err
}

// parseDSN reads a DSN. The error does not show it: it may hold a password.
func parseDSN(dsn string) (*pgconn.Config, error) {
	config, err := attachedConfig(dsn)
	if err != nil {
		return nil, &engine.KnobError{Knob: "dsn", Reason: "it cannot be read; it is written postgres://USER:PASSWORD@HOST:PORT/DATABASE, or host=/var/run/postgresql user=USER dbname=DATABASE"}
	}
	return config, nil
}

// ReadDSN reads a DSN.
func (Engine) ReadDSN(dsn string) (engine.Address, error) {
	config, err := parseDSN(dsn)
	if err != nil {
		return engine.Address{}, err
	}
	network, host := pgconn.NetworkAddress(config.Host, config.Port)
	return engine.Address{User: config.User, Network: network, Host: host, Database: config.Database}, nil
}

// private checks a configuration for a server of our own and makes its settings.
func (s *setup) private(ctx context.Context) (err error) {
	if s.Server.Kind == "" {
		s.Server.Kind = server.Postgres
	}
	if s.Server.Kind != server.Postgres {
		return &engine.KnobError{Knob: "server", Value: s.Server.Kind, Reason: "the engine runs on server " + server.Postgres}
	}
	knob := "server"
	if s.Server.Binary != "" {
		knob = "binary"
	}
	if s.program, err = server.Find(ctx, s.Server.Kind, s.Server.Binary); err != nil {
		return &engine.KnobError{Knob: knob, Reason: err.Error(), Err: err}
	}
	major := majorOf(s.program.Version)
	if major < oldest {
		return &engine.KnobError{Knob: knob, Value: s.program.Path, Reason: fmt.Sprintf("%s is too old; %d is the oldest that can be used", s.program.Name(), oldest)}
	}
	s.settings = s.knobSettings(major)
	return s.addOptions(ctx)
}

// sessionParams adds what the knobs set for every connection.
func (s *setup) sessionParams(params map[string]string) {
	if s.Isolation != model.DefaultIsolation {
		params["default_transaction_isolation"] = levelName(s.Isolation)
	}
	if s.Protocol == engine.Text { // answers are read as these make the server write them
		params["bytea_output"], params["datestyle"], params["extra_float_digits"] = "hex", "ISO", "1"
	}
}

// oldest is the oldest release whose views and statements are known here.
const oldest = 12

func majorOf(version string) (n int) {
	fmt.Sscanf(version, "%d", &n)
	return n
}

// usualCache is what the server's own set-up program writes into its
// configuration; without that, old releases have a sixteenth of it.
const usualCache = 128 << 20

// maxConnections leaves room for the clients of most plans. Each costs some 35
// KiB of the server's memory, whether it is there or not.
const maxConnections = 1100

// knobSettings are the settings that the common knobs make, and those that
// every server of ours has.
func (s *setup) knobSettings(major int) []server.Setting {
	cache := s.Cache
	if cache == 0 {
		cache = usualCache
	}
	commit := commits[s.Durability]
	out := []server.Setting{
		{Name: "shared_buffers", Value: fmt.Sprintf("%dkB", cache/page*page/1024)},
		{Name: "fsync", Value: commit.fsync},
		{Name: "synchronous_commit", Value: commit.synchronous},
		{Name: "max_connections", Value: strconv.Itoa(maxConnections)},
		{Name: "restart_after_crash", Value: "off"}, // a server that crashed is not to go on as if nothing had been
		{Name: "track_io_timing", Value: "on"},
	}
	if major >= 14 {
		out = append(out, server.Setting{Name: "track_wal_io_timing", Value: "on"},
			// What the workers of a query share is taken from here, not from files.
			server.Setting{Name: "min_dynamic_shared_memory", Value: "32MB"})
	}
	return out
}

// commits are the settings that make the levels. A commit with
// synchronous_commit off stays in the server's own memory for up to three times
// wal_writer_delay, and is lost when its processes are killed; with it on, the
// log is written at the commit, and fsync tells whether it is synced too.
var commits = map[model.Durability]struct{ fsync, synchronous string }{
	model.DurabilityNone:     {"off", "off"},
	model.DurabilityInterval: {"on", "off"},
	model.DurabilityProcess:  {"off", "on"},
	model.DurabilityOS:       {"on", "on"},
}

// placed are settings that say where things are, which is not the plan's to
// choose: another data directory would be another database.
var placed = []string{
	"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file",
	"unix_socket_directories", "logging_collector", "dynamic_shared_memory_type",
}

// addOptions adds the settings that the plan gives. They override all others.
func (s *setup) addOptions(ctx context.Context) error {
	if len(s.variables()) == 0 {
		return nil
	}
	known, err := server.Variables(ctx, s.program)
	if err != nil {
		return err
	}
	for _, name := range s.variables() {
		plain := strings.ToLower(name) // the server takes names as it likes
		value, ok := text(s.Options[name])
		switch {
		case slices.Contains(placed, plain):
			return &engine.KnobError{Knob: "options." + name, Reason: "rumbench decides where a private server keeps and finds things"}
		case !known[plain] && !extension.MatchString(name):
			return &engine.KnobError{Knob: "options." + name, Reason: s.program.Name() + " has no such setting"}
		case !ok:
			return &engine.KnobError{Knob: "options." + name, Value: fmt.Sprint(s.Options[name]), Reason: "it must be one value"}
		}
		if slices.Contains(opening, plain) {
			if err := s.RefuseOpening(name); err != nil {
				return err
			}
		}
		s.settings = append(s.settings, server.Setting{Name: plain, Value: value})
	}
	return nil
}

// extension is what the settings of extensions are called, which the server does
// not list.
var extension = regexp.MustCompile(`^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)+$`)

// opening are settings that let others at the server.
var opening = []string{"listen_addresses", "bonjour"}

// text is an option as the configuration file takes it.
func text(v any) (string, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return "on", true
		}
		return "off", true
	case string, int, int64, uint64, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}
