package postgres

import (
	"errors"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/engine/sqlkit/sqlkittest"
	"rumbench/internal/expect"
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
			expect.NoError(t, s.Query(t.Context(), "SHOW transaction_isolation", func(row []string) error {
				expect.Equal(t, row[0], levelName(level), level, "a transaction has")
				return nil
			}))
			prepare(t, s, model.Op{Kind: model.Rollback}).OK()
		}
		settings, err := d.Settings(t.Context())
		expect.NoError(t, err)
		if said[level] == "" {
			said[level] = levelName(level)
		}
		expect.True(t, slices.Contains(settings, engine.Setting{Name: "isolation", Value: said[level], Source: engine.ReadBack}), level, settings)
		expect.NoError(t, d.Close())
	}
}

// A session whose level is not the one asked for is refused.
func TestIsolationIsCompared(t *testing.T) {
	server, _ := hosted(t)
	c := guest(server)
	c.Isolation = model.ReadCommitted
	d := open(t, c)
	d.Connector = sqlkittest.Ignoring{Connector: d.Connector, Setting: "isolation = 'read committed'", Instead: "isolation = 'serializable'"}
	_, err := d.Session(t.Context())
	if knob, ok := errors.AsType[*engine.KnobError](err); !ok || knob.Knob != "isolation" {
		t.Errorf("got %v", err)
	}
}
