// Package mongodb is MongoDB as an engine: a mongod that is started on a private
// directory, or a server that speaks its protocol and is attached to by a DSN.
//
// The driver connects, authenticates and keeps sessions. Operations are commands whose unchanging
// parts are built once, as BSON; they do not use the driver's collections, cursors and codecs.
package mongodb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

// Info describes the engine on a server that is not a replica set.
func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "mongodb",
		Structure:    "documents in WiredTiger B-trees, server",
		Doc:          "MongoDB, a private mongod named by binary: or one that runs already.",
		Version:      "mongo-driver " + engine.ModuleVersion("go.mongodb.org/mongo-driver/v2"),
		Capabilities: []model.Capability{model.CapUnique, model.CapResults},
		Enabling:     map[model.Capability]string{model.CapTransactions: "options." + optReplicaSet + ": true"},
		Options:      knownOptions,
		Promises:     promises,
		Aliases:      []string{"mongo", "mongod"},
		Servers:      rules.Kinds,
		Files:        engine.WiredTigerFiles,
		SpaceFactor:  6,
		SpaceBase:    400 << 20, // the journal's files are preallocated
	}
}

// InfoOf adds transactions for a replica set.
func (e Engine) InfoOf(c engine.Config) engine.Info {
	i := e.Info()
	if c.Server.DSN != "" {
		i.Enabling[model.CapTransactions] = "replicaSet=NAME in the dsn"
	}
	if replicaSet(c) {
		i.Capabilities = append(i.Capabilities, model.CapTransactions)
		i.SpaceBase += oplogBytes
	}
	return i
}

// replicaSet reports whether the plan declares the server a replica set, which
// transactions need.
func replicaSet(c engine.Config) bool {
	if c.Server.DSN == "" {
		return c.ReadOptions().Bool(optReplicaSet, false)
	}
	s, err := parseDSN(c.Server.DSN)
	return err == nil && s.ReplicaSet != ""
}

const (
	optReplicaSet = "replica_set"
	replicaName   = "rumbench" // of a private replica set
	oplogBytes    = 1 << 30    // the server's own choice depends on the disk
)

var knownOptions = []engine.Option{
	{Name: optReplicaSet, Type: "bool",
		Doc: "start a replica set of one node, which transactions need; every write is in the oplog, too (default false)"},
	{Name: "any option of mongod", Type: "as on its command line",
		Doc: "given to the private server verbatim, such as oplogSize: 2048"},
	{Name: "setParameter.NAME", Type: "as in mongod's manual",
		Doc: "a server parameter, such as setParameter.wiredTigerConcurrentWriteTransactions: 64"},
}

var rules = &serverkit.Rules{
	Kinds: []string{server.Mongod}, Options: knownOptions, Plain: func(name string) string { return name },
	Unlisted: regexp.MustCompile(`^setParameter\.\w+$`), On: "", Off: "false",
	Fixed: []string{
		"dbpath", "directoryperdb", "logpath", "syslog", "fork", "config", "pidfilepath", "unixSocketPrefix", "nounixsocket",
		"replSet", "shutdown",
	},
	Opening: []string{"bind_ip", "bind_ip_all"},
}

// levels are the durabilities that a write can request, with whether it waits for the journal.
var levels = map[model.Durability]bool{model.DurabilityNone: false, model.DurabilityInterval: false,
	model.DurabilityOS: true}

// promises describe the journal, which all levels have.
var promises = map[model.Durability]string{
	model.DurabilityNone: "nothing is promised: writes do not wait for the journal (j: false), which the server " +
		"writes and syncs every 100 ms",
	model.DurabilityInterval: "any crash loses at most about the last second of commits: writes do not wait for the " +
		"journal, which is synced every 100 ms",
}

// setup is a configuration that has been checked.
type setup struct {
	*serverkit.Setup
	replica bool // the server is to be a replica set
	journal bool // writes wait for the journal
}

func (Engine) Check(c engine.Config) error {
	_, err := newSetup(context.Background(), c)
	return err
}

func newSetup(ctx context.Context, c engine.Config) (_ *setup, err error) {
	if err := cmp.Or(checkKnobs(c), checkSchema(c.Schema)); err != nil {
		return nil, err
	}
	s := &setup{replica: replicaSet(c), journal: levels[c.Durability]}
	if s.Setup, err = rules.Check(ctx, c); err != nil {
		return nil, err
	}
	if s.Attached() {
		if _, err := parseDSN(c.Server.DSN); err != nil {
			return nil, &engine.KnobError{Knob: "dsn", Reason: err.Error(), Err: err}
		}
		return s, nil
	}
	set := func(name string, value any) {
		s.Settings = append(s.Settings, server.Setting{Name: name, Value: fmt.Sprint(value)})
	}
	set(server.ServerParameter+"diagnosticDataCollectionEnabled", false) // it would write every second
	if s.Cache != 0 {
		set("wiredTigerCacheSizeGB", fmt.Sprintf("%.6f", float64(s.Cache)/(1<<30)))
	}
	if s.replica {
		set("replSet", replicaName)
		if !s.Sets("oplogSize") {
			set("oplogSize", oplogBytes>>20)
		}
	}
	s.Settings = append(s.Settings, s.Variables...)
	return s, nil
}

