package sysbench

import (
	"rumbench/model"
)

// statement is a kind of statement of a transaction.
type statement struct {
	name   string // in reported times of statements
	writes bool
	bytes  int64 // user bytes written per row changed
	adds   int64 // rows added per row changed
	raises int64 // growth of the sum of k per row changed
	// sought is what rows it should find, by the arguments after the first
	// before; secondary: by values of k instead of ids.
	sought    sought
	before    int
	secondary bool
	// op returns the operation for a table, from 0.
	op func(r *run, table int) *model.Op
	// args appends the arguments of one execution.
	args func(c *client)
}

// get reads columns of rows by keys.
func get(name string, keys int, args func(c *client), columns ...string) statement {
	return statement{name: name, sought: rowsOfKeys, args: args, op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Get, Table: tableName(table), Columns: columns, Keys: keys}
	}}
}

// bySecondary reads columns of rows by values of k.
func bySecondary(name string, keys int, columns ...string) statement {
	return statement{name: name, sought: rowsOfKeys, secondary: true, args: randomIDs(keys), op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Get, Table: tableName(table), Columns: columns, Keys: keys, Index: indexName(table), Equal: 1}
	}}
}

// between reads a range of ids or, by the secondary index, of k; change modifies
// the scan.
func between(name string, secondary bool, args func(c *client), change func(o *model.Op), columns ...string) statement {
	return statement{name: name, sought: rowsBetween, secondary: secondary, args: args, op: func(_ *run, table int) *model.Op {
		o := &model.Op{Kind: model.Scan, Table: tableName(table), Columns: columns, Lower: model.Inclusive, Upper: model.Inclusive, Free: true}
		if secondary {
			o.Index = indexName(table)
		}
		if change != nil {
			change(o)
		}
		return o
	}}
}

func plain(*model.Op) {}

func ordered(o *model.Op) { o.OrderBy = colC }

func distinct(o *model.Op) { o.OrderBy, o.Distinct = colC, true }

func summed(o *model.Op) { o.Aggregate = model.Sum }

func counted(o *model.Op) { o.Aggregate = model.Count }

// pointSelect is the point select of sysbench.
var pointSelect = get("point", 1, randomID, colC)

// The four range queries over a number of ids.
func simpleRange(size int64) statement {
	return between("simple range", false, idRange(size), plain, colC)
}
func sumRange(size int64) statement {
	s := between("sum range", false, idRange(size), summed, colK)
	s.sought = oneRow
	return s
}
func orderRange(size int64) statement {
	return between("order range", false, idRange(size), ordered, colC)
}
func distinctRange(size int64) statement {
	s := between("distinct range", false, idRange(size), distinct, colC)
	s.sought = oneRow // update-inlist stores the same text in many rows
	return s
}

// updateK changes an indexed column: it increments it, as sysbench does, which
// moves the index entry by one place at most, or sets it to a random value.
func updateK(random bool) statement {
	s := statement{name: "update k", writes: true, sought: rowsOfKeys, before: 1, bytes: intBytes + indexBytes}
	if !random {
		s.raises = 1
	}
	s.op = func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Update, Table: tableName(table), Set: []model.Assign{{Column: colK, Add: !random}}}
	}
	s.args = func(c *client) {
		if random {
			randomID(c)
		} else {
			c.int(1)
		}
		randomID(c)
	}
	return s
}

// updateC changes a column without an index in the rows of keys.
func updateC(keys int, args func(c *client)) statement {
	s := statement{name: "update c", writes: true, sought: rowsOfKeys, before: 1, bytes: cBytes}
	s.op = func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Update, Table: tableName(table), Set: []model.Assign{{Column: colC}}, Keys: keys}
	}
	s.args = func(c *client) {
		c.digits(cGroups)
		args(c)
	}
	return s
}

// remove deletes a row.
func remove(args func(c *client)) statement {
	return statement{name: "delete", writes: true, sought: rowsOfKeys, adds: -1, args: args, op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Delete, Table: tableName(table)}
	}}
}

// reinsert inserts a new row with the id of the delete before it.
var reinsert = statement{
	name: "insert", writes: true, adds: 1, bytes: rowBytes + indexBytes,
	op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Insert, Table: tableName(table), Columns: allColumns, Rows: 1}
	},
	args: func(c *client) {
		c.int(c.id)
		newRow(c)
	},
}

// appendNew inserts a row that the engine numbers.
var appendNew = statement{
	name: "insert", writes: true, adds: 1, bytes: rowBytes + indexBytes,
	op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Insert, Table: tableName(table), Columns: loadColumns, Rows: 1}
	},
	args: newRow,
}

// scanAll reads a whole table and returns no rows.
var scanAll = statement{
	name: "scan",
	op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Scan, Table: tableName(table), Columns: allColumns, Shorter: colC, Free: true}
	},
	args: func(c *client) { c.int(0) },
}

// randomPoints is select_random_points: every client has a slice of the values
// of k.
func randomPoints(points int) statement {
	s := bySecondary("random points", points, allColumns...)
	s.args = func(c *client) {
		for range points {
			c.int(c.inSlice())
		}
	}
	return s
}

// randomRanges is select_random_ranges, with slices as in randomPoints.
func randomRanges(ranges int, delta int64) statement {
	s := between("random ranges", true, func(c *client) {
		for range ranges {
			from := c.inSlice()
			c.int(from)
			c.int(from + delta)
		}
	}, counted, colK)
	of := s.op
	s.op = func(r *run, table int) *model.Op {
		o := of(r, table)
		o.Ranges = ranges
		return o
	}
	return s
}

// The ways to select rows.

func randomID(c *client) { c.int(c.draw()) }

func randomIDs(n int) func(c *client) {
	return func(c *client) {
		for range n {
			c.int(c.draw())
		}
	}
}

// sharedID draws an id that the next statement uses as well.
func sharedID(c *client) {
	c.id = c.draw()
	c.int(c.id)
}

// ownID uses the id that takeOwn has taken.
func ownID(c *client) { c.int(c.id) }

func firstID(c *client) { c.int(1) }

func zipfID(c *client) { c.int(1 + c.zipf.Draw(c.source)) }

// hotIDs uses the same adjacent ids every time, just above the middle.
func hotIDs(n int) func(c *client) {
	return func(c *client) {
		for i := range int64(n) {
			c.int(c.rows/2 + 1 + i)
		}
	}
}

// idRange draws a range of ids, which may extend beyond the last.
func idRange(size int64) func(c *client) {
	return func(c *client) {
		from := c.draw()
		c.int(from)
		c.int(from + size - 1)
	}
}

// newRow draws a row without its id.
func newRow(c *client) {
	randomID(c) // k
	c.digits(cGroups)
	c.digits(padGroups)
}
