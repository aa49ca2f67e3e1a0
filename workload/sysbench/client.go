package sysbench

import (
	"context"
	"errors"
	"slices"

	"rumbench/engine"
	"rumbench/internal/gen"
	"rumbench/model"
	"rumbench/workload"
)

// client performs the events of a test. An event is drawn as a whole before it
// begins, and kept until it has been done or given up: a second attempt has
// the same keys.
type client struct {
	stage  *testStage
	test   *test
	rows   int64 // of a table
	tables int64 // that it works on
	source *gen.Source
	ids    gen.Distribution
	slice  gen.Distribution
	first  int64 // of its slice
	zipf   gen.Distribution
	seat   int64
	turns  int64 // of tables that rows are taken from

	blocks, writer []prepared
	begin, commit  engine.Stmt
	rollback       engine.Stmt

	// The event.
	drawn bool
	over  bool // there are no more rows to be taken
	kind  int
	calls []call
	args  []model.Value
	text  []byte
	spans []span // of expect
	id    int64  // the one that a delete and an insert share, or that is the client's own
	at    int    // without a transaction: the first call that has not been done
	so    workload.Outcome

	phase, done int64 // of a ratio: which of so many transactions writes
	tally       tally
	result      engine.Result
}

// tally is what a client has changed.
type tally struct{ rows, k int64 }

// prepared is a block whose statements have been prepared for every table.
type prepared []preparedUnit

type preparedUnit struct {
	times      int64
	statements []preparedStatement
}

type preparedStatement struct {
	*statement
	part      int
	table     []engine.Stmt
	aggregate model.Aggregate
}

// call is one statement of an event.
type call struct {
	*preparedStatement
	stmt     engine.Stmt
	to       int   // where its arguments end
	expected int64 // rows that it has to find
}

// prepareBlocks readies the statements of blocks for the tables of the level.
func (c *client) prepareBlocks(ctx context.Context, session engine.Session, blocks []block) (out []prepared, err error) {
	parts := c.stage.parts
	for _, b := range blocks {
		var p prepared
		for _, u := range b {
			pu := preparedUnit{times: u.times}
			for i := range u.statements {
				s := preparedStatement{statement: &u.statements[i], part: slices.Index(parts, u.statements[i].name)}
				for n := range int(c.tables) {
					op := s.op(c.stage.run, n)
					stmt, err := session.Prepare(ctx, op)
					if err != nil {
						return nil, err
					}
					s.table, s.aggregate = append(s.table, stmt), op.Aggregate
				}
				pu.statements = append(pu.statements, s)
			}
			p = append(p, pu)
		}
		out = append(out, p)
	}
	return out, nil
}

// Ready draws the event.
func (c *client) Ready(context.Context) error {
	if !c.drawn {
		c.event()
	}
	return nil
}

// Abandon forgets the event.
func (c *client) Abandon() { c.drawn = false }

// event draws an event.
func (c *client) event() {
	c.drawn, c.at, c.kind, c.so = true, 0, 0, workload.Outcome{}
	c.calls, c.args, c.text = c.calls[:0], c.args[:0], c.text[:0]
	repeat, writes := int64(1), c.writer != nil
	if ratio := c.stage.level.ratio; ratio > 1 {
		if c.stage.repeats {
			repeat = ratio
		} else if writes = (c.done+c.phase)%ratio == 0; writes {
			c.kind = 1
		}
	}
	table := c.drawTable()
	for range repeat {
		c.addBlocks(c.blocks, table)
	}
	if writes {
		c.addBlocks(c.writer, table)
	}
}

// addBlocks adds the statements of blocks; table is that of the transaction.
func (c *client) addBlocks(blocks []prepared, table int64) {
	draw := c.stage.draw
	for _, b := range blocks {
		if draw == drawBlock && len(c.calls) > 0 {
			table = c.drawTable()
		}
		for i := range b {
			for range b[i].times {
				if draw == drawStatement && len(c.calls) > 0 {
					table = c.drawTable()
				}
				c.addUnit(&b[i], table)
			}
		}
	}
}

func (c *client) addUnit(u *preparedUnit, table int64) {
	for i := range u.statements {
		s := &u.statements[i]
		from := len(c.args)
		s.args(c)
		c.calls = append(c.calls, call{s, s.table[table], len(c.args), c.expect(s.statement, c.args[from:])})
	}
}

// drawTable draws a table, always uniformly, unless the test says which.
func (c *client) drawTable() int64 {
	switch {
	case c.test.spread:
		return c.seat % c.tables
	case c.test.own:
		return c.takeOwn()
	case c.tables == 1:
		return 0
	}
	return c.source.Uniform(c.tables)
}

