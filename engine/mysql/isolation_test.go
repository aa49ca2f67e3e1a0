package mysql

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
	owner := shared(t)
	for _, level := range model.Isolations() {
		c := attached(owner)
		c.Isolation = level
		d := attach(t, c)
		for range 2 {
			s := newSession(t, d)
			expect.NoError(t, s.(*session).Query(t.Context(), "SELECT @@tx_isolation, @@global.tx_isolation", func(row []string) error {
				if got := row[0]; got != isolationWord(level) || row[1] != "REPEATABLE-READ" {
					t.Errorf("%s: the session has %s, the server %s", level, got, row[1])
				}
				return nil
			}))
			expect.NoError(t, s.Close())
		}
		settings, err := d.Settings(t.Context())
		expect.NoError(t, err)
		expect.True(t, slices.Contains(settings, engine.Setting{Name: "isolation", Value: level.String(), Source: engine.ReadBack}), level, settings)
		expect.NoError(t, d.Close())
	}
}

func isolationWord(level model.Isolation) string {
	return map[model.Isolation]string{
		model.ReadUncommitted: "READ-UNCOMMITTED", model.ReadCommitted: "READ-COMMITTED",
		model.RepeatableRead: "REPEATABLE-READ", model.Serializable: "SERIALIZABLE",
	}[level]
}

// A session whose level is not the one asked for is refused.
func TestIsolationIsCompared(t *testing.T) {
	d := private(t, engine.Config{Isolation: model.ReadCommitted})
	d.Connector = sqlkittest.Ignoring{Connector: d.Connector, Setting: "LEVEL READ COMMITTED", Instead: "LEVEL SERIALIZABLE"}
	_, err := d.Session(t.Context())
	if knob, ok := errors.AsType[*engine.KnobError](err); !ok || knob.Knob != "isolation" {
		t.Errorf("got %v", err)
	}
}

// Storages without transactions have no levels of them.
func TestIsolationWithoutTransactions(t *testing.T) {
	for _, storage := range []string{"aria", "myisam", "memory"} {
		st := storageOf(storage)
		c := engine.Config{Isolation: model.ReadCommitted}
		for c.Durability = range st.durability {
		}
		err := st.check(c)
		if knob, ok := errors.AsType[*engine.KnobError](err); !ok || knob.Knob != "isolation" {
			t.Errorf("%s: %v", storage, err)
		}
	}
}

// MyRocks calls it a deadlock when a row has changed since the snapshot.
func TestSnapshotConflict(t *testing.T) {
	d := private(t, engine.Config{Storage: "rocksdb", Isolation: model.RepeatableRead})
	expect.NoError(t, d.CreateTables(t.Context()))
	insert(t, d, insertOp, 1)
	a, err := d.Connect(t.Context())
	expect.NoError(t, err)
	defer a.Close()
	expect.NoError(t, a.Exec(t.Context(), "BEGIN"))
	expect.NoError(t, a.Exec(t.Context(), "SELECT price FROM sale WHERE id = 1"))
	expect.NoError(t, d.Admin().Exec(t.Context(), "UPDATE sale SET price = 5 WHERE id = 1"))
	if err := a.Exec(t.Context(), "UPDATE sale SET price = 6 WHERE id = 1"); engine.ClassOf(err) != engine.Conflict {
		t.Errorf("%v of class %q", err, engine.ClassOf(err))
	}
}
