package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/model"
)

// testRandom executes random operations on the engine and the oracle, which must
// agree on every result and, at the end, on every index.
func (s Suite) testRandom(t *testing.T) {
	served := len(s.Engine.Info().Servers) > 0
	seeds(t, served, func(t *testing.T, seed uint64) { walkTable(t, s, s.open(t, true), "things", seed) })
}

// testSwitched is testRandom with options, also on tables with fewer indexes, and
// again after a settle.
func testSwitched(t *testing.T, s Suite, options map[string]any) {
	s.Config.Options = maps.Clone(s.Config.Options)
	if s.Config.Options == nil {
		s.Config.Options = map[string]any{}
	}
	maps.Copy(s.Config.Options, options)
	seeds(t, true, func(t *testing.T, seed uint64) {
		db := s.open(t, true)
		var walks []*walk
		for _, table := range []string{"things", "notes", "sums"} {
			walks = append(walks, walkTable(t, s, db, table, seed))
		}
		_, err := db.Settle(context.Background())
		check(t, err)
		for _, w := range walks {
			w.compareAll()
		}
	})
	if s.Config.Options["deletes"] != "single" {
		add := model.Op{Kind: model.Update, Table: "sums", Set: []model.Assign{{Column: "n", Add: true}}, Blind: true}
		concurrentAdds(t, s, "sums", add)
	}
	s.testConcurrentLowest(t)
}

// walkTable executes random operations on a table.
func walkTable(t *testing.T, s Suite, db engine.DB, table string, seed uint64) *walk {
	t.Helper()
	w := &walk{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), c: newClient(t, db),
		fixed: s.Config.Options["deletes"] == "single", standIn: s.StandIn}
	schema := s.schema()
	w.oracle.table, _ = schema.Table(table)
	for i, steps := range []int{100, 300} {
		if i > 0 {
			check(t, db.ClearTable(t.Context(), table))
			w.oracle.rows = nil
		}
		for range steps {
			w.step()
		}
		w.compareAll()
	}
	return w
}

type walk struct {
	t      *testing.T
	rnd    *rand.Rand
	c      *client
	oracle oracle
	fixed  bool // the engine does not change rows
	// standIn leaves out the behaviour that a Suite.StandIn lacks.
	standIn bool
}

// id draws from a small domain, as value does, so that keys collide.
func (w *walk) id() model.Value { return model.IntValue(int64(w.rnd.IntN(60)) - 10) }

func (w *walk) value(c model.Column) model.Value {
	if !c.NotNull && w.rnd.IntN(6) == 0 {
		return model.Value{}
	}
	switch {
	case c.Fixed: // ASCII without trailing spaces
		return model.StringValue([]byte(draw(w, "", "a", "a b", "ab", "b", "zz")))
	case c.Type == model.Float:
		return model.FloatValue(draw(w, -1e300, -1.5, 0, 0.25, 3, 1e300))
	case c.Type == model.Time:
		return model.MicrosValue(int64(w.rnd.IntN(5)-2) * 1_000_001)
	case c.Type == model.String:
		return model.StringValue([]byte(draw(w, "", "a", "ab", "abc", "b", "zz", "é")))
	case c.Type == model.UUID:
		return model.UUIDValue([]byte(draw(w, "\x00123456789abcdef", "0123456789abcdef", "0123456789abcde\x00",
			"\xff123456789abcdef")))
	case c.Type == model.Bytes:
		return model.BytesValue([]byte(draw(w, "", "a", "ab", "a\x00", "a\x00b", "a\xff", "b", "zz")))
	}
	return model.IntValue(int64(w.rnd.IntN(7) - 3))
}

// draw draws one of a list.
func draw[T any](w *walk, list ...T) T { return list[w.rnd.IntN(len(list))] }

// one reports true with a chance of one in n.
func (w *walk) one(n int) bool { return w.rnd.IntN(n) == 0 }