func checkKnobs(c engine.Config) error {
	const minCache = 256 << 20 // of wiredTigerCacheSizeGB
	schema := cmp.Or(c.Server.Schema, engine.DefaultSchema)
	reserved := slices.Contains([]string{"admin", "local", "config"}, schema) ||
		strings.ContainsAny(schema, "/\\. \"$\x00") || len(schema) > 63
	_, found := levels[c.Durability]
	compressors := []model.Compression{"", model.CompressionNone, model.CompressionSnappy, model.CompressionZlib,
		model.CompressionZstd}
	_, own := c.Options[optReplicaSet]
	o := c.ReadOptions()
	o.Bool(optReplicaSet, false)
	var isolations []model.Isolation
	if replicaSet(c) {
		isolations = append(isolations, model.RepeatableRead)
	}
	return cmp.Or(
		engine.RefuseIf(!found, "durability", c.Durability,
			"a write waits for the journal on disk (os) or not at all (none, interval): choose one of these three"),
		engine.Choose("storage", cmp.Or(c.Storage, "wiredTiger"), "wiredTiger"),
		engine.RefuseIf(!slices.Contains(compressors, c.Compression), "compression", c.Compression,
			"the server compresses with snappy, zlib, zstd or not at all"),
		engine.RefuseIf(c.Page != 0, "page", c.Page, "the server has no setting for it"),
		engine.RefuseIf(c.Direct(), "direct_io", true, "the server uses the page cache"),
		engine.RefuseIf(c.Cache != 0 && c.Cache < minCache, "cache", c.Cache, "it must be at least %d bytes", minCache),
		engine.RefuseIf(c.Protocol == engine.Text, "protocol", c.Protocol, "commands are always BSON; leave it out"),
		engine.RefuseIf(reserved, "schema", schema, "it must be a valid name of a database, and not one of the server's own"),
		engine.RefuseIf(own && c.Server.DSN != "", "options."+optReplicaSet, nil, serverkit.NeverSet),
		o.Err, c.CheckIsolation(isolations...))
}

// checkSchema refuses names that have a different meaning in a document, and orders that
// BSON does not support.
func checkSchema(s model.Schema) error {
	for _, t := range s.Tables {
		names, ordered := append(t.ColumnNames(), t.Name), t.Key
		for _, ix := range t.Indexes {
			ordered = slices.Concat(ordered, ix.Columns)
		}
		for _, name := range names {
			if name == idField || strings.ContainsAny(name, ".$") {
				return fmt.Errorf("table %s: %q cannot be the name of a collection or a field", t.Name, name)
			}
		}
		for _, name := range ordered {
			if t.Columns[t.Column(name)].Type == model.Bytes {
				return fmt.Errorf("table %s: column %s is of type bytes, which the server orders by length: it cannot be part "+
					"of a key or an index", t.Name, name)
			}
		}
	}
	return nil
}

func (Engine) ReadDSN(dsn string) (engine.Address, error) {
	s, err := parseDSN(dsn)
	if err != nil {
		return engine.Address{}, err
	}
	a := engine.Address{User: s.Username, Network: "tcp", Host: s.Hosts[0], Database: s.Database}
	if strings.HasSuffix(a.Host, ".sock") {
		a.Network = "unix"
	}
	return a, nil
}

// parseDSN reads a connection string of one server. Its errors show no part of it.
func parseDSN(dsn string) (*connstring.ConnString, error) {
	if strings.HasPrefix(dsn, connstring.SchemeMongoDBSRV) {
		return nil, hint.Errorf("name the host of the primary: mongodb://USER@HOST:PORT/",
			"a mongodb+srv: string does not name one server")
	}
	s, err := connstring.ParseAndValidate(dsn)
	switch {
	case err != nil:
		return nil, hint.With(errors.New("it is not a connection string of MongoDB"),
			"write it as mongodb://USER:PASSWORD@HOST:PORT/?authSource=admin")
	case len(s.Hosts) != 1:
		return nil, hint.Errorf("name the host of the primary only, with replicaSet=NAME",
			"it names %d servers, and one is measured", len(s.Hosts))
	}
	return s, nil
}
