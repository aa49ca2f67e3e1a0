package mysql

import (
	"context"

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
	s, err := d.NewSession(ctx)
	if err != nil {
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

// The variables of a first load, at its beginning and its end. Secondary
// indexes come in an order of their own.
var (
	bulkLoadOn  = []string{"rocksdb_bulk_load_allow_sk = 1", "rocksdb_bulk_load_allow_unsorted = 1", "rocksdb_bulk_load = 1"}
	bulkLoadOff = []string{"rocksdb_bulk_load = 0"} // makes the rows part of the table
)

func (s *session) begin(ctx context.Context) error {
	s.begun = true
	return s.load(ctx, "unique_checks = 0", bulkLoadOn)
}

// EndLoad ends the shorter ways.
func (s *session) EndLoad(ctx context.Context) error {
	if !s.begun {
		return nil
	}
	s.begun = false
	return s.load(ctx, "unique_checks = 1", bulkLoadOff)
}

func (s *session) load(ctx context.Context, unique string, bulk []string) error {
	var all []string
	if s.setup.skipUnique {
		all = append(all, unique)
	}
	if s.setup.bulkLoad {
		all = append(all, bulk...)
	}
	for _, assignment := range all {
		if err := s.Exec(ctx, "SET SESSION "+assignment); err != nil {
			return err
		}
	}
	return nil
}