func (w *walk) step() {
	switch w.rnd.IntN(14) {
	case 0, 1, 2:
		w.insert()
	case 3:
		w.get()
	case 4:
		w.getByIndex()
	case 5, 6, 7:
		w.scan()
	case 8, 9, 10:
		w.freeScan()
	case 11, 12:
		if !w.fixed {
			w.update()
		}
	case 13:
		w.delete()
	}
}

func (w *walk) insert() {
	op := model.Op{Kind: model.Insert, Table: w.oracle.table.Name, Columns: w.oracle.table.ColumnNames(),
		Rows: 1 + w.rnd.IntN(3), OnConflict: model.Conflict(w.rnd.IntN(4))}
	if w.fixed {
		op.OnConflict %= model.Replace
	}
	if op.OnConflict == model.Add {
		op.AddColumns = []string{"n", "f"}
	}
	var args []model.Value
	for range op.Rows {
		args = append(args, w.id())
		for _, c := range w.oracle.table.Columns[1:] {
			args = append(args, w.value(c))
		}
	}
	r, _, err := w.c.try(op, args...)
	before := slices.Clone(w.oracle.rows)
	for i, row := range before { // the oracle changes rows in place
		before[i] = slices.Clone(row)
	}
	var done int64
	n := len(op.Columns)
	for i := range op.Rows {
		one, duplicate := w.oracle.insert(op.OnConflict, op.AddColumns, args[i*n:(i+1)*n])
		if duplicate {
			w.oracle.rows = before
			fatalIf(w.t, engine.ClassOf(err) != engine.Duplicate,
				"insert of an existing key: got error %v, want one of class duplicate", err)
			return
		}
		done += one
	}
	fatalIf(w.t, err != nil, "%s %v: %v", op.Label(), args, err)
	if op.OnConflict != model.Replace && r.Rows != done { // engines count a replaced row once or twice
		w.t.Fatalf("%s (conflict %d): %d rows, want %d", op.Label(), op.OnConflict, r.Rows, done)
	}
}

func (w *walk) get() {
	op := model.Op{Kind: model.Get, Table: w.oracle.table.Name, Columns: w.oracle.table.ColumnNames(),
		Keys: 1 + w.rnd.IntN(4)}
	var args []model.Value
	var want [][]model.Value
	for range op.Keys {
		id := w.id()
		if slices.ContainsFunc(args, func(v model.Value) bool { return v.Compare(id) == 0 }) {
			id = model.IntValue(1_000_000) // engines return the row of a repeated key once or twice
		}
		args = append(args, id)
		if i := w.oracle.find(id); i >= 0 {
			want = append(want, w.oracle.rows[i])
		}
	}
	_, got := w.c.do(op, args...)
	sortRows(got, want)
	w.same("get", got, want)
}

func (w *walk) scan() {
	op := model.Op{Kind: model.Scan, Table: w.oracle.table.Name, Index: w.index(), Desc: w.one(2),
		Columns: w.oracle.table.ColumnNames()}
	order := w.bounds(&op)
	args := w.scanArgs(&op, order, true)
	args = append(args, w.where(&op)...)
	if w.one(3) {
		op.Columns = []string{w.oracle.table.Columns[order[0]].Name, "id"} // covered
	}
	want := w.oracle.scan(&op, args)
	if w.one(3) {
		op.Limit = 1 + w.rnd.IntN(5)
	}
	if op.Limit > 0 && len(op.Where) == 0 && w.one(2) {
		op.LimitGiven, args = true, append(args, model.IntValue(int64(op.Limit)))
		op.Limit *= 2
	}
	r, got := w.c.do(op, args...)
	if op.LimitGiven {
		op.Limit /= 2
	}
	fatalIf(w.t, r.Rows != int64(len(got)), "%s: counts %d rows, returned %d", op.Label(), r.Rows, len(got))
	w.compareScan(&op, order, got, want)
}

// bounds draws how a scan is bounded, and returns the columns of its order.
func (w *walk) bounds(op *model.Op) (order []int) {
	order = w.oracle.order(op)
	if op.Equal = w.rnd.IntN(len(order) + 1); op.Equal < len(order) {
		op.Lower, op.Upper = model.Bound(w.rnd.IntN(3)), model.Bound(w.rnd.IntN(3))
	}
	return order
}

