package declared

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// client performs the operations of a group. The values of an operation are drawn once,
// and every attempt uses them again.
type client struct {
	*stage
	group *group
	env   env
	ops   []*operation           // of the group
	begin []workload.Transaction // by operation
	late  gen.Stream             // draws for late statements, by the number of the operation

	// tell, if set, is called after each statement.
	tell func(s *statement, err error)

	number int64 // operations begun
	ready  bool
	kind   int        // the operation
	text   int        // how much of env.text is drawn before the first statement
	done   int        // statements completed
	work   model.Work // done by these statements
}

// newClient compiles the operations of a group for a seat.
func (s *stage) newClient(ctx context.Context, g *group, seat workload.Seat) (*client, error) {
	c := s.compiler(s.env.DataSeed())
	operations := c.readOperations(s.root.Get("operations"))
	if len(c.Problems) > 0 {
		return nil, c.Problems
	}
	stream := gen.NewStream(s.env.Seed, "declared", s.step.Name, g.name).Sub(uint64(seat.Client))
	out := &client{stage: s, group: g, late: stream.Sub(1)}
	out.env.src = *gen.NewSource(stream.Sub(0))
	for _, name := range g.ops {
		o := operations[slices.IndexFunc(operations, func(o *operation) bool { return o.name == name })]
		out.ops = append(out.ops, o)
		if len(out.env.vars) < o.vars {
			out.env.vars = make([]model.Value, o.vars)
		}
		if err := out.prepare(ctx, o, seat.Session); err != nil {
			return nil, fmt.Errorf("operation %s: %w", name, err)
		}
	}
	return out, nil
}

// prepare prepares the statements of an operation.
func (c *client) prepare(ctx context.Context, o *operation, session engine.Session) (err error) {
	var t workload.Transaction
	if o.atomic {
		if t, err = workload.NewTransactionAt(ctx, session, o.isolation); err != nil {
			return err
		}
	}
	c.begin = append(c.begin, t)
	// All clients draw the same examples, so that their statements are the same.
	stream := gen.NewStream(c.stage.env.Seed, "example", c.step.Name, o.name)
	e := env{src: *gen.NewSource(stream), vars: make([]model.Value, o.vars)}
	for i := range o.draws {
		e.vars[o.draws[i].slot] = o.draws[i].value.get(&e)
	}
	for _, s := range o.statements {
		s.on(c.stage.env.DB)
		for i := range s.variants {
			v := &s.variants[i]
			v.op.Example = s.example(&e, v)
			v.op.Blind = v.op.Blind && !s.table.holes && s.table.rows() > 0
			if v.stmt, err = session.Prepare(ctx, &v.op); err != nil {
				return err
			}
		}
		if s.kind == sInsert && s.row != nil && s.table.rows() == 0 {
			s.table.unknown = true // there is no row to choose, so it inserts a different one
		}
		s.rows = make([]int64, s.count)
		s.returns = !o.writes()
		if s.table != nil {
			s.entries = c.entryBytes(s.table, &s.variants[0].op)
		}
		if len(s.carries) > 0 || len(s.proofs) > 0 {
			s.result.Each = func(row []model.Value) { c.returned(s, row) }
		}
	}
	return nil
}

// Ready draws the next operation, unless one has to be tried again.
func (c *client) Ready(context.Context) error {
	if c.ready {
		return nil
	}
	if c.kind = int(c.number % int64(len(c.ops))); c.group.mix != nil {
		c.kind = int(c.group.mix.Draw(&c.env.src))
	} else if turns := c.group.turns; len(turns) > 0 {
		c.kind = turns[c.number%int64(len(turns))]
	}
	c.number++
	c.env.text = c.env.text[:0]
	o := c.ops[c.kind]
	for i := range o.draws {
		c.env.vars[o.draws[i].slot] = o.draws[i].value.get(&c.env)
	}
	for _, s := range o.statements {
		s.draw(&c.env)
	}
	c.text, c.done, c.work, c.ready = len(c.env.text), 0, model.Work{}, true
	return c.env.wrong()
}

