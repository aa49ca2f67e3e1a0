package declared

import (
	"context"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// open starts a step. The first step that a process starts on existing tables counts
// their rows.
func (r *run) open(ctx context.Context, subject *step, env workload.Env) (workload.Stage, error) {
	s := &stage{run: r, step: &subject.Step, spec: subject, env: env}
	switch {
	case subject.Creates:
		r.begin(true)
		for _, t := range r.tables {
			if names := subject.atOnce[t]; len(names) > 0 && !env.Part.Joins() {
				if err := env.DB.CreateIndexes(ctx, t.Name, names...); err != nil {
					return nil, err
				}
			}
		}
	case env.Previous == nil || r.unread:
		r.unread = false
		r.begin(false)
		if err := workload.InSession(ctx, env.DB, r.findRows); err != nil {
			return nil, err
		}
	}
	for _, t := range r.tables {
		t.prepare()
	}
	if subject.clears {
		if !env.Part.Joins() {
			if err := env.DB.ClearTable(ctx, subject.table.Name); err != nil {
				return nil, err
			}
		}
		subject.table.reset(0)
	}
	for _, t := range r.tables {
		s.before = append(s.before, t.count())
	}
	if subject.kind == stepLoad {
		s.start = subject.table.next.Load()
		s.batches = workload.NewDeal(env.Part, 0, subject.Groups[0].Clients)
	}
	return s, nil
}

// begin drops the knowledge from an earlier run of the same process.
func (r *run) begin(created bool) {
	r.whole = created
	clear(r.done)
	for _, t := range r.tables {
		t.reset(0)
	}
}

// findRows determines which rows exist in tables that an earlier process has left. It
// does not know which rows were deleted.
func (r *run) findRows(ctx context.Context, session engine.Session) error {
	for _, t := range r.tables {
		rows, err := countRows(ctx, session, t)
		if err != nil {
			return err
		}
		next := rows
		if value := r.numberedBy(t); value != nil {
			key, found, err := workload.QueryInt(ctx, session,
				&model.Op{Kind: model.Scan, Table: t.Name, Columns: t.Key, Desc: true, Limit: 1})
			if err != nil {
				return err
			}
			if found {
				next = value(key) + 1
			}
		} else if t.deletes && rows > 0 {
			next = max(rows, t.loaded)
		}
		t.reset(next)
		t.counted(rows)
		t.holes = next != rows || t.deletes && rows > 0
	}
	return nil
}

// numberedBy returns the function from the greatest key to its row number; nil: there is
// none.
func (r *run) numberedBy(t *tableDef) func(int64) int64 {
	if len(t.Key) != 1 {
		return nil
	}
	return r.compiler(0).columns(t).list[t.Column(t.Key[0])].value.rowOf
}

// Client implements workload.Stage.
func (s *stage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	switch s.spec.kind {
	case stepLoad:
		return s.newLoader(seat), nil
	case stepIndex:
		if seat.Group == 0 {
			return &builder{s}, nil
		}
	}
	return s.newClient(ctx, s.spec.groups[seat.Group], seat)
}

// Finish settles which rows exist, and evaluates the checks.
func (s *stage) Finish(ctx context.Context, done workload.Totals) (f workload.Finding, err error) {
	s.takeCounts(&f)
	s.settle(done.Rows(s.step, sInsert))
	for g := range s.spec.groups {
		for k, name := range s.spec.groups[g].ops {
			s.done[name] += done[g][k].Ops
		}
	}
	if n := s.spoiled.Load(); n > 0 {
		f.Broken = append(f.Broken, fmt.Sprintf("%d texts that were read do not match their own checksums", n))
	}
	f.OwnSQL = s.ownSQL()
	if s.env.Results && s.params.Bool(checkParam.Name) && s.spec.kind == stepRun {
		err = workload.InSession(ctx, s.env.DB, func(ctx context.Context, session engine.Session) error {
			return s.check(ctx, session, &f)
		})
		if err != nil {
			return f, err
		}
	}
	f.Live.Partial = s.spec.otherTables || s.env.Previous != nil && s.env.Previous.Partial
	if f.Live.Partial {
		f.Notes = append(f.Notes, "SQL of the file's own may write to tables that are not in the file: "+
			"how many bytes users have is unknown")
	}
	for _, t := range s.tables {
		rows := t.live()
		f.Live.Rows += rows
		f.Live.Bytes += int64(float64(rows) * t.rowBytes(s.spec.built[t]))
	}
	return f, nil
}

// settle notes which rows exist after the step. loaded are those that a load has inserted.
func (s *stage) settle(loaded int64) {
	for _, t := range s.tables {
		t.settle()
	}
	if s.spec.kind == stepLoad {
		s.spec.table.grow(loaded)
	}
}

// check counts the rows of tables that the step may have changed, and evaluates the
// file's checks. If the expected number of rows is unknown, the counted number becomes
// the expected one.
func (s *stage) check(ctx context.Context, session engine.Session, f *workload.Finding) error {
	for _, t := range s.tables {
		if !t.unknown && !s.spec.changes(t) {
			continue
		}
		f.ReadAll = true
		rows, err := countRows(ctx, session, t)
		if err != nil {
			return err
		}
		if t.unknown || t.holes {
			t.counted(rows)
		} else if want := t.live(); rows != want {
			f.Broken = append(f.Broken, fmt.Sprintf("table %s has %d rows, and should have %d", t.Name, rows, want))
		}
	}
	if len(s.checks) > 0 && !s.whole {
		f.Notes = append(f.Notes, "the workload's checks are not evaluated: earlier runs have changed the tables")
		return nil
	}
	var hold []string
	for i := range s.checks {
		f.ReadAll = true
		broken := len(f.Broken)
		if err := s.evaluate(ctx, session, &s.checks[i], f); err != nil {
			return err
		}
		if len(f.Broken) == broken {
			hold = append(hold, s.checks[i].name)
		}
	}
	if len(hold) > 0 {
		f.Notes = append(f.Notes, "checks that hold: "+strings.Join(hold, ", "))
	}
	return nil
}

// openers sets the functions that open the steps.
func (r *run) openers() {
	for _, s := range r.all {
		if s.HasClients() {
			s.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) { return r.open(ctx, s, env) }
		}
		r.steps = append(r.steps, s.Step)
	}
}

