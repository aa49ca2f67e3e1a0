package sysbench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/workload"
)

// test defines the events of a step.
type test struct {
	name   string
	doc    string
	blocks []block
	// writer is executed after blocks by the writing transactions of a test with a
	// ratio.
	writer      []block
	transaction bool // the statements are between BEGIN and COMMIT
	writes      bool // its duration is write_seconds
	single      bool // it works on a single table
	spread      bool // clients are spread over the tables, one table each
	own         bool // every event takes a row that no other has taken
	rows        bool // costs are per row of the table, not per query
}

// block is a sequence of statements on one table.
type block []unit

// unit is one or several statements that are repeated together.
type unit struct {
	times      int64
	statements []statement
}

func times(n int64, s ...statement) unit { return unit{n, s} }

func one(s statement) []block { return []block{{times(1, s)}} }

// definitions are the parameters, which define the tests.
type definitions struct {
	p         workload.Params
	rangeSize int64
}

// tests lists all tests. N in a name stands for a number: random-points-10 is
// random-points-N with ten points.
var tests = []struct {
	name string // N stands for the number
	make func(d *definitions, n int64) test
}{
	{"oltp_point_select", func(d *definitions, _ int64) test {
		return test{doc: "How fast is a row read by key?", blocks: one(pointSelect)}
	}},
	{"oltp_read_only", func(d *definitions, _ int64) test {
		return test{doc: "How fast are transactions of reads: points and four kinds of ranges?", transaction: true, blocks: d.reads(d.rangeSize)}
	}},
	{"oltp_read_write", func(d *definitions, _ int64) test { return d.readWrite(d.rangeSize) }},
	{"oltp_write_only", func(d *definitions, _ int64) test {
		return test{doc: "How fast are transactions of writes: two updates, a delete and an insert?", transaction: true, writes: true, blocks: d.writes()}
	}},
	{"oltp_update_index", func(d *definitions, _ int64) test {
		return test{doc: "How fast is an indexed column changed?", writes: true, blocks: []block{{times(d.p.Int("index_updates"), d.updateK())}}}
	}},
	{"oltp_update_non_index", func(d *definitions, _ int64) test {
		return test{doc: "How fast is a column without an index changed?", writes: true, blocks: []block{{times(d.p.Int("non_index_updates"), updateC(1, randomID))}}}
	}},
	{"oltp_insert", func(*definitions, int64) test {
		return test{doc: "How fast are rows inserted one by one?", writes: true, blocks: one(appendNew)}
	}},
	{"oltp_delete", func(*definitions, int64) test {
		return test{doc: "How fast are rows deleted by random keys? The table shrinks, so more and more keys do not exist, which is reported.", writes: true, blocks: one(remove(randomID))}
	}},
	{"select_random_points", func(d *definitions, _ int64) test {
		return test{doc: "How fast are the rows of a list of values of a secondary index read?", single: true, blocks: one(randomPoints(int(d.p.Int("random_points"))))}
	}},
	{"select_random_ranges", func(d *definitions, _ int64) test {
		return test{doc: "How fast are several ranges of a secondary index counted in one query?", single: true, blocks: one(randomRanges(int(d.p.Int("number_of_ranges")), d.p.Int("delta")))}
	}},
	{"point-query", func(*definitions, int64) test {
		return test{doc: "How fast is a row read by key?", blocks: one(pointSelect)}
	}},
	{"select", func(*definitions, int64) test {
		return test{doc: "How fast is a row read by key (its column pad)?", blocks: one(get("point", 1, randomID, colPad))}
	}},
	{"point-transactions", func(d *definitions, _ int64) test {
		return test{doc: "How fast are transactions of point selects only?", transaction: true, blocks: d.points()}
	}},
	{"simple-ranges", func(d *definitions, _ int64) test {
		return test{doc: "How fast is a range of rows read by key?", blocks: one(simpleRange(d.rangeSize))}
	}},
	{"random-points-N", func(_ *definitions, n int64) test {
		return test{doc: fmt.Sprintf("How fast are %d random rows read by one list of keys?", n), blocks: one(get("points", int(n), randomIDs(int(n)), colC))}
	}},
	{"hot-points", func(*definitions, int64) test {
		return test{doc: fmt.Sprintf("How fast are the same %d adjacent rows read by one list of keys?", listed), blocks: one(get("points", listed, hotIDs(listed), colC))}
	}},
	{"points-covered-pk", func(*definitions, int64) test {
		return test{doc: "How fast are the rows of a list of keys read, without other columns?", blocks: one(get("points", listed, randomIDs(listed), colID))}
	}},
	{"points-notcovered-pk", func(*definitions, int64) test {
		return test{doc: "How fast are the rows of a list of keys read, with another column?", blocks: one(get("points", listed, randomIDs(listed), colID, colC))}
	}},
	{"points-covered-si", func(*definitions, int64) test {
		return test{doc: "How fast is a list of values looked up in a covering secondary index?", blocks: one(bySecondary("points", listed, colK))}
	}},
	{"points-notcovered-si", func(*definitions, int64) test {
		return test{doc: "How fast is a list of values looked up in a secondary index that is not covering?", blocks: one(bySecondary("points", listed, colK, colC))}
	}},
	{"range-covered-pk", func(*definitions, int64) test {
		return test{doc: "How fast is a range of keys read, without other columns?", blocks: one(between("range", false, idRange(listed+1), plain, colID))}
	}},
	{"range-notcovered-pk", func(*definitions, int64) test {
		return test{doc: "How fast is a range of keys read, with another column?", blocks: one(between("range", false, idRange(listed+1), plain, colID, colC))}
	}},
	{"range-covered-si", func(*definitions, int64) test {
		return test{doc: "How fast is a range of a covering secondary index read?", blocks: one(between("range", true, idRange(listed+1), plain, colK))}
	}},
	{"range-notcovered-si", func(*definitions, int64) test {
		return test{doc: "How fast is a range of a secondary index read that is not covering?", blocks: one(between("range", true, idRange(listed+1), plain, colK, colC))}
	}},
	{"scan", func(*definitions, int64) test {
		return test{doc: "How fast is a whole table read, without returning rows?", spread: true, rows: true, blocks: one(scanAll)}
	}},
	{"update-inlist", func(*definitions, int64) test {
		return test{doc: fmt.Sprintf("How fast are %d random rows updated by one statement?", listed), writes: true, blocks: one(updateC(listed, randomIDs(listed)))}
	}},
	{"update-index", func(d *definitions, _ int64) test {
		return test{doc: "How fast is an indexed column changed?", writes: true, blocks: one(d.updateK())}
	}},
	{"update-nonindex", func(*definitions, int64) test {
		return test{doc: "How fast is a column without an index changed?", writes: true, blocks: one(updateC(1, randomID))}
	}},
	{"update-index-trx", func(d *definitions, _ int64) test {
		return test{doc: "How fast is an indexed column changed, one update per transaction?", writes: true, transaction: true, blocks: one(d.updateK())}
	}},
	{"update-nonindex-trx", func(*definitions, int64) test {
		return test{doc: "How fast is a column without an index changed, one update per transaction?", writes: true, transaction: true, blocks: one(updateC(1, randomID))}
	}},
	{"update-one", func(*definitions, int64) test {
		return test{doc: "How fast do all clients change the same row of a table?", writes: true, blocks: one(updateC(1, firstID))}
	}},
	{"update-zipf", func(*definitions, int64) test {
		return test{doc: "How fast are rows changed with a skewed (Zipfian) distribution?", writes: true, blocks: one(updateC(1, zipfID))}
	}},
	{"write-only", func(d *definitions, _ int64) test {
		return test{doc: "How fast are transactions of writes: two updates, a delete and an insert?", transaction: true, blocks: d.writes()}
	}},
	{"read-write-N", func(d *definitions, n int64) test { return d.readWrite(n) }},
	{"read-only-N", func(d *definitions, n int64) test {
		return test{doc: fmt.Sprintf("How fast are transactions of reads: points and four kinds of ranges of %d rows?", n), transaction: true, blocks: d.reads(n)}
	}},
	{"read-only-simple", func(d *definitions, _ int64) test { return d.readOnly("a plain range", simpleRange(wide)) }},
	{"read-only-sum", func(d *definitions, _ int64) test { return d.readOnly("a sum", sumRange(wide)) }},
	{"read-only-order", func(d *definitions, _ int64) test { return d.readOnly("a sorted range", orderRange(wide)) }},
	{"read-only-distinct", func(d *definitions, _ int64) test {
		return d.readOnly("the distinct values of a range", distinctRange(wide))
	}},
	{"read-only-count", func(*definitions, int64) test {
		return test{doc: fmt.Sprintf("How fast are %d rows of a range counted?", wide), blocks: one(between("count range", false, idRange(wide), counted, colC))}
	}},
	{"insert", func(*definitions, int64) test {
		return test{doc: "How fast are rows inserted one by one?", writes: true, blocks: one(appendNew)}
	}},
	{"delete", func(*definitions, int64) test {
		return test{doc: "How fast are rows deleted, each by one client and once? It ends when there are no rows left.", own: true, writes: true, blocks: one(remove(ownID))}
	}},
	{"ratio", func(d *definitions, _ int64) test {
		t := d.readWrite(d.rangeSize)
		t.doc = "How fast are transactions of reads, some of which also write?"
		t.blocks, t.writer = d.reads(d.rangeSize), d.writes()
		return t
	}},
	{"ratio-points", func(d *definitions, _ int64) test {
		t := d.readWrite(d.rangeSize)
		t.doc = "How fast are transactions of point selects, some of which also write?"
		t.blocks, t.writer = d.points(), d.writes()
		return t
	}},
}

