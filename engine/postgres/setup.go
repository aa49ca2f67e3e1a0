package postgres

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
	"rumbench/model"
)

// setup is a configuration that has been checked.
type setup struct {
	*serverkit.Setup
	copies bool // loads use COPY
}

// rules define which parts of a configuration are accepted. The server accepts names in
// any case, and does not list the settings of extensions.
var rules = &serverkit.Rules{
	Kinds: []string{server.Postgres}, Options: options, Plain: strings.ToLower, Unlisted: extension, On: "on", Off: "off",
	Fixed: []string{
		"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file",
		"unix_socket_directories", "logging_collector", "dynamic_shared_memory_type",
	},
	Opening: []string{"listen_addresses", "bonjour"},
}

// extension matches the names of the settings of extensions.
var extension = regexp.MustCompile(`^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)+$`)

func newSetup(ctx context.Context, c engine.Config) (*setup, error) {
	if err := checkKnobs(c); err != nil {
		return nil, err
	}
	o := c.ReadOptions()
	s := &setup{copies: o.Bool(optCopy, false)}
	if o.Err != nil {
		return nil, o.Err
	}
	var err error
	if s.Setup, err = rules.Check(ctx, c); err != nil {
		return nil, err
	}
	_, checked := c.Options[optChecksums]
	checksums := o.Bool(optChecksums, false)
	if o.Err != nil {
		return nil, o.Err
	}
	if s.Attached() {
		if checked && !s.Server.Join {
			return nil, engine.Refuse("options."+optChecksums, checksums, serverkit.NeverSet)
		}
		for _, dsn := range c.Server.DSNs() {
			if _, err := pgwire.ParseDSN(dsn, nil); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	var major int
	if fmt.Sscanf(s.Program.Version, "%d", &major); major < oldest {
		return nil, engine.Refuse(s.ProgramKnob(), s.Program.Path, "%s is too old; %d is the oldest that can be used",
			s.Program.Name(), oldest)
	}
	s.Settings = append(s.knobSettings(major), s.Variables...) // these override all others
	if checked {
		value := map[bool]string{true: "on", false: "off"}[checksums]
		s.Settings = append(s.Settings, server.Setting{Name: optChecksums, Value: value})
	}
	return s, nil
}

// page is the page size, which is compiled into the server.
const page = 8192

// minCache is the minimum that the server needs for itself.
const minCache = 128 << 10

// checkKnobs refuses settings that no server supports.
func checkKnobs(s engine.Config) error {
	schema := s.Server.Schema
	badSchema := strings.HasPrefix(schema, "pg_") || len(schema) > longestName || strings.Contains(schema, "\x00")
	return cmp.Or(
		engine.RefuseIf(!slices.Contains(model.Durabilities(), s.Durability), "durability", s.Durability,
			"it must be one of %v", model.Durabilities()),
		engine.Choose("storage", cmp.Or(s.Storage, "heap"), "heap"),
		engine.RefuseIf(s.Compresses(), "compression", s.Compression,
			"the server does not compress tables; only none is supported"),
		engine.RefuseIf(s.Page != 0 && s.Page != page, "page", s.Page,
			"it is compiled into the server; only %d is supported", page),
		engine.RefuseIf(s.Direct(), "direct_io", true, "the server always uses the page cache"),
		engine.RefuseIf(s.Cache != 0 && s.Cache < minCache, "cache", s.Cache, "it must be at least %d bytes", minCache),
		engine.RefuseIf(badSchema, "schema", schema, "it must not begin with pg_, nor be longer than %d bytes", longestName),
		s.CheckIsolation(model.Isolations()...), checkSchema(s.Schema))
}

// sessionSetup returns the statements that set a session up. As parameters of the
// connection, poolers would refuse or ignore them.
func (s *setup) sessionSetup(d *sqlkit.Dialect) string {
	text := "SET search_path = " + d.Name(s.Server.Schema) + "; SET timezone = 'UTC'"
	if s.Isolation != model.DefaultIsolation {
		text += "; SET " + isolationSetting + " = " + d.Quoted(levelName(s.Isolation))
	}
	if s.Protocol == engine.Text { // answers are read in the form that these produce
		text += "; SET bytea_output = hex; SET datestyle = ISO; SET extra_float_digits = 1"
	}
	return text
}

// oldest is the oldest release whose views and statements are known here.
const oldest = 12

// usualCache is the size that the server's own set-up program writes into its
// configuration; without that, old releases have a sixteenth of it.
const usualCache = 128 << 20

// maxConnections is enough for the clients of most plans. Each costs about 35 KiB of the
// server's memory, whether it is in use or not.
const maxConnections = 1100

// knobSettings returns the settings that the common knobs make, and those that every
// private server has.
func (s *setup) knobSettings(major int) []server.Setting {
	cache, commit := cmp.Or(s.Cache, usualCache), commits[s.Durability]
	out := []server.Setting{
		{Name: "shared_buffers", Value: fmt.Sprintf("%dkB", cache/page*page/1024)},
		{Name: "fsync", Value: commit.fsync},
		{Name: "synchronous_commit", Value: commit.synchronous},
		{Name: "max_connections", Value: strconv.Itoa(maxConnections)},
		{Name: "restart_after_crash", Value: "off"}, // a crashed server must not continue as if nothing had happened
		{Name: "track_io_timing", Value: "on"},
	}
	if major >= 14 {
		out = append(out, server.Setting{Name: "track_wal_io_timing", Value: "on"},
			// Memory that the workers of a query share is taken from here, not from files.
			server.Setting{Name: "min_dynamic_shared_memory", Value: "32MB"})
	}
	return out
}

// commits are the settings that implement the levels. With synchronous_commit off a
// commit stays in the server's own memory for up to three times wal_writer_delay, and is
// lost when its processes are killed; with it on, the log is written at commit, and fsync
// decides whether it is also synced.
var commits = map[model.Durability]struct{ fsync, synchronous string }{
	model.DurabilityNone:     {"off", "off"},
	model.DurabilityInterval: {"on", "off"},
	model.DurabilityProcess:  {"off", "on"},
	model.DurabilityOS:       {"on", "on"},
}
