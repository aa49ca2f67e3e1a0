package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

func TestCheck(t *testing.T) {
	needServer(t)
	yes, no := true, false
	const dsn = "postgres://me@localhost/x"
	base := func() engine.Config {
		c := config(t.TempDir())
		c.Cache = 0
		return c
	}
	enginetest.CheckKnobs(t, Engine{}, base, []struct {
		Name string
		Set  func(*engine.Config)
		Knob string // refused; "" if accepted
	}{
		{"plain", func(c *engine.Config) {}, ""},
		{"all knobs", func(c *engine.Config) {
			c.Cache, c.Page, c.Compression, c.DirectIO, c.Storage, c.Server.Kind = 1<<20, 8192, model.CompressionNone, &no, "heap", "postgres"
			c.Options = map[string]any{"copy": true, "max_wal_size": "2GB", "Checkpoint_Timeout": 60, "autovacuum": false, "random_page_cost": 1.1, "auto_explain.log_min_duration": 5}
		}, ""},
		{"durability", func(c *engine.Config) { c.Durability = "often" }, "durability"},
		{"storage", func(c *engine.Config) { c.Storage = "orioledb" }, "storage"},
		{"small cache", func(c *engine.Config) { c.Cache = 1000 }, "cache"},
		{"compression", func(c *engine.Config) { c.Compression = model.CompressionZstd }, "compression"},
		{"page", func(c *engine.Config) { c.Page = 16384 }, "page"},
		{"direct input and output", func(c *engine.Config) { c.DirectIO = &yes }, "direct_io"},
		{"schema", func(c *engine.Config) { c.Server.Schema = "pg_mine" }, "schema"},
		{"unknown option", func(c *engine.Config) { c.Options = map[string]any{"speed": 9} }, "options.speed"},
		{"place", func(c *engine.Config) { c.Options = map[string]any{"unix_socket_directories": "/tmp"} }, "options.unix_socket_directories"},
		{"where backends share memory", func(c *engine.Config) { c.Options = map[string]any{"dynamic_shared_memory_type": "posix"} }, "options.dynamic_shared_memory_type"},
		{"open", func(c *engine.Config) { c.Options = map[string]any{"Listen_Addresses": "*"} }, "options.Listen_Addresses"},
		{"open, forced", func(c *engine.Config) {
			c.Options, c.Server.Force = map[string]any{"Listen_Addresses": "*"}, true
		}, ""},
		{"a line as a name", func(c *engine.Config) { c.Options = map[string]any{"include './other.conf'": 1} }, "options.include './other.conf'"},
		{"wrong type", func(c *engine.Config) { c.Options = map[string]any{"copy": "much"} }, "options.copy"},
		{"checksums", func(c *engine.Config) { c.Options = map[string]any{"data_checksums": false} }, ""},
		{"dsn and checksums", func(c *engine.Config) {
			c.Server, c.Options = engine.ServerConfig{DSN: dsn}, map[string]any{"data_checksums": true}
		}, "options.data_checksums"},
		{"list", func(c *engine.Config) { c.Options = map[string]any{"work_mem": []any{1}} }, "options.work_mem"},
		{"another server", func(c *engine.Config) { c.Server.Kind = "mariadb" }, "server"},
		{"missing program", func(c *engine.Config) { c.Server.Binary = "/no/such/postgres" }, "binary"},
		{"dsn", func(c *engine.Config) { c.Server = engine.ServerConfig{DSN: dsn} }, ""},
		{"dsn, copy", func(c *engine.Config) {
			c.Server = engine.ServerConfig{DSN: "host=/tmp user=me"}
			c.Options = map[string]any{"copy": true}
		}, ""},
		{"dsn, nonsense", func(c *engine.Config) { c.Server = engine.ServerConfig{DSN: "postgres://me:secret@[x/"} }, "dsn"},
		{"dsn and server", func(c *engine.Config) { c.Server = engine.ServerConfig{DSN: dsn, Kind: "postgres"} }, "server"},
		{"dsn and binary", func(c *engine.Config) { c.Server = engine.ServerConfig{DSN: dsn, Binary: "postgres"} }, "binary"},
		{"dsn and cache", func(c *engine.Config) { c.Server, c.Cache = engine.ServerConfig{DSN: dsn}, 1<<20 }, "cache"},
		{"dsn and page", func(c *engine.Config) { c.Server, c.Page = engine.ServerConfig{DSN: dsn}, 8192 }, "page"},
		{"dsn and direct_io", func(c *engine.Config) { c.Server, c.DirectIO = engine.ServerConfig{DSN: dsn}, &no }, "direct_io"},
		{"dsn and option", func(c *engine.Config) {
			c.Server, c.Options = engine.ServerConfig{DSN: dsn}, map[string]any{"work_mem": "1MB"}
		}, "options.work_mem"},
	})
}

