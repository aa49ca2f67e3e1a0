package sysbench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/workload"
)

// test is what the clients of a step do again and again.
type test struct {
	name   string
	doc    string
	blocks []block
	// writer is what a transaction of a test with a ratio does beside its
	// blocks, but only in one of so many.
	writer []block
	// transaction: the statements are within BEGIN and COMMIT.
	transaction bool
	// writes: it has the seconds of writing tests.
	writes bool
	// single: it works on one table only, whatever there is.
	single bool
	// spread: every client keeps to one table, the next one to another.
	spread bool
	// own: it takes rows that no other client has taken.
	own bool
	// rows: what it costs is told per row of the table, not per query.
	rows bool
}

// block is a number of statements on one table.
type block []unit

// unit is a statement, or several that belong together, done some times.
type unit struct {
	times      int64
	statements []statement
}

func times(n int64, s ...statement) unit { return unit{n, s} }

func one(s statement) []block { return []block{{times(1, s)}} }

// tests are all that can be chosen, in the order in which they are listed.
// Names with a number in them are one of many: random-points-10 asks for ten.
var tests = []struct {
	name string // N stands for the number
	make func(r *run, n int64) test
}{
	{"oltp_point_select", func(r *run, _ int64) test {
		return test{doc: "How fast is a row read by key?", blocks: one(pointSelect)}
	}},
	{"oltp_read_only", func(r *run, _ int64) test {
		return test{doc: "How fast are transactions of reads: points and four kinds of ranges?", transaction: true, blocks: r.reads(r.rangeSize)}
	}},
	{"oltp_read_write", func(r *run, _ int64) test { return r.readWrite(r.rangeSize) }},
	{"oltp_write_only", func(r *run, _ int64) test {
		return test{doc: "How fast are transactions of writes: two updates, a delete and an insert?", transaction: true, writes: true, blocks: r.writes()}
	}},
	{"oltp_update_index", func(r *run, _ int64) test {
		return test{doc: "How fast is an indexed column changed?", writes: true, blocks: []block{{times(r.p.Int("index_updates"), r.updateK())}}}
	}},
	{"oltp_update_non_index", func(r *run, _ int64) test {
		return test{doc: "How fast is a column without an index changed?", writes: true, blocks: []block{{times(r.p.Int("non_index_updates"), updateC(1, randomID))}}}
	}},
	{"oltp_insert", func(*run, int64) test {
		return test{doc: "How fast are rows inserted one by one?", writes: true, blocks: one(appendNew)}
	}},
	{"oltp_delete", func(*run, int64) test {
		return test{doc: "How fast are rows deleted by random keys? The table drains: more and more keys are not there, which is told.", writes: true, blocks: one(remove(randomID))}
	}},
	{"select_random_points", func(r *run, _ int64) test {
		return test{doc: "How fast are the rows of a list of values of a secondary index read?", single: true, blocks: one(randomPoints(int(r.p.Int("random_points"))))}
	}},
	{"select_random_ranges", func(r *run, _ int64) test {
		return test{doc: "How fast are several ranges of a secondary index counted in one query?", single: true, blocks: one(randomRanges(int(r.p.Int("number_of_ranges")), r.p.Int("delta")))}
	}},
	{"point-query", func(*run, int64) test {
		return test{doc: "How fast is a row read by key?", blocks: one(pointSelect)}
	}},
	{"select", func(*run, int64) test {
		return test{doc: "How fast is a row read by key (its column pad)?", blocks: one(get("point", 1, randomID, colPad))}
	}},
	{"point-transactions", func(r *run, _ int64) test {
		return test{doc: "How fast are transactions of point selects only?", transaction: true, blocks: r.points()}
	}},
	{"simple-ranges", func(r *run, _ int64) test {
		return test{doc: "How fast is a range of rows read by key?", blocks: one(simpleRange(r.rangeSize))}
	}},
	{"random-points-N", func(_ *run, n int64) test {
		return test{doc: fmt.Sprintf("How fast are %d random rows read by one list of keys?", n), blocks: one(get("points", int(n), randomIDs(int(n)), colC))}
	}},
	{"hot-points", func(*run, int64) test {
		return test{doc: fmt.Sprintf("How fast are always the same %d neighbours read by one list of keys?", listed), blocks: one(get("points", listed, hotIDs(listed), colC))}
	}},
	{"points-covered-pk", func(*run, int64) test {
		return test{doc: "How fast is a list of keys looked up, of which nothing else is wanted?", blocks: one(get("points", listed, randomIDs(listed), colID))}
	}},
	{"points-notcovered-pk", func(*run, int64) test {
		return test{doc: "How fast is a list of keys looked up with another column?", blocks: one(get("points", listed, randomIDs(listed), colID, colC))}
	}},
	{"points-covered-si", func(*run, int64) test {
		return test{doc: "How fast is a list of values looked up in a secondary index alone?", blocks: one(bySecondary("points", listed, colK))}
	}},
	{"points-notcovered-si", func(*run, int64) test {
		return test{doc: "How fast is a list of values looked up by a secondary index, with a column that only the table has?", blocks: one(bySecondary("points", listed, colK, colC))}
	}},
	{"range-covered-pk", func(*run, int64) test {
		return test{doc: "How fast is a range of keys read, of which nothing else is wanted?", blocks: one(between("range", false, idRange(listed+1), plain, colID))}
	}},
	{"range-notcovered-pk", func(*run, int64) test {
		return test{doc: "How fast is a range of keys read with another column?", blocks: one(between("range", false, idRange(listed+1), plain, colID, colC))}
	}},
	{"range-covered-si", func(*run, int64) test {
		return test{doc: "How fast is a range of a secondary index read alone?", blocks: one(between("range", true, idRange(listed+1), plain, colK))}
	}},
	{"range-notcovered-si", func(*run, int64) test {
		return test{doc: "How fast is a range of a secondary index read, with a column that only the table has?", blocks: one(between("range", true, idRange(listed+1), plain, colK, colC))}
	}},
	{"scan", func(*run, int64) test {
		return test{doc: "How fast is a whole table read, with nothing of it returned?", spread: true, rows: true, blocks: one(scanAll)}
	}},
	{"update-inlist", func(*run, int64) test {
		return test{doc: fmt.Sprintf("How fast are %d random rows updated by one statement?", listed), writes: true, blocks: one(updateC(listed, randomIDs(listed)))}
	}},
	{"update-index", func(r *run, _ int64) test {
		return test{doc: "How fast is an indexed column changed?", writes: true, blocks: one(r.updateK())}
	}},
	{"update-nonindex", func(*run, int64) test {
		return test{doc: "How fast is a column without an index changed?", writes: true, blocks: one(updateC(1, randomID))}
	}},
	{"update-index-trx", func(r *run, _ int64) test {
		return test{doc: "How fast is an indexed column changed by transactions of nothing else?", writes: true, transaction: true, blocks: one(r.updateK())}
	}},
	{"update-nonindex-trx", func(*run, int64) test {
		return test{doc: "How fast is a column without an index changed by transactions of nothing else?", writes: true, transaction: true, blocks: one(updateC(1, randomID))}
	}},
	{"update-one", func(*run, int64) test {
		return test{doc: "How fast is the same row of a table changed by all?", writes: true, blocks: one(updateC(1, firstID))}
	}},
	{"update-zipf", func(*run, int64) test {
		return test{doc: "How fast are rows changed of which few are changed often?", writes: true, blocks: one(updateC(1, zipfID))}
	}},
	{"write-only", func(r *run, _ int64) test {
		return test{doc: "How fast are transactions of writes: two updates, a delete and an insert?", transaction: true, blocks: r.writes()}
	}},
	{"read-write-N", func(r *run, n int64) test { return r.readWrite(n) }},
	{"read-only-N", func(r *run, n int64) test {
		return test{doc: fmt.Sprintf("How fast are transactions of reads: points and four kinds of ranges of %d rows?", n), transaction: true, blocks: r.reads(n)}
	}},
	{"read-only-simple", func(r *run, _ int64) test { return r.readOnly("a plain range", simpleRange(wide)) }},
	{"read-only-sum", func(r *run, _ int64) test { return r.readOnly("a sum", sumRange(wide)) }},
	{"read-only-order", func(r *run, _ int64) test { return r.readOnly("a sorted range", orderRange(wide)) }},
	{"read-only-distinct", func(r *run, _ int64) test { return r.readOnly("the distinct values of a range", distinctRange(wide)) }},
	{"read-only-count", func(*run, int64) test {
		return test{doc: fmt.Sprintf("How fast are %d rows of a range counted?", wide), blocks: one(between("count range", false, idRange(wide), counted, colC))}
	}},
	{"insert", func(*run, int64) test {
		return test{doc: "How fast are rows inserted one by one?", writes: true, blocks: one(appendNew)}
	}},
	{"delete", func(*run, int64) test {
		return test{doc: "How fast are rows deleted, each client its own and none twice? It ends when there are no more.", own: true, writes: true, blocks: one(remove(ownID))}
	}},
	{"ratio", func(r *run, _ int64) test {
		t := r.readWrite(r.rangeSize)
		t.doc = "How fast are transactions of reads, some of which write too?"
		t.blocks, t.writer = r.reads(r.rangeSize), r.writes()
		return t
	}},
	{"ratio-points", func(r *run, _ int64) test {
		t := r.readWrite(r.rangeSize)
		t.doc = "How fast are transactions of point selects, some of which write too?"
		t.blocks, t.writer = r.points(), r.writes()
		return t
	}},
}

