package postgres

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// Every session has the level that was asked for, and results show it.
func TestIsolation(t *testing.T) {
	server, _ := hosted(t)
	said := map[model.Isolation]string{model.ReadUncommitted: "read committed (the server does not implement read uncommitted)"}
	for _, level := range model.Isolations() {
		c := guest(server)
		c.Isolation = level
		d := open(t, c)
		for range 2 {
			s := newSession(t, d)
			prepare(t, s, model.Op{Kind: model.Begin}).OK()
			must(t, s.Query(t.Context(), "SHOW transaction_isolation", func(row []string) error {
				if got := row[0]; got != levelName(level) {
					t.Errorf("%s: a transaction has %s", level, got)
				}
				return nil
			}))
			prepare(t, s, model.Op{Kind: model.Rollback}).OK()
		}
		settings, err := d.Settings(t.Context())
		must(t, err)
		if said[level] == "" {
			said[level] = levelName(level)
		}
		if !slices.Contains(settings, engine.Setting{Name: "isolation", Value: said[level], Source: engine.ReadBack}) {
			t.Errorf("%s: settings %v", level, settings)
		}
		must(t, d.Close())
	}
}

// A session whose level is not the one asked for is refused.
func TestIsolationIsCompared(t *testing.T) {
	server, _ := hosted(t)
	c := guest(server)
	c.Isolation = model.ReadCommitted
	d := open(t, c)
	d.Connector = ignoring{d.Connector, "isolation = 'read committed'", "isolation = 'serializable'"}
	_, err := d.Session(t.Context())
	if knob, ok := errors.AsType[*engine.KnobError](err); !ok || knob.Knob != "isolation" {
		t.Errorf("got %v", err)
	}
}

// ignoring connects through what changes a setting on its way.
type ignoring struct {
	serverkit.Connector
	setting, instead string
}

func (i ignoring) Connect(ctx context.Context) (sqlkit.Conn, error) {
	c, err := i.Connector.Connect(ctx)
	return ignoringConn{c, i}, err
}

type ignoringConn struct {
	sqlkit.Conn
	ignoring
}

func (c ignoringConn) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	return c.Conn.ExecText(ctx, strings.ReplaceAll(text, c.setting, c.instead))
}