// scanArgs draws the values that a scan compares with.
func (w *walk) scanArgs(op *model.Op, order []int, notNull bool) (args []model.Value) {
	for i := range op.Args(w.oracle.table) {
		c := w.oracle.table.Columns[order[min(i, op.Equal)]]
		c.NotNull = c.NotNull || notNull
		args = append(args, w.value(c))
	}
	return args
}

// where draws conditions, and the values that they compare with.
func (w *walk) where(op *model.Op) (args []model.Value) {
	for range max(0, w.rnd.IntN(6)-3) {
		c := draw(w, w.oracle.table.Columns...)
		is, value := model.Comparison(w.rnd.IntN(3)), w.value(c)
		if c.Type == model.Bytes {
			is = model.Equals
		}
		if (c.Type == model.String || c.Type == model.Bytes) && w.one(2) && !w.standIn {
			is, value = model.ShorterThan, model.IntValue(int64(w.rnd.IntN(4)))
		}
		op.Where = append(op.Where, model.Condition{Column: c.Name, Is: is})
		args = append(args, value)
	}
	return args
}

// index draws one of the table's indexes, or "" for its primary key.
func (w *walk) index() string {
	return draw(w, append(slices.Clone(w.oracle.table.Indexes), model.Index{})...).Name
}

// getByIndex repeats some keys.
func (w *walk) getByIndex() {
	ix := draw(w, w.oracle.table.Indexes...)
	op := model.Op{Kind: model.Get, Table: w.oracle.table.Name, Index: ix.Name, Columns: w.oracle.table.ColumnNames(),
		Equal: 1 + w.rnd.IntN(len(ix.Columns)), Keys: 1 + w.rnd.IntN(3)}
	var args []model.Value
	for range op.Keys {
		for _, name := range ix.Columns[:op.Equal] {
			c := w.oracle.table.Columns[w.oracle.column(name)]
			c.NotNull = op.Equal > 1 // MySQL 5.5 compares the rest of a key that holds NULL
			args = append(args, w.value(c))
		}
	}
	want := w.oracle.get(&op, args)
	_, got := w.c.do(op, args...)
	sortRows(got, want)
	w.same(fmt.Sprintf("%s %v", op.Label(), args), slices.CompactFunc(got, sameRow), want)
}

// freeScan runs a scan with Free, and with several ranges, which need it.
func (w *walk) freeScan() {
	op := model.Op{Kind: model.Scan, Table: w.oracle.table.Name, Index: w.index(), Free: true}
	order := w.bounds(&op)
	if op.Equal == 0 && w.one(2) {
		op.Ranges, op.Lower, op.Upper = 1+w.rnd.IntN(3), model.Inclusive, model.Inclusive
	}
	args := w.scanArgs(&op, order, false)
	args = append(args, w.where(&op)...)
	found := w.oracle.scan(&op, args)
	result := draw(w,
		model.Op{Columns: w.oracle.table.ColumnNames()}, model.Op{Columns: []string{"n", "c"}, OrderBy: "c"},
		model.Op{Columns: []string{"c", "n"}, Distinct: true, OrderBy: "n"}, model.Op{Columns: []string{"c"}, Distinct: true},
		model.Op{Columns: []string{"n"}, Aggregate: model.Sum}, model.Op{Columns: []string{"c"}, Aggregate: model.Count})
	op.Columns, op.OrderBy, op.Distinct, op.Aggregate = result.Columns, result.OrderBy, result.Distinct, result.Aggregate
	w.compareFree(&op, args, found)
}