// listed is how many keys the lists of the microbenchmarks have, and their
// ranges one more; wide is the range of those that aggregate.
const (
	listed = 100
	wide   = 1000
)

// points returns a block of point selects.
func (r *run) points() []block {
	return []block{{times(r.p.Int("point_selects"), pointSelect)}}
}

// reads returns the read blocks of a transaction.
func (r *run) reads(size int64) []block {
	out := r.points()
	if !r.p.Bool("range_selects") {
		return out
	}
	return append(out,
		block{times(r.p.Int("simple_ranges"), simpleRange(size))},
		block{times(r.p.Int("sum_ranges"), sumRange(size))},
		block{times(r.p.Int("order_ranges"), orderRange(size))},
		block{times(r.p.Int("distinct_ranges"), distinctRange(size))})
}

// writes returns the write blocks of a transaction.
func (r *run) writes() []block {
	return []block{
		{times(r.p.Int("index_updates"), r.updateK())},
		{times(r.p.Int("non_index_updates"), updateC(1, randomID))},
		{times(r.p.Int("delete_inserts"), remove(sharedID), reinsert)},
	}
}

func (r *run) updateK() statement { return updateK(r.p.String("k_update") == "random") }

func (r *run) readWrite(size int64) test {
	return test{
		doc:         fmt.Sprintf("How fast are transactions of reads (ranges of %d rows) and writes?", size),
		transaction: true, writes: true, blocks: slices.Concat(r.reads(size), r.writes()),
	}
}

