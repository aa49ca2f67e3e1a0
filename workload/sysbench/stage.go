package sysbench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/internal/gen"
	"rumbench/model"
	"rumbench/workload"
)

// testStage is the step of a test being run.
type testStage struct {
	*run
	name       string
	test       *test
	level      level
	env        workload.Env
	draw       string // how often a table is drawn
	repeats    bool   // a ratio is made by reading several times
	returns    bool   // bytes returned are told, and not bytes written
	parts      []string
	beginPart  [2]int // by the kind of the transaction
	commitPart [2]int
	held       []int64         // rows of each table, of a test that counts them
	order      gen.Permutation // in which the rows of a table are taken, where each is taken once
	ids        gen.Distribution
	zipf       gen.Distribution
	clients    []*client
	start      sums
}

// sums are what the checks know of the tables: all rows, and the sum of k.
type sums struct {
	rows, k int64
	known   bool // of the rows
	knownK  bool
}

func (r *run) openTest(ctx context.Context, name string, t *test, l level, env workload.Env) (_ workload.Stage, err error) {
	s := &testStage{run: r, name: name, test: t, level: l, env: env, draw: r.p.String("table_draw"), repeats: r.p.String("rw_mode") == "repeat"}
	s.returns = t.reads()
	s.findParts()
	s.order = gen.NewPermutation(r.size, gen.NewStream(env.Seed, "sysbench", "delete"))
	if s.ids, err = newDistribution(r.p, r.p.String("distribution"), r.size); err != nil {
		return nil, err
	}
	if s.zipf, err = gen.NewZipf(r.size, r.p.Float("zipfian_exp")); err != nil {
		return nil, err
	}
	session, err := env.DB.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	if err := s.needRows(ctx, session); err != nil {
		return nil, err
	}
	if err := s.hold(ctx, session); err != nil {
		return nil, err
	}
	return s, s.look(ctx, session)
}

// findParts finds the parts that begin and end the transactions of each kind.
func (s *testStage) findParts() {
	mixes := s.mixes(s.level)
	s.parts = s.test.parts(mixes)
	at := func(name string) int { return slices.Index(s.parts, name) }
	s.beginPart, s.commitPart = [2]int{at(partBegin), at(partBegin)}, [2]int{at(partCommit), at(partCommit)}
	if mixes {
		s.beginPart[0], s.commitPart[0] = at(partBeginReadOnly), at(partCommitReadOnly)
	}
}

// hold finds out how many rows each table has, if that is what the test counts.
// After tests that insert or delete that is another number on every engine.
func (s *testStage) hold(ctx context.Context, session engine.Session) error {
	if !s.test.rows {
		return nil
	}
	for n := range s.run.tables {
		rows := s.size
		if p := s.env.Previous; s.env.Results && (p == nil || p.Rows != s.size*int64(s.run.tables)) {
			var err error
			if rows, err = s.ofTable(ctx, session, n, model.Count); err != nil {
				return err
			}
		}
		s.held = append(s.held, rows)
	}
	return nil
}

// needRows refuses to work on tables that have not been loaded.
func (s *testStage) needRows(ctx context.Context, session engine.Session) error {
	if !s.env.Results {
		return nil
	}
	for n := range s.level.tables {
		last, err := lastID(ctx, session, int(n))
		if err != nil {
			return err
		}
		if last == 0 {
			return fmt.Errorf("table %s is empty: the step works on rows that step load has left", tableName(int(n)))
		}
		if last < s.size && !s.run.removes() {
			return fmt.Errorf("table %s ends with id %d, but table_size is %d: it was loaded with another size", tableName(int(n)), last, s.size)
		}
	}
	return nil
}

// removes reports whether a test of the run takes rows away for good.
func (r *run) removes() bool {
	return slices.ContainsFunc(r.p.Strings("tests"), func(entry string) bool {
		t, err := r.newTest(entry)
		return err == nil && t.grows() < 0
	})
}

// lastID returns the greatest id of a table, 0 if it is empty.
func lastID(ctx context.Context, session engine.Session, table int) (id int64, err error) {
	stmt, err := session.Prepare(ctx, &model.Op{Kind: model.Scan, Table: tableName(table), Columns: []string{colID}, Desc: true, Limit: 1})
	if err != nil {
		return 0, err
	}
	r := engine.Result{Each: func(row []model.Value) { id = row[0].Int() }}
	err = stmt.Exec(ctx, nil, &r)
	return id, err
}

// raisesK reports whether the sum of k tells how often rows were updated: when
// the test does nothing but raise it.
func (s *testStage) raisesK() bool {
	return !slices.ContainsFunc(s.test.statements(), func(s statement) bool { return s.raises == 0 })
}

// touchesRows reports whether the number of rows may be another one afterwards,
// or would be if a statement were lost.
func (s *testStage) touchesRows() bool {
	return slices.ContainsFunc(s.test.statements(), func(s statement) bool { return s.adds != 0 })
}

