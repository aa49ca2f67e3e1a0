package tpcc

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/workload"
)

// loadStage is the load of the tables.
type loadStage struct {
	*run
	env       workload.Env
	constants constants
	parts     *workload.Deal
	clients   []*loader
	counted   []int64 // Counts of all processes; nil: this one has all clients
}

func (r *run) openLoad(env workload.Env) (workload.Stage, error) {
	r.seed, r.now = env.Seed, state{}
	return &loadStage{run: r, env: env, constants: newConstants(env.Seed),
		parts: workload.NewDeal(env.Part, 0, int(r.p.Int("load_clients")))}, nil
}

// take returns the next part: the items come first.
func (s *loadStage) take() (p part, ok bool) {
	n := s.parts.Take() - 1
	if n < 0 {
		return part{}, true
	}
	p = part{w: 1 + n/(districts+1), d: n % (districts + 1)}
	return p, p.w <= s.warehouses
}

// batches returns the maximum number of batches that a client may load: all batches,
// including a partial one for each table and part.
func (r *run) batches() int64 {
	t := r.loaded()
	t.lines = t.orders * mostLines
	return r.live(&t, false).Rows/r.p.Int("load_batch") + int64(len(tables))*(1+r.warehouses*(districts+1))
}

func (s *loadStage) Client(_ context.Context, seat workload.Seat) (workload.Client, error) {
	l := &loader{stage: s, rows: population{run: s.run, constants: s.constants}, batches: map[string]*workload.Batch{}}
	for i := range tables {
		name := tables[i].Name
		l.batches[name] = workload.NewBatch(seat.Session, name, given(name), int(s.p.Int("load_batch")))
	}
	s.clients = append(s.clients, l)
	return l, nil
}

// Counts implements workload.Counting: the loaded rows, and how many clients found that no part is left, of
// how many.
func (s *loadStage) Counts() []int64 {
	out := make([]int64, 6)
	for _, l := range s.clients {
		for i, name := range []string{orders, newOrders, orderLine, history} {
			out[i] += l.batches[name].Done
		}
		if out[5]++; l.over {
			out[4]++
		}
	}
	return out
}

// Count implements workload.Counting.
func (s *loadStage) Count(sums []int64) { s.counted = sums }

// Finish records the extent of the load: everything, unless it was cut short.
func (s *loadStage) Finish(context.Context, workload.Totals) (f workload.Finding, err error) {
	c := s.counted
	if c == nil {
		c = s.Counts()
	}
	n := state{totals: totals{c[0], c[1], c[2], c[3]}, known: true, whole: c[4] == c[5]}
	want := s.loaded()
	want.lines = n.lines // random
	if n.whole && n.totals != want {
		f.Broken = append(f.Broken, fmt.Sprintf("%+v rows were loaded, but should be %+v", n.totals, want))
	}
	s.now = n
	f.Live = s.live(&n.totals, false)
	return f, nil
}

// loader inserts the rows of parts, table by table in the order of their keys.
type loader struct {
	stage   *loadStage
	rows    population
	batches map[string]*workload.Batch
	tables  []string // of the part, beginning with the current table
	row     int64    // the next row of the table, minus one; for the lines, the order
	line    int64    // of the order, minus one
	over    bool     // no part is left
}

// Ready generates the rows of a batch, unless a batch has failed.
func (l *loader) Ready(context.Context) error {
	for ; !l.over; l.row, l.line = 0, 0 {
		if len(l.tables) == 0 {
			var ok bool
			l.rows.part, ok = l.stage.take()
			l.tables, l.over = l.rows.tables(), !ok
			continue
		}
		table, batch := l.tables[0], l.batch()
		if batch.Rows() == 0 {
			for !batch.Full() && l.row < l.stage.rows(table) {
				l.add(table, batch)
			}
		}
		if batch.Rows() > 0 {
			return nil
		}
		l.tables = l.tables[1:]
	}
	return nil
}

func (l *loader) batch() *workload.Batch { return l.batches[l.tables[0]] }

func (l *loader) add(table string, b *workload.Batch) {
	if table != orderLine {
		l.row++
		l.rows.row(b, table, l.row, 0)
		return
	}
	l.line++
	l.rows.row(b, table, l.row+1, l.line)
	if l.line == l.rows.lineCount(l.row+1) {
		l.row, l.line = l.row+1, 0
	}
}

func (l *loader) Do(ctx context.Context, out *workload.Outcome) error {
	if l.over {
		return workload.ErrDone
	}
	return l.batch().Insert(ctx, out)
}

func (l *loader) Finish(ctx context.Context) error { return l.batches[item].EndLoad(ctx) }

// indexStage builds the secondary indexes, after which the tables are checked.
type indexStage struct {
	*run
	env workload.Env
}

func (s *indexStage) Client(context.Context, workload.Seat) (workload.Client, error) {
	rows := s.warehouses * districts * s.customers
	return &workload.Builder{DB: s.env.DB, Queue: []workload.Build{
		{Table: customer, Index: nameIndex, Rows: rows, Bytes: rows * nameEntry},
		{Table: orders, Index: orderIndex, Rows: s.now.orders, Bytes: s.now.orders * orderEntry},
	}}, nil
}

// Finish checks the loaded tables.
func (s *indexStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	f.Live = s.live(&s.now.totals, true)
	if !s.env.Results || !s.now.whole {
		return f, nil
	}
	err = workload.InSession(ctx, s.env.DB, func(ctx context.Context, session engine.Session) error {
		return s.check(ctx, session, true, &f)
	})
	return f, err
}