// readOnly returns a transaction of points and one range.
func (r *run) readOnly(what string, s statement) test {
	return test{doc: fmt.Sprintf("How fast are transactions of points and %s of %d rows?", what, wide), transaction: true, blocks: append(r.points(), block{times(1, s)})}
}

// grows returns how many more rows there are after an event, if it finds what it
// deletes; below 0 the tables shrink.
func (t *test) grows() (rows int64) {
	for _, s := range t.statements() {
		rows += s.adds
	}
	return rows
}

// reads reports whether the test writes nothing.
func (t *test) reads() bool {
	return !slices.ContainsFunc(t.statements(), func(s statement) bool { return s.writes })
}

// access returns the group that published tables put the test into: one that
// writes anything is a write test, and one that reads anything but points is a
// range test.
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

// newTest makes the test that an entry of the list of tests names: what comes
// after a dot only tells steps apart.
func (r *run) newTest(entry string) (*test, error) {
	name, _, _ := strings.Cut(entry, ".")
	for _, t := range tests {
		n, ok := numbered(t.name, name)
		if !ok {
			continue
		}
		made := t.make(r, n)
		made.name = name
		if made.transaction && r.p.Bool("skip_trx") {
			made.transaction = false
		}
		return &made, nil
	}
	return nil, &workload.ParamError{Param: "tests", Reason: fmt.Sprintf("there is no test %q", name), Hint: "the tests are " + strings.Join(testNames(), ", ") + ", and settle"}
}

func testNames() (names []string) {
	for _, t := range tests {
		names = append(names, t.name)
	}
	return names
}

// greatest is the longest list or range that a name may ask for.
const greatest = 100_000

// numbered reports whether a name is that of a pattern, and the number in it.
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
	return n, err == nil && n >= 1 && n <= greatest && strconv.FormatInt(n, 10) == digits
}

// statements returns the kinds of statements of a test with the positions that
// they have in Group.Parts: kinds of one name are one there.
func (t *test) statements() (all []statement) {
	for _, b := range slices.Concat(t.blocks, t.writer) {
		for _, u := range b {
			all = append(all, u.statements...)
		}
	}
	return all
}
