package ibench

import (
	"context"
	"slices"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// rangeQuery reads the first entries of an index at or after a value.
type rangeQuery struct {
	name    string
	index   string // "" is the primary key
	columns []string
	lower   model.Bound
	// start draws the start value.
	start func(s gen.Stream, i uint64) model.Value
	// values is the number of distinct values of the first column, from 0,
	// uniformly distributed; 0: too many to reach the end of the index.
	values int64
}

// beyond returns the number of entries from a start value to the end, if the table has
// the given number of rows.
func (q *rangeQuery) beyond(start model.Value, rows int64) int64 {
	if q.values == 0 {
		return rows
	}
	first := start.Int()
	if q.lower == model.Exclusive {
		first++
	}
	return rows * (q.values - first) / q.values
}

// rangeQueries returns the types of range queries in the order of their indexes.
func (r *run) rangeQueries() []rangeQuery {
	whole := func(n int64) func(gen.Stream, uint64) model.Value {
		return func(s gen.Stream, i uint64) model.Value { return model.IntValue(s.Uniform(i, n)) }
	}
	price := func(s gen.Stream, i uint64) model.Value {
		return model.FloatValue(classicPrice(s.Unit(i), float64(r.p.Int("max_price")),
			s.Sub(1).Uniform(i, r.p.Int("customers"))))
	}
	var out []rangeQuery
	for _, ix := range r.indexes() {
		q := rangeQuery{name: ix.short, index: ix.name, columns: ix.columns, lower: model.Inclusive}
		switch ix.columns[0] {
		case colProduct:
			q.values = r.p.Int("products")
		case colRegister:
			q.values, q.lower = r.p.Int("cashregisters"), model.Exclusive // as in the original
		case colPrice:
			q.values = r.p.Int("max_price")
		}
		q.start = whole(q.values)
		if ix.columns[0] == colPrice && r.classic {
			q.start, q.values = price, 0
		}
		out = append(out, q)
	}
	if r.form == form2016 || len(out) == 0 {
		out = append(out, rangeQuery{name: "key", lower: model.Inclusive})
	}
	return out
}

// rangeClient executes range queries of random type.
type rangeClient struct {
	table   *table
	limit   int64 // entries per query
	rows    int64 // expected in the table
	results bool
	queries []rangeQuery
	stmts   []engine.Stmt
	which   gen.Stream
	starts  []gen.Stream
	n       uint64
	arg     [1]model.Value
	result  engine.Result
}

func (s *stage) newRangeClient(ctx context.Context, t *table, seat workload.Seat) (workload.Client, error) {
	stream := gen.NewStream(s.env.Seed, "ibench", s.plan.Name, "query").Sub(uint64(seat.Client))
	c := &rangeClient{
		table: t, queries: s.rangeQueries(), which: stream.Sub(0),
		limit: s.p.Int("rows_per_query"), rows: s.tableRows(), results: s.env.Results,
	}
	for i, q := range c.queries {
		op := &model.Op{Kind: model.Scan, Table: t.name, Columns: q.columns, Lower: q.lower, Limit: int(c.limit)}
		if q.index != "" {
			op.Index = t.name + "_" + q.index
		} else {
			op.Columns = append([]string{colID}, insertColumns...)
			c.queries[i].start = c.key
		}
		stmt, err := seat.Session.Prepare(ctx, op)
		if err != nil {
			return nil, err
		}
		c.stmts = append(c.stmts, stmt)
		c.starts = append(c.starts, stream.Sub(uint64(i+1)))
	}
	return c, nil
}

// key draws a key from those that existed when the step began.
func (c *rangeClient) key(s gen.Stream, i uint64) model.Value {
	first := c.table.firstID.Load()
	return model.IntValue(first + s.Uniform(i, max(c.table.lastID-first+1, 1)))
}

func (c *rangeClient) Do(ctx context.Context, out *workload.Outcome) error {
	k := int(c.which.Uniform(c.n, int64(len(c.queries))))
	c.arg[0] = c.queries[k].start(c.starts[k], c.n)
	if err := c.stmts[k].Exec(ctx, c.arg[:], &c.result); err != nil {
		return err
	}
	c.n++
	out.Kind, out.Rows, out.Bytes = k, 1, c.result.Bytes
	if c.results {
		out.Expected = min(c.limit, c.expected(k))
		out.Found = min(c.result.Rows, out.Expected)
	}
	return nil
}

// expected returns the number of entries from the start of a query of type k to the end.
func (c *rangeClient) expected(k int) int64 {
	q := &c.queries[k]
	if q.index == "" { // by key, up to the greatest key when the step began
		return c.table.lastID - c.arg[0].Int() + 1
	}
	return q.beyond(c.arg[0], c.rows)
}

// pointColumns are the columns of a point query.
var pointColumns = []string{colID, colProduct, colData}

// pointClient reads rows by lists of random keys.
type pointClient struct {
	table       *table
	get         engine.Stmt
	highestStmt engine.Stmt
	keys        gen.Stream
	n           uint64
	last        int64
	every       int64
	since       int64
	args        []model.Value
	drawn       []int64 // the keys, to count the distinct ones
	results     bool
	result      engine.Result
	newest      engine.Result
}

func (s *stage) newPointClient(ctx context.Context, t *table, seat workload.Seat) (workload.Client, error) {
	n := int(s.p.Int("rows_per_query"))
	c := &pointClient{
		table: t, last: t.lastID, every: s.p.Int("max_every"), args: make([]model.Value, n), drawn: make([]int64, n),
		results: s.env.Results,
		keys:    gen.NewStream(s.env.Seed, "ibench", s.plan.Name, "query").Sub(uint64(seat.Client)),
	}
	var err error
	if c.get, err = seat.Session.Prepare(ctx,
		&model.Op{Kind: model.Get, Table: t.name, Columns: pointColumns, Keys: n}); err != nil {
		return nil, err
	}
	if c.highestStmt, err = seat.Session.Prepare(ctx, edgeOp(t.name, true)); err != nil {
		return nil, err
	}
	c.newest.Each = func(row []model.Value) { c.last = row[0].Int() }
	return c, nil
}

func (c *pointClient) Do(ctx context.Context, out *workload.Outcome) error {
	if c.since >= c.every {
		out.Kind, out.Rows = 1, 1
		c.since = 0
		err := c.highestStmt.Exec(ctx, nil, &c.newest)
		c.count(out, 1, c.newest.Rows)
		return err
	}
	first := c.table.firstID.Load()
	for i := range c.args {
		c.drawn[i] = first + c.keys.Uniform(c.n*uint64(len(c.args))+uint64(i), max(c.last-first, 1))
		c.args[i] = model.IntValue(c.drawn[i])
	}
	if err := c.get.Exec(ctx, c.args, &c.result); err != nil {
		return err
	}
	c.n++
	c.since++
	out.Rows, out.Bytes = 1, c.result.Bytes
	slices.Sort(c.drawn)
	c.count(out, int64(len(slices.Compact(c.drawn))), c.result.Rows)
	return nil
}

// count sets the rows expected and found. A repeated key may have returned its row twice.
func (c *pointClient) count(out *workload.Outcome, expected, found int64) {
	if c.results {
		out.Expected, out.Found = expected, min(found, expected)
	}
}
