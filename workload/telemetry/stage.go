package telemetry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// stage is a running step.
type stage struct {
	*run
	plan    *plan
	env     workload.Env
	data    *data
	tables  []model.Table
	clock   *clock
	start   state
	senders []*sender
	queries []*querier
	keeper  *keeper // nil: the step has no background
}

// state is how far the data reach: what a step leaves for the next one.
type state struct {
	seed    int64
	jobs    int64   // roll-up operations done
	dropped int64   // partitions
	slots   []int64 // of each writer: all before are done
	tasks   []int64 // of each writer: of the batch after these slots
}

func (r *run) openStage(ctx context.Context, p *plan, env workload.Env) (workload.Stage, error) {
	s := &stage{run: r, plan: p, env: env, tables: r.Schema().Tables}
	s.start = state{seed: int64(env.Seed), slots: make([]int64, r.writers), tasks: make([]int64, r.writers)}
	if !p.Creates {
		for w := range s.start.slots {
			s.start.slots[w] = r.history * r.perTick
		}
	}
	if env.Results && !p.Creates {
		if err := s.readState(ctx); err != nil {
			return nil, err
		}
	}
	readers := 0
	for g, as := range p.roles {
		if as == reader {
			readers = p.Groups[g].Clients
		}
	}
	s.data = r.newData(uint64(s.start.seed)) // of the data, not of this step
	s.clock = newClock(r, s.start.slots, s.start.dropped, readers)
	return s, nil
}

// inSession does something in a session of its own.
func (s *stage) inSession(ctx context.Context, do func(engine.Session) error) error {
	session, err := s.env.DB.Session(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(session), session.Close())
}

func (s *stage) readState(ctx context.Context) error {
	return s.inSession(ctx, func(session engine.Session) error {
		stmt, err := session.Prepare(ctx, &model.Op{Kind: model.Scan, Table: tableState, Columns: []string{colID, colValue}})
		if err != nil {
			return err
		}
		var found []int64
		result := engine.Result{Each: func(row []model.Value) { found = append(found, row[1].Int()) }}
		if err := stmt.Exec(ctx, nil, &result); err != nil {
			return err
		}
		n := len(s.start.slots)
		if want := 3 + 2*n; len(found) != want {
			return fmt.Errorf("table %s has %d rows, not %d: the step needs the rows of step load with the same number of writers", tableState, len(found), want)
		}
		s.start = state{found[0], found[1], found[2], found[3 : 3+n], found[3+n:]}
		return nil
	})
}

// end returns the state after the step.
func (s *stage) end() state {
	e := s.start
	e.slots, e.tasks = slices.Clone(e.slots), slices.Clone(e.tasks)
	for w, sender := range s.senders {
		e.slots[w] = s.clock.writers[w].from.Load()
		if e.tasks[w] = int64(sender.next); sender.next == len(sender.tasks) {
			e.tasks[w] = 0
		}
	}
	if s.keeper != nil {
		e.jobs = s.keeper.job
	}
	e.dropped = s.clock.dropped.Load()
	return e
}

func (s *stage) writeState(ctx context.Context, session engine.Session, e state) error {
	values := slices.Concat([]int64{e.seed, e.jobs, e.dropped}, e.slots, e.tasks)
	op := &model.Op{Kind: model.Insert, Table: tableState, Columns: []string{colID, colValue}, Rows: len(values), OnConflict: model.Replace}
	stmt, err := session.Prepare(ctx, op)
	if err != nil {
		return err
	}
	var args []model.Value
	for i, v := range values {
		args = append(args, model.IntValue(int64(i)), model.IntValue(v))
	}
	return stmt.Exec(ctx, args, &engine.Result{})
}

