package declared

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// Tryout is a workload on trial: its loads insert a few rows, and each of its operations
// is done once.
type Tryout struct{ *run }

// Try returns a tryout with resolved parameters, and with at most the given number of
// rows per load.
func (w *Workload) Try(p workload.Params, rows int64) (Tryout, error) {
	r, err := w.limited(p, rows)
	return Tryout{r}, err
}

// Tried is the result of a statement.
type Tried struct {
	Step, Operation string
	Op              *model.Op
	Args            []string
	Rows            int64 // inserted, changed, deleted, or returned
	Carried         []string
	Err             error
}

// Do loads an empty database and does the operations, each in the first step that
// contains it. It calls tell after each statement of an operation, and after each load.
func (t Tryout) Do(ctx context.Context, db engine.DB, tell func(Tried)) error {
	if err := db.CreateTables(ctx); err != nil {
		return err
	}
	done := map[string]bool{}
	for _, s := range t.all {
		if !s.HasClients() {
			continue
		}
		if err := t.step(ctx, s, db, done, tell); err != nil {
			return fmt.Errorf("step %s: %w", s.Name, err)
		}
	}
	return nil
}

func (t Tryout) step(ctx context.Context, s *step, db engine.DB, done map[string]bool, tell func(Tried)) (err error) {
	opened, err := t.open(ctx, s, workload.Env{DB: db, Seed: 1, Results: true, Previous: &workload.Live{}})
	if err != nil {
		return err
	}
	stage := opened.(*stage)
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	seat := workload.Seat{Session: session}
	if s.kind != stepRun {
		c, err := stage.Client(ctx, seat)
		if err != nil {
			return err
		}
		work, err := all(ctx, c)
		tell(Tried{Step: s.Name, Rows: work.Rows, Err: err})
		stage.settle(work.Rows)
		return err
	}
	for _, g := range s.groups {
		once := &group{name: g.name, retry: g.retry}
		for _, name := range g.ops {
			if !done[name] {
				once.ops = append(once.ops, name)
			}
			done[name] = true
		}
		if len(once.ops) == 0 {
			continue
		}
		c, err := stage.newClient(ctx, once, seat)
		if err != nil {
			return err
		}
		if err := t.each(ctx, c, s, tell); err != nil {
			return err
		}
	}
	stage.settle(0)
	return nil
}

// all does all of a client's operations.
func all(ctx context.Context, c workload.Client) (work model.Work, err error) {
	for {
		var out workload.Outcome
		if r, ok := c.(workload.Readier); ok {
			if err := r.Ready(ctx); err != nil {
				return work, err
			}
		}
		if err := c.Do(ctx, &out); errors.Is(err, workload.ErrDone) {
			break
		} else if err != nil {
			return work, err
		}
		work.Add(&out.Work)
		if _, ok := c.(*builder); ok {
			break
		}
	}
	if f, ok := c.(workload.Finisher); ok {
		return work, f.Finish(ctx)
	}
	return work, nil
}

// each does each operation of a client once.
func (t Tryout) each(ctx context.Context, c *client, s *step, tell func(Tried)) error {
	c.tell = func(st *statement, err error) {
		tried := Tried{Step: s.Name, Operation: c.ops[c.kind].name, Op: &st.variants[st.variant].op, Rows: st.result.Rows,
			Err: err}
		for _, v := range st.args {
			tried.Args = append(tried.Args, shown(v))
		}
		for _, k := range st.carries {
			v := c.env.vars[k.slot]
			if k.column < 0 {
				v = st.aggregate(tried.Op)
			}
			if k.column < 0 || st.seen {
				tried.Carried = append(tried.Carried, k.name+" = "+shown(v))
			}
		}
		tell(tried)
	}
	for range c.ops {
		if _, err := once(ctx, c); err != nil {
			return fmt.Errorf("operation %s: %w", c.ops[c.kind].name, err)
		}
	}
	return nil
}

func once(ctx context.Context, c *client) (workload.Outcome, error) {
	var out workload.Outcome
	if err := c.Ready(ctx); err != nil {
		return out, err
	}
	return out, c.Do(ctx, &out)
}

// shown returns a value for people, shortened.
func shown(v model.Value) string {
	const limit = 40
	text := v.String()
	if v.Type() == model.Bytes || len(text) > limit &&
		!slices.Contains([]model.Type{model.Int, model.Time, model.Float}, v.Type()) {
		return fmt.Sprintf("%d bytes", v.Size())
	}
	return strings.ToValidUTF8(text, "?")
}