// draw draws the values that are known before the operation.
func (s *statement) draw(e *env) {
	if n := len(s.variants); n > 1 {
		s.variant = int(e.src.Uniform(int64(n)))
	}
	switch {
	case s.fresh:
		first := s.table.next.Add(s.count) - s.count
		for i := range s.rows {
			s.rows[i] = first + int64(i)
		}
	case s.row != nil && !s.row.late:
		s.choose(e)
	}
	if !s.late {
		s.fill(e)
	}
}

// example returns arguments as a client may draw them; nil if they cannot be known before the operation.
func (s *statement) example(e *env, v *variant) (args []model.Value) {
	if s.kind == sInsert || s.late || s.row != nil && (s.row.late || s.table.rows() == 0) {
		return nil
	}
	for range s.count {
		row := int64(0)
		if s.row != nil {
			row = s.row.num(e)
		}
		for i := range v.args {
			args = append(args, v.args[i].get(e, row).Clone())
		}
	}
	return args
}

func (s *statement) choose(e *env) {
	for i := range s.rows {
		s.rows[i] = s.row.num(e)
	}
}

// fill computes the arguments.
func (s *statement) fill(e *env) {
	s.args = s.args[:0]
	v := &s.variants[s.variant]
	for _, row := range s.rows {
		for i := range v.args {
			s.args = append(s.args, v.args[i].get(e, row))
		}
	}
}

// fillLate computes arguments that depend on returned values. It uses separate draws, so
// that a further attempt gets the same arguments.
func (c *client) fillLate(s *statement) {
	drawn := c.env.src
	c.env.src = *gen.NewSource(c.late.Sub(uint64(c.number)).Sub(uint64(c.done)))
	if s.row != nil && s.row.late {
		s.choose(&c.env)
	}
	s.fill(&c.env)
	c.env.src = drawn
}

// Do performs the operation. Without a transaction, a retry does not repeat the
// statements that a failed attempt has completed.
func (c *client) Do(ctx context.Context, out *workload.Outcome) error {
	o, t := c.ops[c.kind], &c.begin[c.kind]
	out.Kind = c.kind
	if o.atomic {
		c.done, c.work = 0, model.Work{}
	}
	c.env.text = c.env.text[:c.text]
	if err := c.attempt(ctx, o, t, out); err != nil {
		if o.atomic {
			c.done = 0
			err = errors.Join(err, t.Rollback(ctx, err, out))
		}
		return c.explain(o, err)
	}
	out.Work.Add(&c.work)
	out.Rows = 1
	return c.end(o)
}

// Abandon drops the operation.
func (c *client) Abandon() {
	if c.ready {
		_ = c.end(c.ops[c.kind]) // the step ends with the next operation, if it has to
	}
}

// end notes which rows exist now: rows that the operation has not inserted will never be.
func (c *client) end(o *operation) (err error) {
	c.ready = false
	for i, s := range o.statements {
		for _, row := range s.rows {
			switch {
			case i >= c.done && s.fresh:
				err = errors.Join(err, s.table.giveUp(row))
			case i >= c.done:
			case s.fresh: // another client may have deleted it already
				err = errors.Join(err, s.table.done(row))
			case s.kind == sInsert:
				s.table.dead.set(row, false)
			case s.kind != sDelete || s.result.Rows == 0:
			case s.row != nil:
				s.table.dead.set(row, true)
			case s.rowOf != nil:
				s.table.dead.set(s.rowOf(s.args[0].Int()), true)
			default:
				s.table.gone.Add(s.result.Rows)
			}
		}
	}
	if err != nil {
		return engine.Classify(engine.Fatal, err)
	}
	return nil
}

// attempt executes the remaining statements. It ends early if a statement that carries
// values finds no row.
func (c *client) attempt(ctx context.Context, o *operation, t *workload.Transaction, out *workload.Outcome) error {
	if err := t.Begin(ctx, out); err != nil {
		return err
	}
	for found := true; found && c.done < len(o.statements); c.done++ {
		var err error
		if found, err = c.execute(ctx, o.statements[c.done]); err != nil {
			return err
		}
	}
	return t.Commit(ctx, out)
}

