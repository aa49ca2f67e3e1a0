package rollup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// stage is a running step.
type stage struct {
	*run
	env   workload.Env
	check bool
	rows  []int64    // of a transaction, in their order; see run.order
	bytes int64      // user bytes of a transaction: of its four rows
	draws gen.Stream // the table of each fact

	// The facts of a process that shares the step with others: the first of the step, and how many it has drawn, by
	// table. In the process that finishes it, those of all.
	first int64
	deal  *workload.Deal
	dealt sync.Mutex
	taken []int64
}

// open starts a stage. The first stage of this process counts the existing facts.
func (r *run) open(ctx context.Context, step *workload.Step, env workload.Env, check bool) (workload.Stage, error) {
	s := &stage{
		run: r, env: env, check: check && env.Results, rows: r.order(),
		bytes: r.rowBytes(false) + 3*r.rowBytes(true), draws: gen.NewStream(env.Seed, "rollup", "tables"),
	}
	defer func() { s.first = r.drawn.Load() }()
	s.deal, s.taken = workload.NewDeal(env.Part, 0, r.clients), make([]int64, r.tables)
	if !step.Creates && env.Previous != nil {
		return s, nil
	}
	r.committed = 0
	r.drawn.Store(0)
	for n := range r.next {
		r.next[n].Store(0)
	}
	if step.Creates {
		return s, s.createIndexes(ctx)
	}
	return s, workload.InSession(ctx, env.DB, func(ctx context.Context, session engine.Session) error {
		for n := range r.tables {
			held, err := s.aggregate(ctx, session, tableName(n, 0), model.Count)
			if err != nil {
				return err
			}
			r.next[n].Store(held)
			r.committed += held
		}
		r.drawn.Store(r.committed)
		return nil
	})
}

func (s *stage) createIndexes(ctx context.Context) error {
	if s.schema != sequential || s.env.Part.Joins() {
		return nil
	}
	for n := range s.tables {
		if err := s.env.DB.CreateIndexes(ctx, tableName(n, 0), indexName(n)); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) aggregate(ctx context.Context, session engine.Session, table string,
	subject model.Aggregate) (int64, error) {
	op := &model.Op{Kind: model.Scan, Table: table, Aggregate: subject}
	if subject == model.Sum {
		op.Columns = []string{colK}
	}
	v, _, err := workload.QueryInt(ctx, session, op)
	if err != nil {
		return 0, fmt.Errorf("read all of %s: %w", table, err)
	}
	return v, nil
}

// Finish compares the sums of the roll-ups with the sums of the facts.
func (s *stage) Finish(ctx context.Context, done workload.Totals) (f workload.Finding, err error) {
	s.committed += done[0][0].Rows
	for n, taken := range s.taken {
		s.next[n].Add(taken)
		s.drawn.Add(taken)
	}
	if !s.check {
		for n := range s.tables {
			f.Live = s.grown(f.Live, s.next[n].Load())
		}
		return f, nil
	}
	session, err := s.env.DB.Session(ctx)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	f.ReadAll = true
	held := make([]int64, 1+len(buckets)) // rows of all base tables, and of roll-ups by size
	for n := range s.tables {
		rows, err := s.checkTable(ctx, session, n, &f)
		if err != nil {
			return f, err
		}
		for i := range rows {
			held[i] += rows[i]
		}
	}
	f.Live = s.including(f.Live, held)
	if held[0] != s.committed {
		f.Broken = append(f.Broken, fmt.Sprintf("the base tables hold %d facts, and %d were committed", held[0], s.committed))
	}
	var hits []string
	for i, b := range buckets {
		hits = append(hits, fmt.Sprintf("%.4g %% of those by %d", 100*(1-float64(held[i+1])/float64(max(held[0], 1))), b))
	}
	f.Notes = append(f.Notes, "upserts that found their row, since the tables were created: "+strings.Join(hits, ", "))
	return f, nil
}

// checkTable returns the rows of a base table and of its roll-ups.
func (s *stage) checkTable(ctx context.Context, session engine.Session, n int,
	f *workload.Finding) (rows []int64, err error) {
	var want int64
	for _, b := range append([]int64{0}, buckets...) {
		name := tableName(n, b)
		count, err := s.aggregate(ctx, session, name, model.Count)
		if err != nil {
			return nil, err
		}
		sum, err := s.aggregate(ctx, session, name, model.Sum)
		if err != nil {
			return nil, err
		}
		rows = append(rows, count)
		if b == 0 {
			want = sum
			continue
		}
		if sum != want {
			f.Broken = append(f.Broken, fmt.Sprintf("the sums of %s are %d in all, and those of its facts %d", name, sum, want))
		}
		if expected, exact := s.bucketsOf(rows[0], b); exact && rows[0] == s.next[n].Load() && count != expected {
			f.Broken = append(f.Broken, fmt.Sprintf("%s has %d rows; %d facts have %d buckets", name, count, rows[0], expected))
		}
	}
	return rows, nil
}
