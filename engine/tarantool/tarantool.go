// Package tarantool is Tarantool as an engine, with storage memtx, which holds all data
// in memory, or vinyl, an LSM tree: a server that is started on a private directory, or
// attached to by a DSN.
//
// Operations that a single request of its protocol (engine/tarantool/iproto) cannot
// express are functions in Lua, which rumbench.lua loads into the server.
package tarantool

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

// The storages.
const (
	memtx = "memtx"
	vinyl = "vinyl"
)

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:      "tarantool",
		Structure: "B-tree in memory with a log (memtx) or LSM tree (vinyl), server",
		Doc: "Tarantool, from release 2.6 on, with the storage that the plan names: memtx (the usual one; all data is in " +
			"memory) or vinyl; " +
			"one thread of the server executes all operations.",
		Version:      "protocol of 2.6",
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Storages:     []string{memtx, vinyl},
		Servers:      rules.Kinds,
		Files:        files,
		SpaceFactor:  6,
		SpaceBase:    64 << 20,
		Promises:     promises,
	}
}

// InfoOf describes the engine with one storage.
func (e Engine) InfoOf(c engine.Config) engine.Info {
	i := e.Info()
	if c.Storage == vinyl {
		i.Structure = "vinyl, LSM tree, server"
		return i
	}
	i.Structure = "memtx, B-tree in memory with a log, server"
	if c.Durability == model.DurabilityNone {
		i.Forgets = "at durability none it has no log, and a server that stops loses all rows since the last checkpoint"
	}
	i.Capabilities = slices.DeleteFunc(i.Capabilities, func(c model.Capability) bool { return c == model.CapTransactions })
	return i
}

var options = []engine.Option{
	{Name: "any setting of the server", Type: "as in box.cfg",
		Doc: "written into the private server's configuration, such as memtx_memory: 2GiB, vinyl_memory or " +
			"checkpoint_wal_threshold"},
}

// promises describe the losses of a server that does not sync its log: the records about
// checkpoints are lost too.
var promises = map[model.Durability]string{
	model.DurabilityNone: "nothing is promised; there is no log, and all since the last checkpoint is lost when the " +
		"server is killed",
	model.DurabilityProcess: "commits survive kill -9 of the server; a crash of the operating system may lose the " +
		"whole database",
}

// rules define which parts of a configuration are accepted.
var rules = &serverkit.Rules{
	Kinds: []string{server.Tarantool}, Options: options, Plain: strings.ToLower, On: "true", Off: "false",
	Fixed: []string{
		"listen", "work_dir", "memtx_dir", "vinyl_dir", "wal_dir", "pid_file", "log", "log_format", "background", "username",
		"feedback_enabled",
	},
}

func (Engine) Check(c engine.Config) error {
	_, err := newSetup(context.Background(), c)
	return err
}

// setup is a configuration that has been checked.
type setup struct {
	*serverkit.Setup
	address address // of the attached server
}

func newSetup(ctx context.Context, c engine.Config) (_ *setup, err error) {
	c.Storage = cmp.Or(c.Storage, memtx)
	if err := checkKnobs(c); err != nil {
		return nil, err
	}
	s := &setup{}
	if s.Setup, err = rules.Check(ctx, c); err != nil {
		return nil, err
	}
	if s.Attached() {
		s.address, err = parseDSN(c.Server.DSN)
		return s, err
	}
	for i, v := range s.Variables {
		if n, err := quantity.ParseSize(v.Value); err == nil { // such as 64MiB
			s.Variables[i].Value = strconv.FormatInt(n, 10)
		}
	}
	s.Settings = append(s.knobSettings(), s.Variables...) // these override all others
	return s, nil
}

// walModes are the settings that implement the levels.
var walModes = map[model.Durability]string{
	model.DurabilityNone: "none", model.DurabilityProcess: "write", model.DurabilityOS: "fsync",
}

const smallestPage = 512

