package mysql

import (
	"context"
	sqldriver "database/sql/driver"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// session is a session that can take the storage's shorter ways of a first load.
type session struct {
	*sqlkit.Session
	setup *setup
	begun bool // a shorter way is taken
}

// Session opens a session.
func (d *db) Session(ctx context.Context) (engine.Session, error) {
	if d.strange != nil {
		return nil, d.strange
	}
	s, err := d.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.checkSession(ctx, s); err != nil {
		_ = s.Close()
		return nil, err
	}
	return &session{Session: s, setup: d.setup}, nil
}

// Prepare readies an operation.
func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Load && !s.begun && (s.setup.skipUnique || s.setup.bulkLoad) {
		if err := s.begin(ctx); err != nil {
			return nil, err
		}
	}
	return s.Session.Prepare(ctx, op)
}

func (s *session) begin(ctx context.Context) error {
	s.begun = true
	if s.setup.skipUnique {
		if err := s.set(ctx, "unique_checks = 0"); err != nil {
			return err
		}
	}
	if !s.setup.bulkLoad {
		return nil
	}
	// Secondary indexes come in an order of their own.
	for _, name := range []string{"rocksdb_bulk_load_allow_sk = 1", "rocksdb_bulk_load_allow_unsorted = 1", "rocksdb_bulk_load = 1"} {
		if err := s.set(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// EndLoad makes the rows of a bulk load part of the table.
func (s *session) EndLoad(ctx context.Context) error {
	if !s.begun {
		return nil
	}
	s.begun = false
	if s.setup.bulkLoad {
		if err := s.set(ctx, "rocksdb_bulk_load = 0"); err != nil {
			return err
		}
	}
	if s.setup.skipUnique {
		return s.set(ctx, "unique_checks = 1")
	}
	return nil
}

func (s *session) set(ctx context.Context, assignment string) error {
	_, err := s.Conn().(sqldriver.ExecerContext).ExecContext(ctx, "SET SESSION "+assignment, nil)
	return classify(err)
}
