package mongodb

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
	"rumbench/model"
)

// setup is a configuration that has been checked.
type setup struct {
	*serverkit.Setup
	settings []server.Setting // of the private server
	replica  bool             // the server is to be a replica set
}

var rules = &serverkit.Rules{
	Kinds: []string{server.Mongod}, Options: knownOptions, Plain: func(name string) string { return name },
	Unlisted: regexp.MustCompile(`^setParameter\.\w+$`), On: "", Off: "false",
	Fixed: []string{
		"dbpath", "directoryperdb", "logpath", "syslog", "fork", "config", "pidfilepath", "unixSocketPrefix", "nounixsocket", "replSet", "shutdown",
	},
	Opening: []string{"bind_ip", "bind_ip_all"},
}

func newSetup(ctx context.Context, c engine.Config) (_ *setup, err error) {
	if err := checkKnobs(c); err != nil {
		return nil, err
	}
	s := &setup{replica: replicaSet(c)}
	if _, err := c.BoolOption(optReplicaSet, false); err != nil {
		return nil, err
	}
	if s.Setup, err = rules.Check(ctx, c); err != nil {
		return nil, err
	}
	if !s.Attached() {
		s.settings = append(s.knobSettings(), s.Variables...)
		return s, nil
	}
	if _, own := c.Options[optReplicaSet]; own {
		return nil, engine.Refuse("options."+optReplicaSet, nil, serverkit.NeverSet)
	}
	if _, err := parseDSN(c.Server.DSN); err != nil {
		return nil, &engine.KnobError{Knob: "dsn", Reason: err.Error(), Err: err}
	}
	return s, nil
}

const (
	leastCache = 256 << 20 // of wiredTigerCacheSizeGB
	oplogBytes = 1 << 30   // the server's own choice depends on the disk
)

// levels are the durabilities that a write can ask for, with whether it waits for
// the journal.
var levels = map[model.Durability]bool{model.DurabilityNone: false, model.DurabilityInterval: false, model.DurabilityOS: true}

func checkKnobs(c engine.Config) error {
	schema := cmp.Or(c.Server.Schema, engine.DefaultSchema)
	reserved := slices.Contains([]string{"admin", "local", "config"}, schema) || strings.ContainsAny(schema, "/\\. \"$\x00") || len(schema) > 63
	_, known := levels[c.Durability]
	compressors := []model.Compression{"", model.CompressionNone, model.CompressionSnappy, model.CompressionZlib, model.CompressionZstd}
	if err := cmp.Or(
		engine.RefuseIf(!known, "durability", c.Durability, "a write waits for the journal on disk (os) or not at all (none, interval)"),
		engine.RefuseIf(c.Storage != "" && c.Storage != "wiredTiger", "storage", c.Storage, "only wiredTiger is supported"),
		engine.RefuseIf(!slices.Contains(compressors, c.Compression), "compression", c.Compression, "the server compresses with snappy, zlib, zstd or not at all"),
		engine.RefuseIf(c.Page != 0, "page", c.Page, "the server has no setting for it"),
		engine.RefuseIf(c.Direct(), "direct_io", true, "the server uses the page cache"),
		engine.RefuseIf(c.Cache != 0 && c.Cache < leastCache, "cache", c.Cache, "it must be at least %d bytes", leastCache),
		engine.RefuseIf(c.Protocol == engine.Text, "protocol", c.Protocol, "commands are always BSON; leave it out"),
		engine.RefuseIf(reserved, "schema", schema, "it must be a valid name of a database, and not one of the server's own"),
	); err != nil {
		return err
	}
	var has []model.Isolation
	if replicaSet(c) {
		has = []model.Isolation{model.RepeatableRead}
	}
	if err := c.CheckIsolation(has...); err != nil {
		return err
	}
	return checkSchema(c.Schema)
}

// checkSchema refuses names that mean something else in a document, and orders
// that BSON does not have.
func checkSchema(s model.Schema) error {
	for i := range s.Tables {
		t := &s.Tables[i]
		if strings.ContainsAny(t.Name, "$.") {
			return fmt.Errorf("table %s: the server reserves the name", t.Name)
		}
		for _, c := range t.Columns {
			if c.Name == idField || strings.ContainsAny(c.Name, ".$") {
				return fmt.Errorf("table %s: column %s cannot be the name of a field", t.Name, c.Name)
			}
		}
		ordered := slices.Clone(t.Key)
		for _, ix := range t.Indexes {
			ordered = append(ordered, ix.Columns...)
		}
		for _, name := range ordered {
			if t.Columns[t.Column(name)].Type == model.Bytes {
				return fmt.Errorf("table %s: column %s is of type bytes, which the server orders by length: it cannot be part of a key or an index", t.Name, name)
			}
		}
	}
	return nil
}

// knobSettings returns the settings that the common knobs make, and those that
// every server of ours has.
func (s *setup) knobSettings() []server.Setting {
	out := []server.Setting{{Name: server.ServerParameter + "diagnosticDataCollectionEnabled", Value: "false"}} // it writes every second
	if s.Cache != 0 {
		out = append(out, server.Setting{Name: "wiredTigerCacheSizeGB", Value: fmt.Sprintf("%.6f", float64(s.Cache)/(1<<30))})
	}
	if s.replica {
		out = append(out, server.Setting{Name: "replSet", Value: replicaName})
		if !s.Sets("oplogSize") {
			out = append(out, server.Setting{Name: "oplogSize", Value: fmt.Sprint(oplogBytes >> 20)})
		}
	}
	return out
}

// replicaName is what a private replica set is called.
const replicaName = "rumbench"