// takeOwn takes a row that no client has had, and returns its table.
func (c *client) takeOwn() int64 {
	for range c.tables {
		c.turns++
		table := (c.seat + c.turns) % c.tables
		if next := c.stage.removed[table].Add(1) - 1; next < c.rows {
			c.id = c.stage.order.At(next) + 1
			return table
		}
	}
	c.over = true
	return 0
}

// draw draws an id, or a value of k.
func (c *client) draw() int64 { return 1 + c.ids.Draw(c.source) }

// inSlice draws a value of the client's slice of the table.
func (c *client) inSlice() int64 { return c.first + c.slice.Draw(c.source) }

func (c *client) int(n int64) { c.args = append(c.args, model.IntValue(n)) }

func (c *client) digits(groups int) {
	c.args, c.text = appendText(c.args, c.text, c.source, groups)
}

// Do performs the event.
func (c *client) Do(ctx context.Context, out *workload.Outcome) error {
	out.Kind = c.kind
	if c.over {
		return workload.ErrDone
	}
	if !c.test.transaction {
		return c.alone(ctx, out)
	}
	var t tally
	err := c.transaction(ctx, out, &t)
	if err != nil {
		// Whatever the error was: a server that undid a statement only would
		// otherwise commit the others with the next transaction.
		out.Others++
		return errors.Join(err, c.undo(ctx, err))
	}
	c.finish(out, t)
	return nil
}

func (c *client) undo(ctx context.Context, why error) error {
	err := c.rollback.Exec(ctx, nil, &c.result)
	if engine.ClassOf(why) == engine.Gone {
		return nil // there is nothing any more to be undone
	}
	return err
}

// transaction does the event between BEGIN and COMMIT.
func (c *client) transaction(ctx context.Context, out *workload.Outcome, t *tally) error {
	out.Parts.Reset() // of an attempt that failed nothing is left
	out.Parts.Start()
	if err := c.begin.Exec(ctx, nil, &c.result); err != nil {
		return err
	}
	out.Parts.Stop(c.stage.beginPart[c.kind])
	out.Others++
	from := 0
	for i := range c.calls {
		if err := c.execute(ctx, &c.calls[i], from, out, t); err != nil {
			return err
		}
		from = c.calls[i].to
	}
	out.Parts.Start()
	if err := c.commit.Exec(ctx, nil, &c.result); err != nil {
		return err
	}
	out.Parts.Stop(c.stage.commitPart[c.kind])
	out.Others++
	return nil
}

// alone does the statements of the event, each a transaction of its own. After
// an error those that were done stay so, and it goes on behind them.
func (c *client) alone(ctx context.Context, out *workload.Outcome) error {
	c.so.Parts = out.Parts
	from := 0
	if c.at > 0 {
		from = c.calls[c.at-1].to
	}
	for ; c.at < len(c.calls); c.at++ {
		var t tally
		if err := c.execute(ctx, &c.calls[c.at], from, &c.so, &t); err != nil {
			return err
		}
		from = c.calls[c.at].to
		c.tally.add(t)
	}
	c.so.Kind = c.kind
	*out = c.so
	c.finish(out, tally{})
	return nil
}

// execute executes a statement whose arguments begin at from.
func (c *client) execute(ctx context.Context, s *call, from int, out *workload.Outcome, t *tally) error {
	out.Parts.Start()
	if err := s.stmt.Exec(ctx, c.args[from:s.to], &c.result); err != nil {
		return err
	}
	out.Parts.Stop(s.part)
	if s.sought != noRows && c.stage.env.Results {
		out.Expected += s.expected
		out.Found += s.found(&c.result, s.expected)
	}
	if !s.writes {
		out.Reads++
		if c.stage.returns {
			out.Bytes += c.result.Bytes
		}
		return nil
	}
	if c.result.Rows == 0 {
		out.Others++ // as sysbench counts: it changed nothing
		return nil
	}
	out.Writes++
	out.Bytes += s.bytes * c.result.Rows
	t.rows += s.adds * c.result.Rows
	t.k += s.raises * c.result.Rows
	return nil
}

func (t *tally) add(o tally) {
	t.rows += o.rows
	t.k += o.k
}

// finish ends an event that was done.
func (c *client) finish(out *workload.Outcome, t tally) {
	out.Rows = 1
	if c.test.rows {
		out.Rows = c.stage.held[c.seat%c.tables]
	}
	c.tally.add(t)
	c.done++
	c.drawn = false
}