// evaluate determines the numbers that a check needs, and evaluates it.
func (s *stage) evaluate(ctx context.Context, session engine.Session, k *check, f *workload.Finding) error {
	e := env{vars: make([]model.Value, len(k.needs))}
	for i, wanted := range k.needs {
		var err error
		switch {
		case wanted.done != "":
			e.vars[i] = model.IntValue(s.done[wanted.done])
		case wanted.column == "":
			var n int64
			n, err = countRows(ctx, session, wanted.table)
			e.vars[i] = model.IntValue(n)
		default:
			e.vars[i], err = sumOf(ctx, session, wanted)
		}
		if err != nil {
			return err
		}
	}
	a, b := k.left.real(&e), k.right.real(&e)
	if !comparisons[k.operator](a, b) {
		f.Broken = append(f.Broken, fmt.Sprintf("%s: %s does not hold: %v %s %v", k.name, k.text, a, k.operator, b))
	}
	return nil
}

func sumOf(ctx context.Context, session engine.Session, wanted need) (model.Value, error) {
	stmt, err := session.Prepare(ctx,
		&model.Op{Kind: model.Scan, Table: wanted.table.Name, Columns: []string{wanted.column}, Aggregate: model.Sum})
	if err != nil {
		return model.Value{}, err
	}
	var r engine.Result
	if err := stmt.Exec(ctx, nil, &r); err != nil {
		return model.Value{}, fmt.Errorf("sum %s of %s: %w", wanted.column, wanted.table.Name, err)
	}
	if !r.Value.IsNull() {
		return r.Value, nil
	}
	if wanted.table.Columns[wanted.table.Column(wanted.column)].Type == model.Float {
		return model.FloatValue(0), nil
	}
	return model.IntValue(0), nil
}
