package ibench

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// lead is the number of batches by which inserts and deletes of a table may be ahead of
// each other, as in the original.
const lead = 8

// stage is a running step.
type stage struct {
	*run
	plan    *plan
	env     workload.Env
	check   bool
	tables  []*table
	text    *gen.Text
	start   int64 // rows when the step began
	counted bool  // start is exact
}

// table is the state that the clients of a table share during a step.
type table struct {
	name    string
	firstID atomic.Int64 // the deleter's cursor: no rows are left below it
	lastID  int64        // the greatest id when the step began
	// Tokens that couple inserts and deletes: before a batch, each side takes one of its
	// own tokens; after it, it gives a token to the other side. nil: they are not
	// coupled.
	inserts, deletes chan struct{}
}

func (r *run) openStage(ctx context.Context, p *plan, env workload.Env, check bool) (workload.Stage, error) {
	s := &stage{run: r, plan: p, env: env, check: check && env.Results}
	if p.withIndex && !env.Part.Joins() {
		for n := range r.tables {
			if err := s.buildIndexes(ctx, n); err != nil {
				return nil, err
			}
		}
	}
	s.text = gen.NewText(gen.NewStream(env.Seed, "ibench", "data"), r.p.Int("data_min"), r.p.Int("data_max"),
		float64(r.p.Int("data_random_pct"))/100)
	return s, workload.InSession(ctx, env.DB, func(ctx context.Context, session engine.Session) error {
		if p.wantsIndex {
			if err := s.requireIndexes(ctx, session); err != nil {
				return err
			}
		}
		for n := range r.tables {
			t := &table{name: tableName(n)}
			if err := s.readEdges(ctx, session, t); err != nil {
				return err
			}
			s.tables = append(s.tables, t)
		}
		s.couple()
		return s.startRows(ctx, session)
	})
}

// requireIndexes returns an error unless the secondary indexes exist: without them the
// step would measure something else.
func (s *stage) requireIndexes(ctx context.Context, session engine.Session) error {
	for n := range s.run.tables {
		for _, name := range s.indexNames(n) {
			op := &model.Op{Kind: model.Scan, Table: tableName(n), Index: name, Columns: []string{colID}, Limit: 1}
			if _, err := session.Prepare(ctx, op); err != nil {
				return fmt.Errorf("the secondary indexes must exist; step l.x builds them: %w", err)
			}
		}
	}
	return nil
}

// buildIndexes creates the secondary indexes of a table, with one call per index or one
// call for all.
func (s *stage) buildIndexes(ctx context.Context, n int) error {
	names := s.indexNames(n)
	each := 1
	if s.p.String("index_build") == "together" {
		each = max(1, len(names))
	}
	for part := range slices.Chunk(names, each) {
		if err := s.env.DB.CreateIndexes(ctx, tableName(n), part...); err != nil {
			return err
		}
	}
	return nil
}

// couple couples inserts and deletes of each table, if the step has both.
func (s *stage) couple() {
	if !slices.Contains(s.plan.roles, writer) || !slices.Contains(s.plan.roles, deleter) {
		return
	}
	for _, t := range s.tables {
		t.inserts, t.deletes = make(chan struct{}, 2*lead), make(chan struct{}, 2*lead)
		for range lead {
			t.inserts <- struct{}{}
			t.deletes <- struct{}{}
		}
	}
}

func (s *stage) readEdges(ctx context.Context, session engine.Session, t *table) error {
	first, found, err := workload.QueryInt(ctx, session, edgeOp(t.name, false))
	if err != nil {
		return err
	}
	if !found { // an empty table, or an engine that stores nothing
		first = 1
		if !s.env.Results && !s.plan.Creates {
			t.lastID = s.p.Int("rows")
		}
	} else if t.lastID, _, err = workload.QueryInt(ctx, session, edgeOp(t.name, true)); err != nil {
		return err
	}
	if s.env.Results && !s.plan.Creates && !found {
		return fmt.Errorf("table %s is empty: the step needs the rows of a load", t.name)
	}
	t.firstID.Store(first)
	return nil
}

func edgeOp(table string, greatest bool) *model.Op {
	return &model.Op{Kind: model.Scan, Table: table, Columns: []string{colID}, Desc: greatest, Limit: 1}
}

func (s *stage) startRows(ctx context.Context, session engine.Session) error {
	switch {
	case s.plan.Creates:
		s.counted = true
	case s.env.Previous != nil:
		s.start, s.counted = s.env.Previous.Rows, true
	case s.check || len(s.plan.roles) > 0 && s.plan.roles[0] == builder:
		n, err := s.count(ctx, session)
		s.start, s.counted = n, true
		return err
	default: // an estimate: ids may have gaps
		for _, t := range s.tables {
			s.start += t.lastID - t.firstID.Load() + 1
		}
	}
	return nil
}

func (s *stage) count(ctx context.Context, session engine.Session) (n int64, err error) {
	for _, t := range s.tables {
		rows, err := workload.CountRows(ctx, session, t.name)
		if err != nil {
			return 0, fmt.Errorf("count the rows of %s: %w", t.name, err)
		}
		n += rows
	}
	return n, nil
}

func (s *stage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	t := s.tables[seat.Client%len(s.tables)]
	switch s.plan.roles[seat.Group] {
	case writer:
		return s.newInserter(ctx, t, seat)
	case deleter:
		return s.newDeleter(ctx, t, seat)
	case builder:
		ins, err := s.newInserter(ctx, t, seat)
		return &buildClient{stage: s, insert: ins, table: seat.Client}, err
	case pointQuerier:
		return s.newPointClient(ctx, t, seat)
	}
	return s.newRangeClient(ctx, t, seat)
}

// Finish counts the rows and compares them with the totals.
func (s *stage) Finish(ctx context.Context, done workload.Totals) (workload.Finding, error) {
	inserted, deleted := done.Rows(&s.plan.Step, opInsert), done.Rows(&s.plan.Step, opDelete)
	want := s.start + inserted - deleted
	f := workload.Finding{Live: s.live(want, s.plan.indexed || s.plan.wantsIndex)}
	for g := range done {
		if as := s.plan.roles[g]; as == rangeQuerier || as == pointQuerier {
			continue
		}
		for _, k := range done[g] {
			if short := k.Expected - k.Found; short > 0 {
				f.Broken = append(f.Broken, fmt.Sprintf("group %s: %d rows were not changed that should have been",
					s.plan.Groups[g].Name, short))
			}
		}
	}
	if !s.check {
		if !s.counted {
			f.Notes = append(f.Notes, "the number of rows is estimated from the least and greatest key")
		}
		return f, nil
	}
	got, err := workload.ReadInSession(ctx, s.env.DB, s.count)
	if err != nil {
		return f, err
	}
	f.ReadAll = true
	if got != want && s.counted {
		f.Broken = append(f.Broken, fmt.Sprintf(
			"the tables hold %d rows; %d at the start, %d inserted and %d deleted make %d",
			got, s.start, inserted, deleted, want))
	}
	f.Live = s.live(got, s.plan.indexed || s.plan.wantsIndex)
	return f, nil
}