// compareFree executes a free scan and compares its result with that of the
// oracle's rows.
func (w *walk) compareFree(op *model.Op, args []model.Value, found [][]model.Value) {
	want := w.project(op, found)
	var count int64
	var sum model.Value
	for _, row := range want {
		if !row[0].IsNull() {
			count++
			sum = sum.Add(row[0])
		}
	}
	r, got := w.c.do(*op, args...)
	subject := fmt.Sprintf("%s %+v %v", op.Label(), *op, args)
	if op.Aggregate == model.Count {
		sum = model.IntValue(count)
	}
	if op.Aggregate != model.NoAggregate {
		fatalIf(w.t, r.Value.Compare(sum) != 0, "%s: %v, want %v", subject, r.Value, sum)
		return
	}
	if by := slices.Index(op.Columns, op.OrderBy); by >= 0 &&
		!slices.IsSortedFunc(got, func(a, b []model.Value) int { return a[by].Compare(b[by]) }) {
		w.t.Fatalf("%s: not in order: %v", subject, got)
	}
	sortRows(got, want)
	if op.Distinct {
		want = slices.CompactFunc(want, sameRow)
	}
	w.same(subject, got, want)
}

// project returns the columns of an operation of whole rows.
func (w *walk) project(op *model.Op, rows [][]model.Value) (out [][]model.Value) {
	columns, _ := w.oracle.table.Positions(op.Columns)
	for _, row := range rows {
		var own []model.Value
		for _, c := range columns {
			own = append(own, row[c])
		}
		out = append(out, own)
	}
	return out
}

// compareScan compares rows in the scan's order; equal entries may be in any
// order.
func (w *walk) compareScan(op *model.Op, order []int, got, want [][]model.Value) {
	n := len(want)
	if op.Limit > 0 {
		n = min(n, op.Limit)
	}
	fatalIf(w.t, len(got) != n, "%s %+v: %d rows, want %d", op.Label(), *op, len(got), n)
	lead := slices.Index(op.Columns, w.oracle.table.Columns[order[0]].Name)
	projected := w.project(op, want)
	for i, row := range got {
		fatalIf(w.t, row[lead].Compare(want[i][order[0]]) != 0, "%s: row %d has %v, want %v", op.Label(), i, row[lead],
			want[i][order[0]])
		fatalIf(w.t, !slices.ContainsFunc(projected, func(p []model.Value) bool { return sameRow(row, p) }),
			"%s: unexpected row %v", op.Label(), row)
	}
}

func (w *walk) update() {
	sets := []model.Assign{{Column: "a"}, {Column: "n", Add: true}, {Column: "s"}, {Column: "f", Add: true},
		{Column: "c"}, {Column: "b"}}
	op := model.Op{Kind: model.Update, Table: w.oracle.table.Name, Set: sets[w.rnd.IntN(5):][:2]}
	if w.one(4) {
		op.Set = op.Set[:1]
	}
	var args []model.Value
	for _, a := range op.Set {
		c := w.oracle.table.Columns[w.oracle.column(a.Column)]
		if a.Add {
			// Engines differ in x + NULL; in the oracle NULL counts as zero.
			c.NotNull = true
		}
		args = append(args, w.value(c))
	}
	if ix := w.oracle.table.Indexes[0]; w.one(2) {
		op.Index, op.Equal = ix.Name, 1
		c := w.oracle.table.Columns[w.oracle.column(ix.Columns[0])]
		c.NotNull = true
		args = append(args, w.value(c))
	} else {
		op.Keys = w.rnd.IntN(4)
		for range op.KeyCount() { // keys may repeat
			args = append(args, w.id())
		}
		op.Blind = w.exist(args[len(op.Set):])
	}
	r, _ := w.c.do(op, args...)
	w.counts(op, r, w.oracle.update(&op, args))
}

// exist reports whether all rows of a list of keys exist: the operation is blind.
func (w *walk) exist(keys []model.Value) bool {
	return !slices.ContainsFunc(keys, func(id model.Value) bool { return w.oracle.find(id) < 0 })
}

