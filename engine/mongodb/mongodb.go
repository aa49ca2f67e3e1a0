// Package mongodb is MongoDB as an engine: a mongod that is started on a private
// directory, or a server that speaks its protocol and is attached to by a DSN.
//
// The driver connects, authenticates and keeps sessions. Operations are commands
// whose unchanging parts are built once, as BSON; the driver's collections,
// cursors and codecs have no part in them.
package mongodb

import (
	"context"
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"rumbench/engine"
	"rumbench/internal/hint"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

// Info describes the engine on a server that is no replica set.
func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "mongodb",
		Structure:    "documents in WiredTiger B-trees, server",
		Doc:          "MongoDB, a private mongod named by binary: or one that runs already.",
		Version:      "mongo-driver " + engine.ModuleVersion("go.mongodb.org/mongo-driver/v2"),
		Capabilities: []model.Capability{model.CapUnique, model.CapResults},
		Options:      knownOptions,
		Promises:     promises,
		Aliases:      []string{"mongo", "mongod"},
		Servers:      rules.Kinds,
		SpaceFactor:  6,
		SpaceBase:    400 << 20, // the journal's files are preallocated
	}
}

// InfoOf adds transactions for a replica set.
func (e Engine) InfoOf(c engine.Config) engine.Info {
	i := e.Info()
	if replicaSet(c) {
		i.Capabilities = append(i.Capabilities, model.CapTransactions)
		i.SpaceBase += oplogBytes
	}
	return i
}

// replicaSet reports whether the plan says that the server is a replica set, which
// transactions need.
func replicaSet(c engine.Config) bool {
	if c.Server.DSN == "" {
		yes, _ := c.BoolOption(optReplicaSet, false)
		return yes
	}
	s, err := parseDSN(c.Server.DSN)
	return err == nil && s.ReplicaSet != ""
}

// optReplicaSet is rumbench's own option.
const optReplicaSet = "replica_set"

var knownOptions = []engine.Option{
	{Name: optReplicaSet, Type: "bool", Doc: "start a replica set of one node, which transactions need; every write is in the oplog, too (default false)"},
	{Name: "any option of mongod", Type: "as on its command line", Doc: "given to the private server verbatim, such as oplogSize: 2048"},
	{Name: "setParameter.NAME", Type: "as in mongod's manual", Doc: "a server parameter, such as setParameter.wiredTigerConcurrentWriteTransactions: 64"},
}

// promises say what the journal does, which all levels have.
var promises = map[model.Durability]string{
	model.DurabilityNone:     "nothing is promised: writes do not wait for the journal (j: false), which the server writes and syncs every 100 ms",
	model.DurabilityInterval: "any crash loses at most about the last second of commits: writes do not wait for the journal, which is synced every 100 ms",
}

// Check reports whether the configuration can be honoured.
func (Engine) Check(c engine.Config) error {
	_, err := newSetup(context.Background(), c)
	return err
}

// ReadDSN reads a connection string.
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

// parseDSN reads a connection string of one server. Its errors show nothing of it.
func parseDSN(dsn string) (*connstring.ConnString, error) {
	if strings.HasPrefix(dsn, connstring.SchemeMongoDBSRV) {
		return nil, hint.Errorf("name the host of the primary: mongodb://USER@HOST:PORT/", "a mongodb+srv: string does not name one server")
	}
	s, err := connstring.ParseAndValidate(dsn)
	switch {
	case err != nil:
		return nil, hint.With(errors.New("it is not a connection string of MongoDB"), "write it as mongodb://USER:PASSWORD@HOST:PORT/?authSource=admin")
	case len(s.Hosts) != 1:
		return nil, hint.Errorf("name the host of the primary only, with replicaSet=NAME", "it names %d servers, and one is measured", len(s.Hosts))
	}
	return s, nil
}
