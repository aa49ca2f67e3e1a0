package postgres

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/sqlkit"
	"rumbench/engine/wire"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

func (d *db) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	return &session{s, d}, nil
}

// session adds the parts that PostgreSQL's statements alone do not cover.
type session struct {
	*sqlkit.Session
	db *db
}

func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Kind != model.Insert {
		return s.Session.Prepare(ctx, op)
	}
	if err := s.db.Usable(op); err != nil {
		return nil, err
	}
	t, err := s.db.Schema.Table(op.Table)
	if err != nil {
		return nil, err
	}
	switch {
	case op.Load && s.db.copies && op.OnConflict == model.Fail:
		return newCopier(ctx, s, t, op)
	case op.Rows > 1 && (op.OnConflict == model.Replace || op.OnConflict == model.Add):
		return newRepeated(ctx, s, t, op)
	}
	return s.Session.Prepare(ctx, op)
}

// conn returns the session's connection, nil when it is closed.
func (s *session) conn() *pgwire.Conn {
	c, _ := s.Conn().(*pgwire.Conn)
	return c
}

// copier executes the inserts of a load with COPY, one for each batch. The numbers of its
// rows are unknown.
type copier struct {
	*pgwire.Copy
	session *session
	label   string
	want    int // arguments
}

func newCopier(ctx context.Context, s *session, t *model.Table, op *model.Op) (engine.Stmt, error) {
	d := s.db.Dialect()
	c, err := s.conn().PrepareCopy(ctx, d.Table(t.Name), strings.Join(quantity.Texts(op.Columns, d.Name), ", "))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Label(), err)
	}
	return &copier{c, s, op.Label(), op.Args(t)}, nil
}

func (s *copier) Exec(ctx context.Context, args []model.Value, r *engine.Result) (err error) {
	r.Reset()
	if s.session.conn() == nil {
		return sqlkit.ErrClosed
	}
	if len(args) != s.want {
		return fmt.Errorf("%s: %d arguments given, %d wanted", s.label, len(args), s.want)
	}
	if r.Rows, err = s.Copy.Exec(ctx, args); err != nil {
		r.Reset()
		return fmt.Errorf("%s: %w", s.label, err)
	}
	return nil
}

// repeated is an insert that updates existing rows. The server refuses to change a row twice in
// one statement, so rows whose key occurs twice are inserted one by one, in one transaction.
type repeated struct {
	session  *session
	all, one engine.Stmt
	width    int   // values of a row
	key      []int // the positions of the key's columns in a row
	seed     maphash.Seed
	hashes   []uint64
	buf      []byte
	single   engine.Result
}

func newRepeated(ctx context.Context, s *session, t *model.Table, op *model.Op) (engine.Stmt, error) {
	all, err := s.Session.Prepare(ctx, op)
	if err != nil {
		return nil, err
	}
	r := &repeated{session: s, all: all, width: len(op.Columns), seed: maphash.MakeSeed()}
	for _, k := range t.Key {
		i := slices.Index(op.Columns, k)
		if i < 0 { // the server numbers the rows, so they have no conflict
			return all, nil
		}
		r.key = append(r.key, i)
	}
	single := *op
	single.Rows = 1
	r.one, err = s.Session.Prepare(ctx, &single)
	return r, err
}

func (s *repeated) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if !s.repeats(args) {
		return s.all.Exec(ctx, args, r)
	}
	r.Reset()
	c := s.session.conn()
	if c == nil {
		return sqlkit.ErrClosed
	}
	if c.InTransaction() { // if a row fails, the transaction does
		return s.rows(ctx, args, r)
	}
	if err := s.session.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	lasting := &wire.Lasting{Until: ctx}
	if err := s.rows(ctx, args, r); err != nil {
		_ = s.session.Exec(lasting, "ROLLBACK") // the row's error is the one that matters
		return err
	}
	return s.session.Exec(lasting, "COMMIT")
}

func (s *repeated) rows(ctx context.Context, args []model.Value, r *engine.Result) error {
	for row := range slices.Chunk(args, s.width) {
		if err := s.one.Exec(ctx, row, &s.single); err != nil {
			r.Reset()
			return err
		}
		r.Rows += s.single.Rows
		r.Value = s.single.Value
	}
	return nil
}

// repeats reports whether a key may occur twice: two of the keys have the same hash.
func (s *repeated) repeats(args []model.Value) bool {
	s.hashes = s.hashes[:0]
	for start := 0; start+s.width <= len(args); start += s.width {
		s.buf = s.buf[:0]
		for _, i := range s.key {
			s.buf = args[start+i].AppendHash(s.buf)
		}
		s.hashes = append(s.hashes, maphash.Bytes(s.seed, s.buf))
	}
	slices.Sort(s.hashes)
	for i := 1; i < len(s.hashes); i++ {
		if s.hashes[i] == s.hashes[i-1] {
			return true
		}
	}
	return false
}