func checkKnobs(c engine.Config) error {
	inVinyl := c.Storage == vinyl
	isolations := []model.Isolation{model.Serializable}
	compression := model.CompressionZstd
	if !inVinyl {
		isolations, compression = nil, model.CompressionNone
	}
	return cmp.Or(
		engine.Choose("storage", c.Storage, memtx, vinyl),
		engine.RefuseIf(walModes[c.Durability] == "", "durability", c.Durability,
			"the server's log is off, written or synced at a commit: none, process or os"),
		engine.RefuseIf(inVinyl && c.Durability == model.DurabilityNone, "durability", c.Durability,
			"vinyl makes no tables without a log; only process is possible"),
		engine.RefuseIf(inVinyl && c.Durability == model.DurabilityOS, "durability", c.Durability,
			"vinyl does not sync the list of its files: after a power cut that follows a dump the server does not start; "+
				"only process is possible"),
		engine.RefuseIf(!inVinyl && c.Cache != 0, "cache", nil,
			"memtx holds all data in memory: set memtx_memory under options"),
		engine.RefuseIf(!inVinyl && c.Page != 0, "page", nil, "memtx has no pages"),
		engine.RefuseIf(c.Page != 0 && c.Page < smallestPage, "page", c.Page, "it must be at least %d", smallestPage),
		engine.RefuseIf(c.Compression != "" && c.Compression != compression, "compression", c.Compression,
			"%s always has %s", c.Storage, compression),
		engine.RefuseIf(c.Direct(), "direct_io", true, "the server always uses the page cache"),
		engine.RefuseIf(c.Protocol == engine.Text, "protocol", c.Protocol, "requests are binary"),
		engine.RefuseIf(strings.Contains(c.Server.Schema, "."), "schema", c.Server.Schema, "it must not contain a dot"),
		c.CheckIsolation(isolations...))
}

// knobSettings returns the settings that the common knobs make, and those that every
// private server has: checkpoints are made by Settle, and when the log requires one.
func (s *setup) knobSettings() []server.Setting {
	out := []server.Setting{{Name: "wal_mode", Value: walModes[s.Durability]}, {Name: "checkpoint_interval", Value: "0"},
		{Name: "checkpoint_count", Value: "1"}}
	if s.Cache != 0 {
		out = append(out, server.Setting{Name: "vinyl_cache", Value: strconv.FormatInt(s.Cache, 10)})
	}
	if s.Page != 0 {
		out = append(out, server.Setting{Name: "vinyl_page_size", Value: strconv.FormatInt(s.Page, 10)})
	}
	return out
}

// address is the server's address and the user.
type address struct {
	network, host, user, password string
	dsn                           string // its secrets are hidden in errors
}

// parseDSN reads a data source name as Tarantool's connectors do. The error does not show
// the name: it may contain a password.
func parseDSN(dsn string) (a address, err error) {
	tail := strings.TrimPrefix(dsn, "tarantool://")
	a.user, a.dsn = "guest", dsn
	if position := strings.LastIndexByte(tail, '@'); position >= 0 {
		a.user, a.password, _ = strings.Cut(tail[:position], ":")
		tail = tail[position+1:]
	}
	a.network, a.host = "tcp", tail
	if path := strings.TrimPrefix(tail, "unix/:"); strings.HasPrefix(path, "/") {
		a.network, a.host = "unix", path
		return a, nil
	}
	if _, port, err := net.SplitHostPort(tail); err != nil || strings.Contains(port, "/") {
		return a, engine.Refuse("dsn", nil,
			"it cannot be read; it is written USER:PASSWORD@HOST:PORT, with unix/:/PATH instead of HOST:PORT for a socket")
	}
	return a, nil
}

func (Engine) ReadDSN(dsn string) (engine.Address, error) {
	a, err := parseDSN(dsn)
	if err != nil {
		return engine.Address{}, err
	}
	return engine.Address{User: a.user, Network: a.network, Host: a.host}, nil
}
