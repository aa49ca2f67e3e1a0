package sysbench

import (
	"rumbench/model"
)

// statement is a kind of statement of a transaction.
type statement struct {
	name   string // how it is called where statements are timed
	writes bool
	bytes  int64 // user bytes written for each row that it changes
	adds   int64 // rows that there are more for each row that it changes
	raises int64 // by how much the sum of k grows for each of them
	// sought is what rows it has to find, by arguments that begin behind so many
	// others; secondary: by values of k.
	sought    sought
	before    int
	secondary bool
	// op is its shape for a table, counted from 0.
	op func(r *run, table int) *model.Op
	// args appends the arguments of one execution.
	args func(c *client)
}

// get reads columns of so many rows by key.
func get(name string, keys int, args func(c *client), columns ...string) statement {
	return statement{name: name, sought: rowsOfKeys, args: args, op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Get, Table: tableName(table), Columns: columns, Keys: keys}
	}}
}

// bySecondary reads columns of the rows with so many values of k.
func bySecondary(name string, keys int, columns ...string) statement {
	return statement{name: name, sought: rowsOfKeys, secondary: true, args: randomIDs(keys), op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Get, Table: tableName(table), Columns: columns, Keys: keys, Index: indexName(table), Equal: 1}
	}}
}

// between reads a range of ids or, by the secondary index, of k. The change
// makes a query of the plain scan.
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

// pointSelect is the statement that sysbench is known for.
var pointSelect = get("point", 1, randomID, colC)

// The four range queries, each over so many ids.
func simpleRange(size int64) statement {
	return between("simple range", false, idRange(size), plain, colC)
}
func sumRange(size int64) statement {
	s := between("sum range", false, idRange(size), summed, colK)
	s.sought = anAnswer
	return s
}
func orderRange(size int64) statement {
	return between("order range", false, idRange(size), ordered, colC)
}
func distinctRange(size int64) statement {
	s := between("distinct range", false, idRange(size), distinct, colC)
	s.sought = anAnswer // update-inlist gives many rows the same text
	return s
}

// updateK changes an indexed column: by one, as sysbench does, which moves the
// index entry to the next place at most, or to a random value.
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

// updateC changes a column without an index in the rows of so many keys.
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

// remove deletes a row; args choose which.
func remove(args func(c *client)) statement {
	return statement{name: "delete", writes: true, sought: rowsOfKeys, adds: -1, args: args, op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Delete, Table: tableName(table)}
	}}
}

// reinsert inserts a new row with the id that the delete before it had.
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

// scanAll reads a whole table and returns nothing of it.
var scanAll = statement{
	name: "scan",
	op: func(_ *run, table int) *model.Op {
		return &model.Op{Kind: model.Scan, Table: tableName(table), Columns: allColumns, Shorter: colC, Free: true}
	},
	args: func(c *client) { c.int(0) },
}

// randomPoints and randomRanges are select_random_points and
// select_random_ranges, in which every client has a slice of the values of k.
func randomPoints(points int) statement {
	s := bySecondary("random points", points, allColumns...)
	s.args = func(c *client) {
		for range points {
			c.int(c.inSlice())
		}
	}
	return s
}

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

// The ways to choose rows.

func randomID(c *client) { c.int(c.draw()) }

func randomIDs(n int) func(c *client) {
	return func(c *client) {
		for range n {
			c.int(c.draw())
		}
	}
}

// sharedID draws the id that the statement after it uses too.
func sharedID(c *client) {
	c.id = c.draw()
	c.int(c.id)
}

// ownID returns the next of the ids that are the client's alone.
func ownID(c *client) { c.int(c.id) }

func firstID(c *client) { c.int(1) }

func zipfID(c *client) { c.int(1 + c.zipf.Draw(c.source)) }

// hotIDs are always the same neighbours, just above the middle.
func hotIDs(n int) func(c *client) {
	return func(c *client) {
		for i := range int64(n) {
			c.int(c.rows/2 + 1 + i)
		}
	}
}

// idRange returns a range of so many ids, which may reach beyond the last.
func idRange(size int64) func(c *client) {
	return func(c *client) {
		from := c.draw()
		c.int(from)
		c.int(from + size - 1)
	}
}

// newRow returns a row without its id.
func newRow(c *client) {
	randomID(c) // k
	c.digits(cGroups)
	c.digits(padGroups)
}