// A program that is missing says how to get it.
func TestMissing(t *testing.T) {
	c := config(t.TempDir())
	c.Server.Binary = "/no/such/postgres"
	err := Engine{}.Check(c)
	var knob *engine.KnobError
	expect.True(t, errors.As(err, &knob) && knob.Knob == "binary" && strings.Contains(hint.Of(err), "binary: is the path"), err, hint.Of(err))
}

func TestLongNames(t *testing.T) {
	c := config(t.TempDir())
	c.Schema.Tables[0].Indexes[0].Name = strings.Repeat("long", 15)
	expect.Error(t, (Engine{}).Check(c), "is longer than 63")
}

// Checksums of pages are chosen for the data directory, whatever the release's own choice is.
func TestDataChecksums(t *testing.T) {
	for value, want := range map[bool]string{true: "on", false: "off"} {
		c := config(need.TempDir(t))
		c.Options = map[string]any{"data_checksums": value}
		expect.Equal(t, settings(t, open(t, c))["data_checksums"], want, value, "the server has")
	}
}

func TestSettings(t *testing.T) {
	c := config(need.TempDir(t))
	c.Durability, c.Compression = model.DurabilityOS, model.CompressionNone
	c.Options = map[string]any{"max_wal_size": "2GB", "Checkpoint_Timeout": "7min", "autovacuum": false, "wal_compression": true, "geqo_threshold": 9, "jit": "off"}
	got := settings(t, open(t, c))
	for name, want := range map[string]string{
		"durability": "os", "fsync": "on", "synchronous_commit": "on", "shared_buffers": "32MB", "block_size": "8192", "isolation": "read committed",
		"max_wal_size": "2GB", "checkpoint_timeout": "7min", "autovacuum": "off", "geqo_threshold": "9", "jit": "off", "track_io_timing": "on", "full_page_writes": "on",
		"max_connections": "1100", "server_encoding": "UTF8", "compression": "none",
	} {
		expect.True(t, got[name] == want, name, got[name], want)
	}
	expect.True(t, got["wal_compression"] != "off" && got[engine.ServerVersion] >= "12", got)
}

func settings(t *testing.T, d engine.DB) map[string]string {
	t.Helper()
	list, err := d.Settings(t.Context())
	expect.NoError(t, err)
	got := map[string]string{}
	for _, s := range list {
		expect.True(t, s.Source == engine.ReadBack || s.Source == engine.Changed || s.Name == "compression" || s.Name == "protocol",
			s, "was not read back")
		got[s.Name] = s.Value
	}
	return got
}

