package telemetry

import (
	"context"
	"errors"
	"fmt"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
)

// state describes the extent of the data: each step leaves it for the next step. It is stored with copies of them.
type state struct {
	Seed    uint64
	Jobs    int64   // roll-up operations done
	Dropped int64   // partitions
	Slots   []int64 // for each writer: all slots before this one are done
	Bursts  []int64 // ticks of returns from outages
}

// Knowledge implements workload.Knowing.
func (r *run) Knowledge() any { return r.now }

// GoOn implements workload.Knowing.
func (r *run) GoOn(read func(into any) error) error { return read(&r.now) }

// stage is a running step.
type stage struct {
	*run
	step    *workload.Step
	env     workload.Env
	data    *data
	tables  []model.Table
	clock   *clock
	writers []*writer
	queries []*querier
	keeper  *keeper // nil: the step has no background
}

func (r *run) openStage(step *workload.Step, env workload.Env) (workload.Stage, error) {
	s := &stage{run: r, step: step, env: env, tables: r.Schema().Tables}
	if step.Creates {
		r.now = state{Seed: env.Seed, Slots: make([]int64, r.sizes.writers)}
	} else if r.now.Slots == nil {
		return nil, hint.Errorf("begin with step load",
			"step %s needs to know what the steps before it have sent, and they ran in another process", step.Name)
	}
	for w := range r.now.Slots {
		if !env.Results && !step.Creates { // loads are cut short on an engine that stores nothing
			r.now.Slots[w] = max(r.now.Slots[w], r.history*r.perTick)
		}
	}
	if r.silence > 0 && step.Primary == opInsert {
		ticks := step.Groups[0].Work * r.batch / r.perTick
		r.now.Bursts = append(r.now.Bursts, r.now.Slots[0]/r.perTick+r.burstAt(ticks))
	}
	s.data = r.newData(r.now.Seed, r.now.Bursts) // they belong to the data, not to this step
	s.clock = newClock(r, &r.now)
	return s, nil
}

// count counts the rows of the partitions.
func (s *stage) count(ctx context.Context, session engine.Session) (rows int64, err error) {
	for n := range s.run.tables {
		got, err := workload.CountRows(ctx, session, baseName(n))
		if err != nil {
			return 0, err
		}
		rows += got
	}
	return rows, nil
}

func (s *stage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	switch s.step.Groups[seat.Group].Name {
	case opLoad:
		return s.newLoader(seat), nil
	case opIndex:
		return &builder{stage: s}, nil
	case opInsert:
		return s.newWriter(ctx, seat)
	case background:
		return s.newKeeper(ctx, seat.Session)
	}
	return s.newQuerier(ctx, seat)
}

// builder builds the index of each partition.
type builder struct {
	*stage
	next int64
}

func (b *builder) Do(ctx context.Context, out *workload.Outcome) error {
	if b.schema != schemaRead {
		return workload.ErrDone
	}
	if err := b.env.DB.CreateIndexes(ctx, baseName(b.next), indexName(b.next)); err != nil {
		return err
	}
	out.Rows = max(0, min(b.partition, b.history-b.next*b.partition)) * b.devices * b.metrics
	out.Bytes = out.Rows * rowBytes
	b.next++
	return nil
}

// Finish compares the tables with the measurements that must have arrived.
func (s *stage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	writes := len(s.clock.active) > 0 || s.keeper != nil
	s.note(&f)
	for w := range s.now.Slots {
		s.now.Slots[w] = s.clock.writers[w].start.Load()
	}
	s.now.Dropped = s.clock.dropped.Load()
	if s.keeper != nil {
		s.now.Jobs = s.keeper.job
	}
	want := s.expected()
	f.Live = s.live(want*s.metrics, s.step.Name != opLoad, s.aggregates(s.now.Jobs))
	if !s.env.Results || !writes || s.p.String("check") == "none" {
		return f, nil
	}
	f.ReadAll = true
	err = workload.InSession(ctx, s.env.DB, func(ctx context.Context, session engine.Session) error {
		got, err := s.count(ctx, session)
		if err == nil && got != want*s.rowsOf() {
			f.Broken = append(f.Broken, fmt.Sprintf("the partitions hold %d rows; what has arrived and is not dropped makes %d",
				got, want*s.rowsOf()))
		}
		return errors.Join(err, s.checkRollups(ctx, session, &f))
	})
	return f, err
}

// checkRollups compares all roll-ups with the values from which they were computed.
func (s *stage) checkRollups(ctx context.Context, session engine.Session, f *workload.Finding) error {
	stmt, err := session.Prepare(ctx,
		&model.Op{Kind: model.Scan, Table: tableRollup, Columns: s.tables[s.run.tables].ColumnNames()})
	if err != nil {
		return err
	}
	wrong, first := 0, ""
	result := engine.Result{Each: func(row []model.Value) {
		tick, d, m := s.data.tick(row[0].Int()), row[1].Int(), row[2].Int()
		var want aggregate
		for t := tick; t < tick+s.window; t++ {
			want.add(s.data.value(d, m, t, s.data.fate(d, t).correct >= 0 && s.data.fixedMetric(d, t) == m))
		}
		for i, v := range want.values() {
			if got := row[3+i].Int(); got != v {
				if wrong++; wrong == 1 {
					first = fmt.Sprintf("%s of device %d, metric %d from tick %d is %d, not %d", aggregateColumns[i], d, m, tick, got,
						v)
				}
				break
			}
		}
	}}
	if err := stmt.Exec(ctx, nil, &result); err != nil {
		return err
	}
	if want := s.aggregates(s.now.Jobs); result.Rows != want {
		f.Broken = append(f.Broken, fmt.Sprintf("there are %d roll-ups, not %d", result.Rows, want))
	}
	if wrong > 0 {
		f.Broken = append(f.Broken, fmt.Sprintf("%d roll-ups are wrong, such as: %s", wrong, first))
	}
	return nil
}

// expected returns the number of measurements that have arrived and have not been
// dropped.
func (s *stage) expected() (n int64) {
	first := s.now.Dropped * s.partition * s.perTick
	for w, done := range s.now.Slots {
		n += max(0, done-first)
		for slot := max(first, done-s.lateness()*s.perTick); slot < done; slot++ {
			d, tick := s.data.at(int64(w), slot)
			if arrived, _ := s.data.certain(s.data.fate(d, tick), d, done); !arrived {
				n--
			}
		}
	}
	return n
}

// note reports wrong results of clients, and how far the background work is behind.
func (s *stage) note(f *workload.Finding) {
	var sent [len(statements)]int64
	for _, w := range s.writers {
		for k, n := range w.sent {
			sent[k] += n
		}
		if w.wrong > 0 && s.env.Results {
			f.Broken = append(f.Broken, fmt.Sprintf("%d statements of a writer changed another number of rows than they had to",
				w.wrong))
		}
	}
	for _, q := range s.queries {
		q.check()
		if q.wrong != "" {
			f.Broken = append(f.Broken, fmt.Sprintf("%d results of a reader are wrong, such as: %s", q.wrongs, q.wrong))
		}
	}
	if s.keeper == nil || len(s.writers) == 0 {
		return
	}
	dropped, due := s.clock.dropped.Load()-s.now.Dropped, max(0, s.jobsUntil(s.clock.tick())-s.keeper.job)
	f.Notes = append(f.Notes,
		fmt.Sprintf("sent: %d late, %d again, %d after the outage; %d values corrected", sent[late], sent[again],
			sent[backfill], sent[correct]),
		fmt.Sprintf("%d partitions dropped; %d roll-up operations were due at the end", dropped, due))
}
