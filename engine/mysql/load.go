package mysql

import (
	"context"
	"errors"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// way is a shortcut for a first load: the variables that begin and end it.
type way struct{ on, off []string }

// The shortcuts. In bulk mode, secondary indexes are filled in their own order, and the
// rows become part of the table at the end.
var (
	withoutUnique = way{[]string{"unique_checks = 0"}, []string{"unique_checks = 1"}}
	inBulk        = way{
		[]string{"rocksdb_bulk_load_allow_sk = 1", "rocksdb_bulk_load_allow_unsorted = 1", "rocksdb_bulk_load = 1"},
		[]string{"rocksdb_bulk_load = 0"},
	}
)

// session is a session that can take shortcuts in a first load.
type session struct {
	*sqlkit.Session
	ways  []way
	begun bool
}

func (d *db) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	return &session{Session: s, ways: d.ways}, nil
}

func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Load && !s.begun {
		s.begun = true
		for _, w := range s.ways {
			if err := s.set(ctx, w.on); err != nil {
				return nil, err
			}
		}
	}
	return s.Session.Prepare(ctx, op)
}

func (s *session) EndLoad(ctx context.Context) (err error) {
	if s.begun {
		s.begun = false
		for _, w := range s.ways {
			err = errors.Join(err, s.set(ctx, w.off))
		}
	}
	return err
}

func (s *session) set(ctx context.Context, assignments []string) error {
	return s.Exec(ctx, "SET SESSION "+strings.Join(assignments, ", SESSION "))
}