func TestDurabilityIsReadBack(t *testing.T) {
	c := config(need.TempDir(t))
	c.Durability = model.DurabilityNone
	d := open(t, c)
	if got := settings(t, d); got["fsync"] != "off" || got["synchronous_commit"] != "off" || got["durability"] != "none" {
		t.Errorf("%v", got)
	}
	expect.NoError(t, d.Close())
	c.Durability, c.Options = model.DurabilityOS, map[string]any{"fsync": false}
	_, err := Engine{}.Open(t.Context(), c)
	var knob *engine.KnobError
	expect.True(t, errors.As(err, &knob) && knob.Knob == "durability" && strings.Contains(err.Error(), "set durability: process"), err)
	c.Durability, c.Options = model.DurabilityInterval, nil
	d = open(t, c)
	if got := settings(t, d); got["fsync"] != "on" || got["synchronous_commit"] != "off" || got["wal_writer_delay"] != "200ms" || got["durability"] != "interval" {
		t.Errorf("%v", got)
	}
	expect.NoError(t, d.Close())
	c.Options = map[string]any{"wal_writer_delay": "1s"} // up to three seconds would be lost
	if _, err := (Engine{}).Open(t.Context(), c); !errors.As(err, &knob) || knob.Knob != "durability" || !strings.Contains(err.Error(), "keeps level none") {
		t.Error(err)
	}
}

func TestLevelOf(t *testing.T) {
	for settings, level := range map[[2]string]model.Durability{
		{"on", "on"}: "os", {"on", "remote_apply"}: "os", {"on", "local"}: "os", {"on", "off"}: "interval",
		{"off", "off"}: "none", {"off", "on"}: "process", {"off", "local"}: "process",
	} {
		expect.Equal(t, levelOf(settings[0], settings[1], 200*time.Millisecond), level, settings)
	}
	expect.Equal(t, levelOf("on", "off", 400*time.Millisecond), model.DurabilityNone,
		"a log that is synced within 1.2 s keeps level")
}

// A database that was made for other tables is refused.
func TestOtherDefinitions(t *testing.T) {
	dir := need.TempDir(t)
	d := open(t, config(dir))
	fill(t, d)
	expect.NoError(t, d.Close())
	for _, c := range []struct {
		words string
		set   func(*engine.Config)
	}{
		{"", func(c *engine.Config) {}},
		{"sale exists with another definition", func(c *engine.Config) { c.Schema.Tables[0].Columns[2].Width = 8 }},
		{"sale exists with another definition", func(c *engine.Config) { c.Schema.Tables[0].Columns[5].NotNull = false }},
		{"sale exists with another definition", func(c *engine.Config) { c.Schema.Tables[0].Columns[0].AutoCache = 0 }},
		{"link exists with another definition", func(c *engine.Config) { c.Compression = model.CompressionNone }},
		{"link_pkey exists with another definition", func(c *engine.Config) { c.Schema.Tables[1].Key = []string{"to", "from"} }},
		{"sale.market exists with another definition", func(c *engine.Config) { c.Schema.Tables[0].Indexes[0].Columns = []string{"product", "price"} }},
		{"sale.wide exists with another definition", func(c *engine.Config) { c.Schema.Tables[0].Indexes[2].Include = nil }},
		{"link.code exists with another definition", func(c *engine.Config) { c.Schema.Tables[1].Indexes[0].Unique = false }},
		{"holds link", func(c *engine.Config) { c.Schema.Tables = c.Schema.Tables[:1] }},
		{"holds link.code", func(c *engine.Config) { c.Schema.Tables[1].Indexes = nil }},
	} {
		conf := config(dir)
		c.set(&conf)
		d, err := Engine{}.Open(t.Context(), conf)
		if c.words == "" {
			expect.NoError(t, err)
			expect.NoError(t, d.Close())
		} else if err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("got %v, want %s", err, c.words)
		}
	}
}

func TestForeignDirectory(t *testing.T) {
	needServer(t)
	dir := need.TempDir(t)
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "precious"), nil, 0o644))
	expect.Refused((Engine{}).Open(t.Context(), config(dir)))(t, "it holds precious")
}

// A server that cannot start says why.
func TestWrongValue(t *testing.T) {
	needServer(t)
	c := config(need.TempDir(t))
	c.Options = map[string]any{"work_mem": "much"}
	_, err := Engine{}.Open(t.Context(), c)
	expect.True(t, err != nil && strings.Contains(err.Error(), `invalid value for parameter "work_mem"`) && strings.Contains(hint.Of(err), "verbatim"), err, hint.Of(err))
}