// execute executes a statement. found is false if it carries values of a row, and finds
// none.
func (c *client) execute(ctx context.Context, s *statement) (found bool, err error) {
	if s.late {
		c.fillLate(s)
		if err := c.env.wrong(); err != nil {
			return false, err
		}
	}
	v := &s.variants[s.variant]
	s.seen = len(s.carries) == 0
	err = v.stmt.Exec(ctx, s.args, &s.result)
	if c.tell != nil {
		c.tell(s, err)
	}
	if err != nil {
		return false, err
	}
	if s.result.Rows < s.required && c.stage.env.Results {
		return false, engine.Errorf(engine.Conflict, "%s found %d rows, and requires %d: others were faster", v.op.Label(),
			s.result.Rows, s.required)
	}
	s.account(&v.op, &c.work)
	for i := range s.carries {
		if k := &s.carries[i]; k.column < 0 {
			c.env.vars[k.slot] = s.aggregate(&v.op)
			s.seen = true
		}
	}
	return s.seen || !s.needed, nil
}

// aggregate returns the assigned number, or the aggregate; the aggregate of no rows is 0.
func (s *statement) aggregate(op *model.Op) model.Value {
	switch {
	case !s.result.Value.IsNull():
		return s.result.Value
	case op.Aggregate == model.Sum && s.table.Columns[s.table.Column(op.Columns[0])].Type == model.Float:
		return model.FloatValue(0)
	}
	return model.IntValue(0)
}

// returned checks the row's texts that prove themselves, and keeps the carried values of
// the first row.
func (c *client) returned(s *statement, row []model.Value) {
	for _, i := range s.proofs {
		if !isProven(row[i].Buf()) {
			c.spoiled.Add(1)
		}
	}
	if s.seen {
		return
	}
	s.seen = true
	for i := range s.carries {
		k := &s.carries[i]
		v := row[k.column]
		if v.Type().IsText() { // the row is valid only during the call
			k.memory = append(k.memory[:0], v.Buf()...)
			v = model.BufValue(v.Type(), k.memory)
		}
		c.env.vars[k.slot] = v
	}
}

// account adds the work of a statement.
func (s *statement) account(op *model.Op, w *model.Work) {
	rows := s.result.Rows
	switch op.Kind {
	case model.Get, model.Scan:
		w.Reads++
		if s.returns {
			w.Bytes += s.result.Bytes
		}
	case model.Insert:
		inserted := s.count
		if op.OnConflict == model.Ignore {
			inserted = min(rows, s.count)
		}
		if inserted == 0 {
			w.Others++
			break
		}
		w.Writes++
		w.Bytes += (s.entries*s.count + sizes(s.args)) * inserted / s.count
	case model.Own:
		s.accountOwn(op, w)
	default:
		if rows == 0 {
			w.Others++
			break
		}
		w.Writes++
		w.Bytes += (s.entries + sizes(s.args[:len(op.Set)])) * rows
	}
	if s.expected == 0 || s.table != nil && s.table.holes {
		return
	}
	expected := s.expected
	if s.ofRows && s.count > 1 { // a row chosen twice is returned once or twice
		slices.Sort(s.rows)
		for i := range s.rows[1:] {
			if s.rows[i] == s.rows[i+1] {
				expected--
			}
		}
	}
	if op.Aggregate == model.Count {
		rows = s.aggregate(op).Int()
	}
	w.Expected += expected
	w.Found += min(rows, expected)
}

// accountOwn adds the work of custom SQL: the bytes that it returned, or those of its
// arguments.
func (s *statement) accountOwn(op *model.Op, w *model.Work) {
	switch {
	case len(op.Returns) > 0:
		w.Reads++
		if s.returns {
			w.Bytes += s.result.Bytes
		}
	case s.result.Rows == 0:
		w.Others++
	default:
		w.Writes++
		w.Bytes += sizes(s.args)
	}
}

func sizes(values []model.Value) (sum int64) {
	for _, v := range values {
		sum += int64(v.Size())
	}
	return sum
}

// explain makes an error final if every further attempt would repeat it.
func (c *client) explain(o *operation, err error) error {
	if engine.ClassOf(err) != engine.Duplicate || c.group.retry.Policy != workload.RetrySame {
		return err
	}
	return engine.Classify(engine.Fatal, hint.With(fmt.Errorf("operation %s: %w", o.name, err),
		"the row exists: say with conflict what the insert does then, or with retry: new that it takes other values; "+
			"after a run with another seed, load the tables anew"))
}