func (w *walk) delete() {
	if w.one(2) {
		op := model.Op{Kind: model.DeleteLowest, Table: w.oracle.table.Name, Rows: 1 + w.rnd.IntN(3), Blind: true}
		cursor := w.id()
		r, _ := w.c.do(op, cursor)
		w.counts(op, r, w.oracle.deleteLowest(cursor, op.Rows))
		return
	}
	op := model.Op{Kind: model.Delete, Table: w.oracle.table.Name, Keys: 1 + w.rnd.IntN(2)}
	var args []model.Value
	var want int64
	for range op.Keys {
		id := w.id()
		args = append(args, id)
	}
	op.Blind = w.exist(args)
	for _, id := range args {
		want += w.oracle.delete(id)
	}
	r, _ := w.c.do(op, args...)
	w.counts(op, r, want)
}

func (w *walk) counts(op model.Op, r engine.Result, want int64) {
	w.t.Helper()
	fatalIf(w.t, r.Rows != want, "%s: %d rows, want %d", op.Label(), r.Rows, want)
}

// compareAll compares the table by primary key and by every index.
func (w *walk) compareAll() {
	for _, ix := range append(slices.Clone(w.oracle.table.Indexes), model.Index{}) {
		op := model.Op{Kind: model.Scan, Table: w.oracle.table.Name, Index: ix.Name, Columns: w.oracle.table.ColumnNames()}
		_, got := w.c.do(op)
		want := slices.Clone(w.oracle.rows)
		sortRows(got, want)
		w.same("all by "+ix.Name, got, want)
	}
}

func (w *walk) same(subject string, got, want [][]model.Value) {
	w.t.Helper()
	fatalIf(w.t, !slices.EqualFunc(got, want, sameRow), "%s:\n got %v\nwant %v", subject, got, want)
}

func compareRows(a, b []model.Value) int { return slices.CompareFunc(a, b, model.Value.Compare) }

func sameRow(a, b []model.Value) bool { return compareRows(a, b) == 0 }

func sortRows(lists ...[][]model.Value) {
	for _, rows := range lists {
		slices.SortFunc(rows, compareRows)
	}
}

// testValues stores the extreme values of every type and reads them back.
func (s Suite) testValues(t *testing.T) {
	c := newClient(t, s.open(t, true))
	schema := s.schema()
	table, _ := schema.Table("things")
	long := make([]byte, 64)
	for i := range long {
		long[i] = byte(i * 5)
	}
	rows := [][]model.Value{
		Values([]any{math.MinInt64, math.MinInt32, -math.MaxFloat64, model.MicrosValue(-1), "", []byte{}, math.MaxInt64, "",
			model.UUIDValue(make([]byte, 16))}),
		Values([]any{-1, -1, math.SmallestNonzeroFloat64, model.MicrosValue(0), "é ÿ €", []byte{0}, 0, " a  b",
			model.UUIDValue(long[:16])}),
		Values([]any{0, 0, nil, nil, nil, nil, nil, nil, nil}),
		Values([]any{math.MaxInt64, math.MaxInt32, math.MaxFloat64, model.MicrosValue(253402300799999999), "'\"\\;--", long,
			math.MinInt64, "'\"\\;--0123456789", model.UUIDValue(bytes.Repeat([]byte{0xff}, 16))}),
	}
	for _, row := range rows {
		c.do(model.Op{Kind: model.Insert, Table: "things", Columns: table.ColumnNames(), Rows: 1}, row...)
	}
	_, got := c.do(model.Op{Kind: model.Scan, Table: "things", Columns: table.ColumnNames()})
	failIf(t, !slices.EqualFunc(got, rows, sameRow), "read back\n %v\nwant\n %v", got, rows)
	r, _ := c.do(model.Op{Kind: model.Scan, Table: "things", Index: "things_n", Equal: 1, Columns: []string{"id"}},
		model.Value{})
	failIf(t, r.Rows != 0, "NULL equals %d rows, want none", r.Rows)
	ctx := context.Background()
	st := c.prepare(model.Op{Kind: model.Get, Table: "things", Columns: []string{"id"}})
	failIf(t, st.Exec(ctx, nil, &engine.Result{}) == nil, "no error for missing arguments")
}