// look reads what the checks start from.
func (s *testStage) look(ctx context.Context, session engine.Session) (err error) {
	if p := s.env.Previous; p != nil {
		s.start.rows, s.start.known = p.Rows, true
	}
	if !s.env.Results || s.p.String("check") == "none" {
		return nil
	}
	if !s.start.known {
		if s.start.rows, err = s.aggregate(ctx, session, model.Count); err != nil {
			return err
		}
		s.start.known = true
	}
	if s.raisesK() {
		s.start.k, err = s.aggregate(ctx, session, model.Sum)
		s.start.knownK = err == nil
	}
	return err
}

// aggregate returns a number over all tables.
func (s *testStage) aggregate(ctx context.Context, session engine.Session, what model.Aggregate) (sum int64, err error) {
	for n := range s.run.tables {
		v, err := s.ofTable(ctx, session, n, what)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// ofTable returns a number over a table.
func (s *testStage) ofTable(ctx context.Context, session engine.Session, table int, what model.Aggregate) (int64, error) {
	op := &model.Op{Kind: model.Scan, Table: tableName(table), Aggregate: what, Free: true}
	if what == model.Sum {
		op.Columns = []string{colK}
	}
	stmt, err := session.Prepare(ctx, op)
	if err != nil {
		return 0, err
	}
	var r engine.Result
	err = stmt.Exec(ctx, nil, &r)
	return r.Value.Int(), err
}

// Client makes a client.
func (s *testStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	c := &client{
		stage: s, test: s.test, rows: s.size, tables: s.level.tables, seat: int64(seat.Client), ids: s.ids, zipf: s.zipf,
		source: gen.NewSource(gen.NewStream(s.env.Seed, "sysbench", s.name).Sub(uint64(seat.Client))),
	}
	if err := c.cut(s.p, s.level.clients); err != nil {
		return nil, err
	}
	if ratio := s.level.ratio; ratio > 1 {
		c.phase = c.source.Uniform(ratio)
	}
	var err error
	if c.blocks, err = c.prepareBlocks(ctx, seat.Session, s.test.blocks); err != nil {
		return nil, err
	}
	if c.writer, err = c.prepareBlocks(ctx, seat.Session, s.test.writer); err != nil {
		return nil, err
	}
	if s.test.transaction {
		for _, p := range []struct {
			to   *engine.Stmt
			kind model.Kind
		}{{&c.begin, model.Begin}, {&c.commit, model.Commit}, {&c.rollback, model.Rollback}} {
			if *p.to, err = seat.Session.Prepare(ctx, &model.Op{Kind: p.kind}); err != nil {
				return nil, err
			}
		}
	}
	s.clients = append(s.clients, c)
	return c, nil
}

// cut gives the client its slice of the values of k: as sysbench does, from
// the seat's share of the table to the next one's, both ends included.
func (c *client) cut(p workload.Params, seats int64) (err error) {
	if !c.test.single {
		return nil
	}
	length := c.rows / seats
	c.first = length * c.seat
	c.slice, err = newDistribution(p, p.String("distribution"), length+1)
	return err
}

// Finish checks what the step has left.
func (s *testStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	var changed tally
	for _, c := range s.clients {
		changed.add(c.tally)
	}
	rows := s.start.rows + changed.rows
	f.Live = s.live(max(rows, 0), s.p.Bool("create_secondary"))
	s.noteEnd(&f)
	if !s.env.Results || s.p.String("check") == "none" {
		return f, nil
	}
	if s.start.known && s.touchesRows() {
		got, err := s.read(ctx, model.Count)
		if err != nil {
			return f, err
		}
		f.ReadAll = true
		if got != rows {
			f.Broken = append(f.Broken, fmt.Sprintf("the tables hold %d rows, but %d with %+d by the clients make %d", got, s.start.rows, changed.rows, rows))
		}
		f.Live = s.live(got, s.p.Bool("create_secondary"))
	}
	if s.start.knownK {
		got, err := s.read(ctx, model.Sum)
		if err != nil {
			return f, err
		}
		f.ReadAll = true
		if got != s.start.k+changed.k {
			f.Broken = append(f.Broken, fmt.Sprintf("the sum of k is %d, but %d with %d updates that were confirmed make %d", got, s.start.k, changed.k, s.start.k+changed.k))
		}
	}
	return f, nil
}

// read is aggregate on a session of its own.
func (s *testStage) read(ctx context.Context, what model.Aggregate) (n int64, err error) {
	session, err := s.env.DB.Session(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	return s.aggregate(ctx, session, what)
}

// noteEnd reports whether the test has ended for want of rows.
func (s *testStage) noteEnd(f *workload.Finding) {
	if s.test.own && !slices.ContainsFunc(s.clients, func(c *client) bool { return !c.over }) {
		f.Notes = append(f.Notes, "there were no more rows to delete before the time was over")
	}
}
