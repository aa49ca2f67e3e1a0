package sysbench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/text/quantity"
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
	own         bool // every event takes a row that no other event has taken
	rows        bool // costs are per row of the table, not per query
	// touches are the rows, and the entries of the secondary index, that a query reads or
	// changes at random.
	touches [2]float64
	// define completes the test, if it depends on parameters or on its number.
	define func(t *test, d *definitions, n int64)
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

// tests lists all tests. N in a name represents a number, and %d in its doc:
// random-points-10 is random-points-N with ten points. define sets the properties that
// depend on the number, or on parameters.
var tests = []test{
	{name: "oltp_point_select", touches: [2]float64{1, 0}, doc: "How fast is a row read by key?", blocks: one(pointSelect)},
	{name: "oltp_read_only", doc: "How fast are transactions of reads: points and four kinds of ranges?", transaction: true, define: func(t *test, d *definitions, _ int64) { t.blocks = d.reads(d.rangeSize) }},
	{name: "oltp_read_write", define: func(t *test, d *definitions, _ int64) { t.readWrite(d, d.rangeSize) }},
	{name: "oltp_write_only", doc: "How fast are transactions of writes: two updates, a delete and an insert?", transaction: true, writes: true, define: onlyWrites},
	{name: "oltp_update_index", touches: [2]float64{1, 2}, doc: "How fast is an indexed column changed?", writes: true, define: func(t *test, d *definitions, _ int64) {
		t.blocks = []block{{times(d.p.Int("index_updates"), d.updateK())}}
	}},
	{name: "oltp_update_non_index", touches: [2]float64{1, 0}, doc: "How fast is a column without an index changed?", writes: true, define: func(t *test, d *definitions, _ int64) {
		t.blocks = []block{{times(d.p.Int("non_index_updates"), updateC(1, randomID))}}
	}},
	{name: "oltp_insert", doc: "How fast are rows inserted one by one?", writes: true, blocks: one(appendNew)},
	{name: "oltp_delete", doc: "How fast are rows deleted by random keys? The table shrinks, so more and more keys do not exist, which is reported.", writes: true, blocks: one(remove(randomID))},
	{name: "select_random_points", doc: "How fast are the rows of a list of values of a secondary index read?", single: true, define: func(t *test, d *definitions, _ int64) { t.blocks = one(randomPoints(int(d.p.Int("random_points")))) }},
	{name: "select_random_ranges", doc: "How fast are several ranges of a secondary index counted in one query?", single: true, define: func(t *test, d *definitions, _ int64) {
		t.blocks = one(randomRanges(int(d.p.Int("number_of_ranges")), d.p.Int("delta")))
	}},
	{name: "point-query", touches: [2]float64{1, 0}, doc: "How fast is a row read by key?", blocks: one(pointSelect)},
	{name: "select", touches: [2]float64{1, 0}, doc: "How fast is a row read by key (its column pad)?", blocks: one(get("point", 1, randomID, colPad))},
	{name: "point-transactions", doc: "How fast are transactions of point selects only?", transaction: true, define: func(t *test, d *definitions, _ int64) { t.blocks = d.points() }},
	{name: "simple-ranges", doc: "How fast is a range of rows read by key?", define: func(t *test, d *definitions, _ int64) { t.blocks = one(simpleRange(d.rangeSize)) }},
	{name: "random-points-N", doc: "How fast are %d random rows read by one list of keys?", define: func(t *test, _ *definitions, n int64) { t.blocks = one(get("points", int(n), randomIDs(int(n)), colC)) }},
	{name: "hot-points", doc: fmt.Sprintf("How fast are the same %d adjacent rows read by one list of keys?", listed), blocks: one(get("points", listed, hotIDs(listed), colC))},
	{name: "points-covered-pk", doc: "How fast are the rows of a list of keys read, without other columns?", blocks: one(get("points", listed, randomIDs(listed), colID))},
	{name: "points-notcovered-pk", doc: "How fast are the rows of a list of keys read, with another column?", blocks: one(get("points", listed, randomIDs(listed), colID, colC))},
	{name: "points-covered-si", doc: "How fast is a list of values looked up in a covering secondary index?", blocks: one(bySecondary("points", listed, colK))},
	{name: "points-notcovered-si", doc: "How fast is a list of values looked up in a secondary index that is not covering?", blocks: one(bySecondary("points", listed, colK, colC))},
	{name: "range-covered-pk", doc: "How fast is a range of keys read, without other columns?", blocks: one(between("range", idRange(listed+1), colID))},
	{name: "range-notcovered-pk", doc: "How fast is a range of keys read, with another column?", blocks: one(between("range", idRange(listed+1), colID, colC))},
	{name: "range-covered-si", doc: "How fast is a range of a covering secondary index read?", blocks: one(betweenSecondary("range", idRange(listed+1), colK))},
	{name: "range-notcovered-si", doc: "How fast is a range of a secondary index read that is not covering?", blocks: one(betweenSecondary("range", idRange(listed+1), colK, colC))},
	{name: "scan", doc: "How fast is a whole table read, without returning rows?", spread: true, rows: true, blocks: one(scanAll)},
	{name: "update-inlist", doc: fmt.Sprintf("How fast are %d random rows updated by one statement?", listed), writes: true, blocks: one(updateC(listed, randomIDs(listed)))},
	{name: "update-index", touches: [2]float64{1, 2}, doc: "How fast is an indexed column changed?", writes: true, define: oneUpdateK},
	{name: "update-nonindex", touches: [2]float64{1, 0}, doc: "How fast is a column without an index changed?", writes: true, blocks: one(updateC(1, randomID))},
	{name: "update-index-trx", doc: "How fast is an indexed column changed, one update per transaction?", writes: true, transaction: true, define: oneUpdateK},
	{name: "update-nonindex-trx", doc: "How fast is a column without an index changed, one update per transaction?", writes: true, transaction: true, blocks: one(updateC(1, randomID))},
	{name: "update-one", doc: "How fast do all clients change the same row of a table?", writes: true, blocks: one(updateC(1, firstID))},
	{name: "update-zipf", doc: "How fast are rows changed with a skewed (Zipfian) distribution?", writes: true, blocks: one(updateC(1, zipfID))},
	{name: "write-only", doc: "How fast are transactions of writes: two updates, a delete and an insert?", transaction: true, define: onlyWrites},
	{name: "read-write-N", define: (*test).readWrite},
	{name: "read-only-N", doc: "How fast are transactions of reads: points and four kinds of ranges of %d rows?", transaction: true, define: func(t *test, d *definitions, n int64) { t.blocks = d.reads(n) }},
	readOnly("read-only-simple", "a plain range", simpleRange(wide)),
	readOnly("read-only-sum", "a sum", sumRange(wide)),
	readOnly("read-only-order", "a sorted range", orderRange(wide)),
	readOnly("read-only-distinct", "the distinct values of a range", distinctRange(wide)),
	{name: "read-only-count", doc: fmt.Sprintf("How fast are %d rows of a range counted?", wide), blocks: one(countRange(wide))},
	{name: "insert", doc: "How fast are rows inserted one by one?", writes: true, blocks: one(appendNew)},
	{name: "delete", doc: "How fast are rows deleted, each by one client and once? It ends when there are no rows left.", own: true, writes: true, blocks: one(remove(ownID))},
	{name: "ratio", doc: "How fast are transactions of reads, some of which also write?", transaction: true, writes: true, define: func(t *test, d *definitions, _ int64) { t.blocks, t.writer = d.reads(d.rangeSize), d.writes() }},
	{name: "ratio-points", doc: "How fast are transactions of point selects, some of which also write?", transaction: true, writes: true, define: func(t *test, d *definitions, _ int64) { t.blocks, t.writer = d.points(), d.writes() }},
}

