package rollup

import (
	"context"
	"errors"
	"slices"

	"rumbench/engine"
	"rumbench/internal/gen"
	"rumbench/model"
	"rumbench/workload"
)

// order returns the bucket sizes of the statements in their order; 0 is the base table.
func (r *run) order() []int64 {
	if r.p.String("order") == rollupFirst {
		return append(slices.Clone(buckets), 0)
	}
	return append([]int64{0}, buckets...)
}

// parts returns the statements that are timed individually: begin, those of order,
// and commit. Without transactions there are only the latter.
func (r *run) parts() []string {
	names := []string{}
	for _, b := range r.order() {
		names = append(names, map[int64]string{0: "insert", 10: "roll-up by 10", 100: "roll-up by 100", 1000: "roll-up by 1000"}[b])
	}
	if r.p.Bool("transactions") {
		names = append(append([]string{"begin"}, names...), "commit")
	}
	return names
}

// client inserts facts. The values of a transaction are kept until it is committed.
type client struct {
	*stage
	facts                   facts
	draws                   gen.Stream // of tables
	drawn                   uint64     // number of draws
	begin, commit, rollback engine.Stmt
	stmts                   [][]engine.Stmt // by table, in order

	ready  bool
	fact   fact
	table  int
	args   [][]model.Value
	at     int              // without transactions: the first statement to be done
	soFar  workload.Outcome // without transactions: of those before it
	result engine.Result
}

func (s *stage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	c := &client{stage: s, facts: s.newFacts(s.env.Seed), draws: gen.NewStream(s.env.Seed, "rollup", s.name, "tables").Sub(uint64(seat.Client))}
	schema := s.Schema()
	for n := range s.tables {
		var stmts []engine.Stmt
		for _, bucket := range s.rows {
			t, err := schema.Table(tableName(n, bucket))
			if err != nil {
				return nil, err
			}
			op := &model.Op{Kind: model.Insert, Table: t.Name, Columns: t.ColumnNames(), Rows: 1}
			if bucket > 0 {
				op.OnConflict, op.AddColumns = model.Add, []string{colK}
			}
			stmt, err := seat.Session.Prepare(ctx, op)
			if err != nil {
				return nil, err
			}
			stmts = append(stmts, stmt)
		}
		c.stmts = append(c.stmts, stmts)
	}
	c.args = make([][]model.Value, len(c.stmts[0]))
	if !s.p.Bool("transactions") {
		return c, nil
	}
	for _, of := range []struct {
		kind model.Kind
		to   *engine.Stmt
	}{{model.Begin, &c.begin}, {model.Commit, &c.commit}, {model.Rollback, &c.rollback}} {
		var err error
		if *of.to, err = seat.Session.Prepare(ctx, &model.Op{Kind: of.kind}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Ready draws a fact, unless one has to be tried again.
func (c *client) Ready(context.Context) error {
	if c.ready {
		return nil
	}
	var n int64
	if c.global {
		n = c.next[0].Add(1) - 1
		c.table = int(c.scope.Uniform(uint64(n), int64(c.tables)))
	} else {
		c.table = int(c.draws.Uniform(c.drawn, int64(c.tables)))
		c.drawn++
		n = c.next[c.table].Add(1) - 1
	}
	c.facts.set(&c.fact, c.table, n)
	for i, bucket := range c.rows {
		c.args[i] = c.appendRow(c.args[i][:0], &c.fact, bucket)
	}
	c.ready, c.at, c.soFar = true, 0, workload.Outcome{}
	return nil
}

// Abandon drops a fact; its number remains a gap.
func (c *client) Abandon() { c.ready = false }

func (c *client) Do(ctx context.Context, out *workload.Outcome) error {
	if c.begin == nil {
		return c.alone(ctx, out)
	}
	if err := c.transaction(ctx, out); err != nil {
		out.Others++
		undone := c.rollback.Exec(ctx, nil, &c.result)
		if engine.ClassOf(err) == engine.Gone {
			undone = nil // there is nothing to undo
		}
		return errors.Join(err, undone)
	}
	out.Rows, out.Bytes = 1, c.bytes
	c.ready = false
	return nil
}

func (c *client) transaction(ctx context.Context, out *workload.Outcome) error {
	out.Parts.Reset() // a failed attempt has left nothing
	if err := c.execute(ctx, c.begin, nil, 0, out); err != nil {
		return err
	}
	for i, stmt := range c.stmts[c.table] {
		if err := c.execute(ctx, stmt, c.args[i], i+1, out); err != nil {
			return err
		}
		out.Writes++
	}
	out.Others += 2
	return c.execute(ctx, c.commit, nil, len(c.args)+1, out)
}

// alone executes each statement by itself. After an error it continues with the
// failed one.
func (c *client) alone(ctx context.Context, out *workload.Outcome) error {
	c.soFar.Parts = out.Parts
	for ; c.at < len(c.args); c.at++ {
		if err := c.execute(ctx, c.stmts[c.table][c.at], c.args[c.at], c.at, &c.soFar); err != nil {
			return err
		}
		c.soFar.Writes++
	}
	*out = c.soFar
	out.Rows, out.Bytes = 1, c.bytes
	c.ready = false
	return nil
}

func (c *client) execute(ctx context.Context, stmt engine.Stmt, args []model.Value, part int, out *workload.Outcome) error {
	out.Parts.Start()
	if err := stmt.Exec(ctx, args, &c.result); err != nil {
		return err
	}
	out.Parts.Stop(part)
	return nil
}
