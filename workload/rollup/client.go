package rollup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
)

// order returns the bucket sizes of the statements in execution order; 0 is the base
// table.
func (r *run) order() []int64 {
	if r.p.String("order") == rollupFirst {
		return append(slices.Clone(buckets), 0)
	}
	return append([]int64{0}, buckets...)
}

// parts returns the statements that are timed individually: begin, those of order, and
// commit. Without transactions there are only those of order.
func (r *run) parts() []string {
	names := []string{}
	for _, b := range r.order() {
		names = append(names, map[int64]string{0: "insert", 10: "roll-up by 10", 100: "roll-up by 100",
			1000: "roll-up by 1000"}[b])
	}
	if r.atomic {
		names = append(append([]string{"begin"}, names...), "commit")
	}
	return names
}

// client inserts facts. The values of a transaction are kept until it is committed.
type client struct {
	*stage
	workload.Transaction
	facts facts
	stmts [][]engine.Stmt // by table, in order

	ready  bool
	fact   fact
	table  int
	args   [][]model.Value
	at     int              // without transactions: the next statement
	soFar  workload.Outcome // without transactions: of the completed statements
	result engine.Result
}

func (s *stage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	c := &client{stage: s, facts: s.newFacts(s.env.Seed)}
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
	if !s.atomic {
		return c, nil
	}
	var err error
	c.Transaction, err = workload.NewTransaction(ctx, seat.Session)
	return c, err
}

// Ready draws a fact, unless one must be retried.
func (c *client) Ready(context.Context) error {
	if c.ready {
		return nil
	}
	var n int64
	c.table, n = c.draw()
	c.facts.set(&c.fact, c.table, n)
	for i, bucket := range c.rows {
		c.args[i] = c.appendRow(c.args[i][:0], &c.fact, bucket)
	}
	c.ready, c.at, c.soFar = true, 0, workload.Outcome{}
	return nil
}

// draw returns the table of the next fact, and its number there.
func (s *stage) draw() (table int, n int64) {
	if s.env.Part.Joins() {
		return s.drawDealt()
	}
	drawn := s.drawn.Add(1) - 1
	table = s.tableOf(drawn)
	if n = s.next[table].Add(1) - 1; s.global {
		n = drawn
	}
	return table, n
}

func (s *stage) tableOf(drawn int64) int { return int(s.draws.Uniform(uint64(drawn), int64(s.tables))) }

// drawDealt is draw if other processes have facts too: their numbers are known without them.
func (s *stage) drawDealt() (table int, n int64) {
	s.dealt.Lock()
	defer s.dealt.Unlock()
	drawn := s.first + s.deal.Take()
	for s.drawn.Load() <= drawn {
		table = s.tableOf(s.drawn.Add(1) - 1)
		n = s.next[table].Add(1) - 1
	}
	if s.taken[table]++; s.global {
		n = drawn
	}
	return table, n
}

// Counts implements workload.Counting: the facts that were drawn, by table.
func (s *stage) Counts() []int64 {
	s.dealt.Lock()
	defer s.dealt.Unlock()
	return slices.Clone(s.taken)
}

// Count implements workload.Counting.
func (s *stage) Count(sums []int64) { s.taken = sums }

// Abandon drops a fact; its number remains a gap.
func (c *client) Abandon() { c.ready = false }

func (c *client) Do(ctx context.Context, out *workload.Outcome) error {
	if !c.atomic {
		return c.alone(ctx, out)
	}
	if err := c.transaction(ctx, out); err != nil {
		return errors.Join(err, c.Rollback(ctx, err, out))
	}
	out.Rows, out.Bytes = 1, c.bytes
	c.ready = false
	return nil
}

func (c *client) transaction(ctx context.Context, out *workload.Outcome) error {
	out.Parts.Reset() // a failed attempt has left no changes
	out.Parts.Start()
	if err := c.Begin(ctx, out); err != nil {
		return err
	}
	out.Parts.Stop(0)
	for i := range c.args {
		if err := c.execute(ctx, i, i+1, out); err != nil {
			return err
		}
	}
	out.Parts.Start()
	if err := c.Commit(ctx, out); err != nil {
		return err
	}
	out.Parts.Stop(len(c.args) + 1)
	return nil
}

// alone executes each statement as a separate transaction. After an error it continues
// with the failed statement.
func (c *client) alone(ctx context.Context, out *workload.Outcome) error {
	c.soFar.Parts = out.Parts
	for ; c.at < len(c.args); c.at++ {
		if err := c.execute(ctx, c.at, c.at, &c.soFar); err != nil {
			return err
		}
	}
	*out = c.soFar
	out.Rows, out.Bytes = 1, c.bytes
	c.ready = false
	return nil
}

// execute executes statement i. If a new fact exists already, the error is permanent: the
// next attempt would fail, too.
func (c *client) execute(ctx context.Context, i, part int, out *workload.Outcome) error {
	out.Parts.Start()
	if err := c.stmts[c.table][i].Exec(ctx, c.args[i], &c.result); err != nil {
		if c.rows[i] == 0 && engine.ClassOf(err) == engine.Duplicate {
			return engine.Classify(engine.Fatal, hint.With(fmt.Errorf("insert a new fact into %s: %w", baseName(c.table), err),
				"it exists if the tables were filled by a run that was cut short: fill them anew"))
		}
		return err
	}
	out.Parts.Stop(part)
	out.Writes++
	return nil
}