func (s *stage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	switch s.plan.roles[seat.Group] {
	case loader, writer:
		return s.newSender(ctx, seat)
	case indexer:
		return &builder{stage: s}, nil
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

// Finish compares what the tables hold with what must have arrived.
func (s *stage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	end := s.end()
	want := s.expected(end)
	f.Live = s.live(want*s.metrics, s.plan.Name != opLoad, s.aggregates(end.jobs, 0)+s.aggregates(end.jobs, 1))
	s.note(&f, end)
	if !s.env.Results {
		return f, nil
	}
	err = s.inSession(ctx, func(session engine.Session) error {
		if len(s.senders) == 0 && s.keeper == nil {
			return nil // nothing is written
		}
		if err := s.writeState(ctx, session, end); err != nil || s.p.String("check") == "none" {
			return err
		}
		f.ReadAll = true
		return s.compare(ctx, session, &f, want*s.rowsOf(), end.jobs)
	})
	return f, err
}

// compare counts the rows of the partitions, and sums up those of the roll-ups.
func (s *stage) compare(ctx context.Context, session engine.Session, f *workload.Finding, want, jobs int64) error {
	var got int64
	for n := range s.run.tables {
		rows, _, err := workload.QueryInt(ctx, session, &model.Op{Kind: model.Scan, Table: baseName(n), Aggregate: model.Count})
		if err != nil {
			return err
		}
		got += rows
	}
	if got != want {
		f.Broken = append(f.Broken, fmt.Sprintf("the partitions hold %d rows; what has arrived and is not dropped makes %d", got, want))
	}
	for level := range s.windows {
		op := &model.Op{Kind: model.Scan, Table: rollupName(level), Columns: []string{colCount}, Aggregate: model.Sum}
		n, _, err := workload.QueryInt(ctx, session, op)
		if err != nil {
			return err
		}
		if want := s.aggregates(jobs, level) * s.windows[level]; n != want {
			f.Broken = append(f.Broken, fmt.Sprintf("the counts of %s make %d; its windows with all their measurements make %d", rollupName(level), n, want))
		}
	}
	return nil
}

// expected returns the number of measurements that have arrived and are not dropped.
func (s *stage) expected(e state) (n int64) {
	first := e.dropped * s.partition * s.perTick
	for w, done := range e.slots {
		n += max(0, done-first)
		for slot := max(first, done-s.lateness()*s.perTick); slot < done; slot++ {
			d, tick := s.at(int64(w), slot)
			if arrived, _ := s.certain(s.data.fate(d, tick), d, s.data, done); !arrived {
				n--
			}
		}
		if e.tasks[w] > 0 {
			begun := &sender{stage: s, writer: int64(w), size: s.p.Int("batch"), slot: done}
			begun.batch()
			n += begun.stored(int(e.tasks[w]))
		}
	}
	return n
}

// at returns the device and tick of a writer's slot.
func (s *stage) at(w, slot int64) (d, tick int64) {
	return int64(s.data.order[slot%s.perTick*s.writers+w]), slot / s.perTick
}

// note reports what clients have found wrong, and how far the background is behind.
func (s *stage) note(f *workload.Finding, e state) {
	var sent [len(writerKinds)]int64
	for _, w := range s.senders {
		for k, n := range w.sent {
			sent[k] += n
		}
		if w.wrong > 0 {
			f.Broken = append(f.Broken, fmt.Sprintf("%d statements of a writer changed another number of rows than they had to; duplicates none", w.wrong))
		}
	}
	for _, q := range s.queries {
		if q.wrong != "" && s.env.Results {
			f.Broken = append(f.Broken, fmt.Sprintf("%d results of a reader are wrong, such as: %s", q.wrongs, q.wrong))
		}
	}
	if s.keeper == nil || len(s.senders) == 0 {
		return
	}
	f.Notes = append(f.Notes,
		fmt.Sprintf("sent: %d late, %d again, all of them ignored, %d after outages; %d values corrected",
			sent[kindLate], sent[kindAgain], sent[kindBackfill], sent[kindCorrect]),
		fmt.Sprintf("%d partitions dropped; %d roll-up operations were due at the end", e.dropped-s.start.dropped, max(0, s.jobsUntil(s.clock.tick())-e.jobs)))
}