// listed is the length of the key lists of the microbenchmarks; their ranges are one
// longer. wide is the length of the ranges that aggregate.
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

// readWrite makes a test of transactions of reads and writes.
func (t *test) readWrite(d *definitions, size int64) {
	t.doc = fmt.Sprintf("How fast are transactions of reads (ranges of %d rows) and writes?", size)
	t.transaction, t.writes, t.blocks = true, true, slices.Concat(d.reads(size), d.writes())
}

func onlyWrites(t *test, d *definitions, _ int64) { t.blocks = d.writes() }

func oneUpdateK(t *test, d *definitions, _ int64) { t.blocks = one(d.updateK()) }

// readOnly returns a test of transactions of points and one range.
func readOnly(name, subject string, s statement) test {
	return test{
		name: name, doc: fmt.Sprintf("How fast are transactions of points and %s of %d rows?", subject, wide), transaction: true,
		define: func(t *test, d *definitions, _ int64) { t.blocks = append(d.points(), block{times(1, s)}) },
	}
}

// grows returns the number of rows that an event adds, if its deletes find their rows; if
// negative, the tables shrink.
func (t *test) grows() (rows int64) {
	for _, s := range t.statements() {
		rows += s.adds
	}
	return rows
}

// reads reports whether the test is read-only.
func (t *test) reads() bool {
	return !slices.ContainsFunc(t.statements(), func(s statement) bool { return s.writes })
}

// access returns the group of the test in published tables: write if it writes at all,
// range if it reads more than points.
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
		if strings.Contains(t.doc, "%d") {
			t.doc = fmt.Sprintf(t.doc, n)
		}
		if t.define != nil {
			t.define(&t, d, n)
		}
		t.name = name
		t.transaction = t.transaction && !d.p.Bool("skip_trx")
		return &t, nil
	}
	return nil, &workload.ParamError{Param: "tests", Reason: fmt.Sprintf("there is no test %q", name),
		Help: "the tests are " + strings.Join(testNames(), ", ") + ", and settle"}
}

func testNames() []string { return quantity.Texts(tests, func(t test) string { return t.name }) }

// maxNumber is the maximum of N in a test's name, and of range_size and delta.
const maxNumber = 100_000

// numbered reports whether a name matches a pattern, and returns the number in it.
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

func (t *test) statements() (all []statement) {
	for _, b := range slices.Concat(t.blocks, t.writer) {
		for _, u := range b {
			all = append(all, u.statements...)
		}
	}
	return all
}
