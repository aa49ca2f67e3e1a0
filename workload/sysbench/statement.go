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
	// sought describes the rows it should find, by the arguments after the first before
	// ones; secondary: by values of k instead of ids.
	sought    sought
	before    int
	secondary bool
	op        model.Op        // the operation, without table and index
	args      func(c *client) // appends the arguments of one execution
}

// on returns the operation for a table, from 0.
func (s *statement) on(table int) *model.Op {
	op := s.op
	op.Table = tableName(table)
	if s.secondary {
		op.Index = indexName(table)
	}
	return &op
}

// get reads columns of rows by keys.
func get(name string, keys int, args func(c *client), columns ...string) statement {
	return statement{name: name, sought: rowsOfKeys, args: args,
		op: model.Op{Kind: model.Get, Columns: columns, Keys: keys}}
}

// bySecondary reads columns of rows by values of k.
func bySecondary(name string, keys int, columns ...string) statement {
	s := get(name, keys, randomIDs(keys), columns...)
	s.secondary, s.op.Equal = true, 1
	return s
}

// between reads a range of ids.
func between(name string, args func(c *client), columns ...string) statement {
	return statement{name: name, sought: rowsBetween, args: args, op: model.Op{
		Kind: model.Scan, Columns: columns, Lower: model.Inclusive, Upper: model.Inclusive, Free: true,
	}}
}

// betweenSecondary reads a range of k.
func betweenSecondary(name string, args func(c *client), columns ...string) statement {
	s := between(name, args, columns...)
	s.secondary = true
	return s
}

// pointSelect is the point select of sysbench.
var pointSelect = get("point", 1, randomID, colC)

// The range queries over a number of ids.

func simpleRange(size int64) statement { return between("simple range", idRange(size), colC) }

func sumRange(size int64) statement {
	s := between("sum range", idRange(size), colK)
	s.op.Aggregate, s.sought = model.Sum, oneRow
	return s
}

func orderRange(size int64) statement {
	s := between("order range", idRange(size), colC)
	s.op.OrderBy = colC
	return s
}

func distinctRange(size int64) statement {
	s := between("distinct range", idRange(size), colC)
	s.op.OrderBy, s.op.Distinct = colC, true
	s.sought = oneRow // update-inlist stores the same text in many rows
	return s
}

func countRange(size int64) statement {
	s := between("count range", idRange(size), colC)
	s.op.Aggregate = model.Count
	return s
}

// update changes a column in the rows of keys; value appends the new value.
func update(name string, bytes int64, set model.Assign, keys int, value, args func(c *client)) statement {
	return statement{
		name: name, writes: true, sought: rowsOfKeys, before: 1, bytes: bytes,
		op: model.Op{Kind: model.Update, Set: []model.Assign{set}, Keys: keys},
		args: func(c *client) {
			value(c)
			args(c)
		},
	}
}

// updateK changes an indexed column: it increments it, as sysbench does, which moves the
// index entry by at most one place, or sets it to a random value.
func updateK(random bool) statement {
	if random {
		return update("update k", intBytes+indexBytes, model.Assign{Column: colK}, 0, randomID, randomID)
	}
	s := update("update k", intBytes+indexBytes, model.Assign{Column: colK, Add: true}, 0, firstID, randomID)
	s.raises = 1
	return s
}

// updateC changes a column without an index in the rows of keys.
func updateC(keys int, args func(c *client)) statement {
	return update("update c", cBytes, model.Assign{Column: colC}, keys, func(c *client) { c.digits(cGroups) }, args)
}

func remove(args func(c *client)) statement {
	return statement{name: "delete", writes: true, sought: rowsOfKeys, adds: -1, args: args,
		op: model.Op{Kind: model.Delete}}
}

func insert(args func(c *client), columns ...string) statement {
	return statement{
		name: "insert", writes: true, adds: 1, bytes: rowBytes + indexBytes, args: args,
		op: model.Op{Kind: model.Insert, Columns: columns, Rows: 1},
	}
}

var (
	// reinsert inserts a new row with the id of the delete before it.
	reinsert = insert(func(c *client) {
		ownID(c)
		newRow(c)
	}, allColumns...)
	// appendNew inserts a row that the engine numbers.
	appendNew = insert(newRow, loadColumns...)
	// scanAll reads a whole table and returns no rows.
	scanAll = statement{
		name: "scan", args: func(c *client) { c.int(0) },
		op: model.Op{Kind: model.Scan, Columns: allColumns, Where: []model.Condition{{Column: colC, Is: model.ShorterThan}},
			Free: true},
	}
)

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
	s := betweenSecondary("random ranges", func(c *client) {
		for range ranges {
			start := c.inSlice()
			c.int(start)
			c.int(start + delta)
		}
	}, colK)
	s.op.Aggregate, s.op.Ranges = model.Count, ranges
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

// ownID uses the id that takeOwn has taken, or sharedID has drawn.
func ownID(c *client) { c.int(c.id) }

func firstID(c *client) { c.int(1) }

func zipfID(c *client) { c.int(1 + c.zipf.Draw(c.source)) }

// hotIDs always uses the same adjacent ids, just above the middle.
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
		start := c.draw()
		c.int(start)
		c.int(start + size - 1)
	}
}

// newRow draws a row without its id.
func newRow(c *client) {
	randomID(c) // k
	c.digits(cGroups)
	c.digits(padGroups)
}