// listed is the length of the key lists of the microbenchmarks, and one less
// than that of their ranges; wide is the length of ranges of those that aggregate.
const (
	listed = 100
	wide   = 1000
)

// points returns the point selects of a transaction.
func (d *definitions) points() []block {
	return []block{{times(d.p.Int("point_selects"), pointSelect)}}
}

// reads returns the read blocks of a transaction.
func (d *definitions) reads(size int64) []block {
	out := d.points()
	if !d.p.Bool("range_selects") {
		return out
	}
	return append(out,
		block{times(d.p.Int("simple_ranges"), simpleRange(size))},
		block{times(d.p.Int("sum_ranges"), sumRange(size))},
		block{times(d.p.Int("order_ranges"), orderRange(size))},
		block{times(d.p.Int("distinct_ranges"), distinctRange(size))})
}

// writes returns the write blocks of a transaction.
func (d *definitions) writes() []block {
	return []block{
		{times(d.p.Int("index_updates"), d.updateK())},
		{times(d.p.Int("non_index_updates"), updateC(1, randomID))},
		{times(d.p.Int("delete_inserts"), remove(sharedID), reinsert)},
	}
}

func (d *definitions) updateK() statement { return updateK(d.p.String("k_update") == "random") }

func (d *definitions) readWrite(size int64) test {
	return test{
		doc:         fmt.Sprintf("How fast are transactions of reads (ranges of %d rows) and writes?", size),
		transaction: true, writes: true, blocks: slices.Concat(d.reads(size), d.writes()),
	}
}

