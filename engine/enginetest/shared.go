package enginetest

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"rumbench/engine"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/model"
)

// Shared is a private server that databases attach to, each with a separate schema:
// cases that neither kill a server nor configure it need not start one each.
type Shared struct {
	config   engine.Config
	endpoint server.Endpoint
	opened   atomic.Int64
}

// Share starts a private server until the test's end, as an engine does for a
// configuration.
func Share(t testing.TB, e engine.Engine, c engine.Config) *Shared {
	t.Helper()
	c.Dir = need.TempDir(t)
	db, err := e.Open(t.Context(), c)
	check(t, err)
	t.Cleanup(func() { Discard(db) })
	at := db.(interface{ Endpoint() server.Endpoint }).Endpoint()
	return &Shared{config: guest(e, c, DSN(e, at)), endpoint: at}
}

// Discard closes a database that no one needs any more. A private server is killed: some
// take seconds to stop.
func Discard(db engine.DB) {
	if private, ok := db.(interface{ Kill() }); ok {
		private.Kill()
	}
	_ = db.Close()
}

// guest returns the configuration that attaches to a private server of a
// configuration: without what only configures the server.
func guest(e engine.Engine, c engine.Config, dsn string) engine.Config {
	own := e.Info().Options
	c.Options = maps.Clone(c.Options)
	maps.DeleteFunc(c.Options, func(name string, _ any) bool {
		return !slices.ContainsFunc(own, func(o engine.Option) bool { return o.Name == name })
	})
	c.Dir, c.Cache, c.Page, c.DirectIO, c.Server = "", 0, 0, nil, engine.ServerConfig{DSN: dsn}
	return c
}

// Config returns the configuration of a new database on the server.
func (s *Shared) Config(schema model.Schema) engine.Config {
	c := s.config
	c.Schema, c.Server.Schema = schema, fmt.Sprint("shared", s.opened.Add(1))
	return c
}

// DSN returns the data source name of a server that an engine can attach to, as its
// superuser.
func DSN(e engine.Engine, at server.Endpoint) string {
	switch kinds := e.Info().Servers; {
	case slices.Contains(kinds, server.Postgres):
		return fmt.Sprintf("host=%s port=%d user=%s dbname=postgres", filepath.Dir(at.Socket), at.Port, at.User)
	case slices.Contains(kinds, server.Tarantool):
		return "unix/:" + at.Socket
	case slices.Contains(kinds, server.Mongod):
		return "mongodb://" + url.PathEscape(at.Socket) + "/"
	}
	return fmt.Sprintf("%s@unix(%s)/", at.User, at.Socket)
}
