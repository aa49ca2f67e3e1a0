package sysbench

import (
	"context"
	"errors"
	"slices"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// client performs the events of a test. An event is drawn completely before it begins,
// and kept until it is completed or given up, so that a retry has the same keys.
type client struct {
	stage  *testStage
	test   *test
	rows   int64 // of a table
	tables int64 // number of tables that it uses
	seat   int64
	turns  int64 // number of tables that takeOwn has tried
	random
	statements
	drawing

	phase, done int64 // for a ratio: determine which transactions write
	tally       tally
	result      engine.Result
}

// random holds the sources of a client's draws.
type random struct {
	source *gen.Source
	ids    gen.Distribution
	slice  gen.Distribution
	first  int64 // the first value of its slice
	zipf   gen.Distribution
}

// statements are the prepared statements of a client.
type statements struct {
	blocks, writer []prepared
	workload.Transaction
}

// drawing is the current event of a client.
type drawing struct {
	drawn bool
	over  bool // there are no rows left to take
	kind  int
	calls []call
	args  []model.Value
	text  []byte
	spans []span           // scratch of expect
	id    int64            // shared by a delete and an insert, or the client's own
	at    int              // without a transaction: the next call
	soFar workload.Outcome // without a transaction: of the completed calls
}

// tally counts the changes that a client has made.
type tally struct{ rows, k int64 }

// prepared is a block with its statements prepared for every table.
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
	end      int   // the end of its arguments
	expected int64 // rows that it should find
}

// prepareBlocks prepares the statements of blocks for the tables of the level.
func (c *client) prepareBlocks(ctx context.Context, session engine.Session,
	blocks []block) (out []prepared, err error) {
	parts := c.stage.parts
	for _, b := range blocks {
		var p prepared
		for _, u := range b {
			pu := preparedUnit{times: u.times}
			for i := range u.statements {
				s := preparedStatement{statement: &u.statements[i], part: slices.Index(parts, u.statements[i].name)}
				for n := range int(c.tables) {
					op := s.on(n)
					op.Blind = op.Kind == model.Update && c.stage.blind
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

func (c *client) Ready(context.Context) error {
	if !c.drawn {
		c.event()
	}
	return nil
}

func (c *client) Abandon() { c.drawn = false }

func (c *client) event() {
	c.drawn, c.at, c.kind, c.soFar = true, 0, 0, workload.Outcome{}
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

// addBlocks adds the statements of blocks; table is the transaction's.
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
		start := len(c.args)
		s.args(c)
		c.calls = append(c.calls, call{s, s.table[table], len(c.args), c.expect(s.statement, c.args[start:])})
	}
}

// drawTable draws a table uniformly, unless the test defines the table.
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

// takeOwn takes a row that no client has taken and returns its table.
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

// draw draws an id or a value of k.
func (c *client) draw() int64 { return 1 + c.ids.Draw(c.source) }

// inSlice draws a value of the client's slice of the table.
func (c *client) inSlice() int64 { return c.first + c.slice.Draw(c.source) }

func (c *client) int(n int64) { c.args = append(c.args, model.IntValue(n)) }

func (c *client) digits(groups int) { c.args, c.text = appendText(c.args, c.text, c.source, groups) }

func (c *client) Do(ctx context.Context, out *workload.Outcome) error {
	out.Kind = c.kind
	if c.over {
		return workload.ErrDone
	}
	if !c.test.transaction {
		return c.autocommit(ctx, out)
	}
	var t tally
	err := c.transaction(ctx, out, &t)
	if err != nil {
		return errors.Join(err, c.Rollback(ctx, err, out))
	}
	c.finish(out, t)
	return nil
}

// transaction executes the event between BEGIN and COMMIT.
func (c *client) transaction(ctx context.Context, out *workload.Outcome, t *tally) error {
	out.Parts.Reset() // a failed attempt has left no changes
	out.Parts.Start()
	if err := c.Begin(ctx, out); err != nil {
		return err
	}
	out.Parts.Stop(c.stage.beginPart[c.kind])
	start := 0
	for i := range c.calls {
		if err := c.execute(ctx, &c.calls[i], start, out, t); err != nil {
			return err
		}
		start = c.calls[i].end
	}
	out.Parts.Start()
	if err := c.Commit(ctx, out); err != nil {
		return err
	}
	out.Parts.Stop(c.stage.commitPart[c.kind])
	return nil
}

// autocommit executes the statements of the event, each as its own transaction. After an
// error it continues with the failed statement.
func (c *client) autocommit(ctx context.Context, out *workload.Outcome) error {
	c.soFar.Parts = out.Parts
	start := 0
	if c.at > 0 {
		start = c.calls[c.at-1].end
	}
	for ; c.at < len(c.calls); c.at++ {
		var t tally
		if err := c.execute(ctx, &c.calls[c.at], start, &c.soFar, &t); err != nil {
			return err
		}
		start = c.calls[c.at].end
		c.tally.add(t)
	}
	c.soFar.Kind = c.kind
	*out = c.soFar
	c.finish(out, tally{})
	return nil
}

func (c *client) execute(ctx context.Context, s *call, start int, out *workload.Outcome, t *tally) error {
	out.Parts.Start()
	if err := s.stmt.Exec(ctx, c.args[start:s.end], &c.result); err != nil {
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
		out.Others++ // as in sysbench, since it changed nothing
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

// finish ends a completed event.
func (c *client) finish(out *workload.Outcome, t tally) {
	out.Rows = 1
	if c.test.rows {
		out.Rows = c.stage.held[c.seat%c.tables]
	}
	c.tally.add(t)
	c.done++
	c.drawn = false
}