// readOnly returns a transaction of points and one range.
func (d *definitions) readOnly(what string, s statement) test {
	return test{
		doc:         fmt.Sprintf("How fast are transactions of points and %s of %d rows?", what, wide),
		transaction: true, blocks: append(d.points(), block{times(1, s)}),
	}
}

// grows returns the number of rows that an event adds, if it finds what it
// deletes; if negative the tables shrink.
func (t *test) grows() (rows int64) {
	for _, s := range t.statements() {
		rows += s.adds
	}
	return rows
}

// reads reports whether the test only reads.
func (t *test) reads() bool {
	return !slices.ContainsFunc(t.statements(), func(s statement) bool { return s.writes })
}

// access returns the group of the test in published tables: write if it writes
// anything, range if it reads anything but points.
func (t *test) access() workload.Access {
	switch {
	case t.writer != nil:
		return workload.MixedAccess
	case !t.reads():
		return workload.WriteAccess
	case slices.ContainsFunc(t.statements(), func(s statement) bool { return s.sought != rowsOfKeys }):
		return workload.RangeAccess
	}
	return workload.PointAccess
}

// newTest returns the test of an entry of parameter tests; a suffix after a dot
// is ignored.
func (d *definitions) newTest(entry string) (*test, error) {
	name, _, _ := strings.Cut(entry, ".")
	for _, t := range tests {
		n, ok := numbered(t.name, name)
		if !ok {
			continue
		}
		made := t.make(d, n)
		made.name = name
		if made.transaction && d.p.Bool("skip_trx") {
			made.transaction = false
		}
		return &made, nil
	}
	return nil, &workload.ParamError{Param: "tests", Reason: fmt.Sprintf("there is no test %q", name),
		Hint: "the tests are " + strings.Join(testNames(), ", ") + ", and settle"}
}

func testNames() (names []string) {
	for _, t := range tests {
		names = append(names, t.name)
	}
	return names
}

// maxNumber is the maximum of N in a test's name, and of range_size and delta.
const maxNumber = 100_000

// numbered reports whether a name matches a pattern, and returns its number.
func numbered(pattern, name string) (n int64, ok bool) {
	prefix, isNumbered := strings.CutSuffix(pattern, "N")
	if !isNumbered {
		return 0, pattern == name
	}
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && n >= 1 && n <= maxNumber && strconv.FormatInt(n, 10) == digits
}

// statements returns all statements of a test, in order.
func (t *test) statements() (all []statement) {
	for _, b := range slices.Concat(t.blocks, t.writer) {
		for _, u := range b {
			all = append(all, u.statements...)
		}
	}
	return all
}
