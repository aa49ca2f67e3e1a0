package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/internal/expect"
	errhint "rumbench/internal/text/hint"
	"rumbench/model"
)

var allLink = []string{"from", "to", "data", "version", "code"}

func TestInsertAndGet(t *testing.T) {
	s := newSession(t, fresh(t))
	insert := prepare(t, s, model.Op{Kind: model.Insert, Table: "link", Columns: allLink, Rows: 2})
	insert.Changes(2, 1, "a", []byte{0, 1}, 5, nil, -1, "", []byte{}, nil, math.MinInt64)
	get := prepare(t, s, model.Op{Kind: model.Get, Table: "link", Columns: allLink})
	get.Want([]any{1, "a"}, `1 "a" x'0001' 5 NULL`)
	expect.Equal(t, get.Bytes, 8+1+2+8, "bytes")
	get.Want([]any{-1, ""}, `-1 "" x'' NULL -9223372036854775808`)
	get.Want([]any{2, "a"})
	two := prepare(t, s, model.Op{Kind: model.Get, Table: "link", Columns: []string{"version"}, Keys: 3})
	two.Want([]any{1, "a", 1, "b", -1, ""}, "NULL", "5")
	none := prepare(t, s, model.Op{Kind: model.Get, Table: "link"})
	none.Want([]any{1, "a"}, "")
}

func TestValuesSurvive(t *testing.T) {
	s := newSession(t, fresh(t))
	insert := prepare(t, s, enginetest.SaleInsert(1))
	get := prepare(t, s, model.Op{Kind: model.Get, Table: "sale", Columns: []string{"at", "price", "data"}})
	at := model.TimeValue(time.Date(1969, 12, 31, 23, 59, 59, 123456000, time.UTC))
	for i, c := range []struct {
		at    any
		price float64
		data  any
	}{
		{at, 1, "with \x00 and ' and \" and ü"},
		{nil, -0.1, nil},
		{model.MicrosValue(math.MaxInt64), math.Inf(1), ""},
		{at, math.MaxFloat64, strings.Repeat("x", 100_000)},
		{at, 1e300, "2024-01-01"},
	} {
		insert.Gives(fmt.Sprint(i+1), c.at, 1, 2, 3, c.price, c.data)
		v := enginetest.Values([]any{c.at, c.price, c.data})
		get.Want([]any{i + 1}, fmt.Sprintf("%s %s %s", v[0], v[1], v[2]))
	}
}

func TestAutoNumbers(t *testing.T) {
	s := newSession(t, fresh(t))
	three := prepare(t, s, enginetest.SaleInsert(3))
	row := enginetest.SaleRow(1)
	three.Gives("3", append(append(append([]any{}, row...), row...), row...)...)
	given := prepare(t, s, model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"register", "id", "customer", "product", "price"}, Rows: 1, ReturnNumber: true})
	given.Gives("10", 1, 10, 1, 1, 1.0)
	one := prepare(t, s, enginetest.SaleInsert(1))
	one.Gives("11", row...)
	lowest := prepare(t, s, model.Op{Kind: model.DeleteLowest, Table: "sale", Rows: 4})
	lowest.Changes(4, 0)
	one.Gives("12", row...)
}

func TestConflicts(t *testing.T) {
	s := newSession(t, fresh(t))
	op := model.Op{Kind: model.Insert, Table: "link", Columns: allLink, Rows: 2}
	fail := prepare(t, s, op)
	op.OnConflict = model.Ignore
	ignore := prepare(t, s, op)
	op.OnConflict = model.Replace
	replace := prepare(t, s, op)
	some := prepare(t, s, model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "code"}, Rows: 1, OnConflict: model.Replace})
	op.OnConflict, op.AddColumns = model.Add, []string{"version"}
	add := prepare(t, s, op)
	all := prepare(t, s, model.Op{Kind: model.Scan, Table: "link", Columns: []string{"to", "version", "code"}})

	fail.Changes(2, 1, "a", nil, 1, 1, 1, "b", nil, 2, 2)
	fail.Fails(engine.Duplicate, 1, "c", nil, 3, 3, 1, "a", nil, 9, 9)
	all.Want(nil, `"a" 1 1`, `"b" 2 2`)
	fail.Fails(engine.Duplicate, 1, "c", nil, 3, 3, 1, "d", nil, 9, 2) // the unique index
	all.Want(nil, `"a" 1 1`, `"b" 2 2`)
	ignore.Changes(1, 1, "a", nil, 9, 9, 1, "c", nil, 3, 3)
	all.Want(nil, `"a" 1 1`, `"b" 2 2`, `"c" 3 3`)
	replace.Changes(2, 1, "a", nil, 10, 10, 1, "d", nil, 4, 4)
	all.Want(nil, `"a" 10 10`, `"b" 2 2`, `"c" 3 3`, `"d" 4 4`)
	replace.Fails(engine.Duplicate, 1, "e", nil, 5, 5, 1, "a", nil, 0, 2) // another row has the code
	all.Want(nil, `"a" 10 10`, `"b" 2 2`, `"c" 3 3`, `"d" 4 4`)
	add.Changes(2, 1, "a", nil, 5, 99, 1, "a", nil, nil, 98)
	some.Changes(1, 1, "b", 20)
	all.Want(nil, `"a" 15 10`, `"b" NULL 20`, `"c" 3 3`, `"d" 4 4`)
	add.Changes(2, 1, "b", nil, nil, 97, 1, "b", nil, 7, 96)
	all.Want(nil, `"a" 15 10`, `"b" 7 20`, `"c" 3 3`, `"d" 4 4`)
}

func TestTextIsComparedByteByByte(t *testing.T) {
	s := newSession(t, fresh(t))
	insert := prepare(t, s, model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to"}, Rows: 1})
	for _, target := range []string{"ä", "a ", "B", "a", "b", "A", "a\x00"} {
		insert.OK(1, target)
	}
	scan := prepare(t, s, model.Op{Kind: model.Scan, Table: "link", Columns: []string{"to"}, Equal: 1})
	scan.Want([]any{1}, `"A"`, `"B"`, `"a"`, `"a\x00"`, `"a "`, `"b"`, `"ä"`)
}

// A session that is closed undoes its transaction.
func TestClosedInTransaction(t *testing.T) {
	db := fresh(t)
	s, other := newSession(t, db), newSession(t, db)
	begin, rollback := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Rollback})
	insert := prepare(t, s, model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "code"}, Rows: 1})
	begin.OK()
	insert.OK(1, "a", 1)
	insert.Fails(engine.Duplicate, 1, "b", 1)
	insert.OK(1, "c", 3) // the transaction goes on
	expect.NoError(t, s.Close())
	prepare(t, other, model.Op{Kind: model.Scan, Table: "link", Aggregate: model.Count}).Gives("0")
	rollback.Fails(engine.Gone)
	insert.Fails(engine.Gone, 1, "e", 5)
}

func TestReadersDoNotKeepWritersOut(t *testing.T) {
	db := fresh(t)
	reader, writer := newSession(t, db), newSession(t, db)
	begin, commit := prepare(t, reader, model.Op{Kind: model.Begin}), prepare(t, reader, model.Op{Kind: model.Commit})
	count := prepare(t, reader, model.Op{Kind: model.Scan, Table: "link", Aggregate: model.Count})
	insert := prepare(t, writer, model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to"}, Rows: 1})
	begin.OK()
	count.Gives("0")
	insert.OK(1, "a")
	count.Gives("0")
	commit.OK()
	count.Gives("1")
}

// TestPlans asks SQLite how it would execute statements.
func TestPlans(t *testing.T) {
	d := fresh(t).(*db)
	for _, c := range []struct {
		name string
		op   model.Op
		want string
	}{
		{"covered", model.Op{Index: "market", Columns: []string{"product", "customer", "price", "id"}, Lower: model.Inclusive, Limit: 10}, "SEARCH sale USING COVERING INDEX sale.market (product>?)"},
		{"covered, down", model.Op{Index: "pdc", Columns: []string{"price", "at", "customer"}, Desc: true, Limit: 10}, "SCAN sale USING COVERING INDEX sale.pdc"},
		{"covered by inclusion", model.Op{Index: "wide", Columns: []string{"data"}, Equal: 1}, "SEARCH sale USING COVERING INDEX sale.wide (customer=?)"},
		{"equal prefix", model.Op{Index: "register", Columns: []string{"price"}, Equal: 2, Upper: model.Exclusive}, "SEARCH sale USING COVERING INDEX sale.register (register=? AND customer=? AND price<?)"},
		{"not covered", model.Op{Index: "market", Columns: []string{"data"}, Lower: model.Inclusive}, "SEARCH sale USING INDEX sale.market (product>?)"},
		{"key", model.Op{Columns: []string{"data"}, Lower: model.Inclusive, Limit: 10}, "SEARCH sale USING INTEGER PRIMARY KEY (rowid>?)"},
		{"count by key", model.Op{Aggregate: model.Count}, "SCAN sale"},
		{"least key", model.Op{Columns: []string{"id"}, Limit: 1}, "SCAN sale"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.op.Kind, c.op.Table = model.Scan, "sale"
			sch := schema()
			st, err := newDialect("", new(defaultPage)).Statement(&sch.Tables[0], &c.op)
			expect.NoError(t, err)
			var got []string
			text := st.Text
			for i := range 3 { // text queries take no arguments
				text = strings.Replace(text, "?", fmt.Sprint(i), 1)
			}
			expect.NoError(t, d.Admin().Query(t.Context(), "EXPLAIN QUERY PLAN "+text, func(row []string) error {
				got = append(got, row[3])
				return nil
			}))
			expect.Equal(t, strings.Join(got, "; "), c.want, st.Text, got)
		})
	}
}

func TestFullDisk(t *testing.T) {
	db := fresh(t)
	s := newSession(t, db).(*session)
	insert := prepare(t, s, enginetest.SaleInsert(1))
	begin, rollback := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Rollback})
	setLimit(t, s, "max_page_count = 40")
	var err error
	begin.OK()
	for i := range 10_000 {
		row := enginetest.SaleRow(i)
		row[5] = strings.Repeat("x", 3000)
		if err = insert.Run(row...); err != nil {
			break
		}
	}
	expect.True(t, errors.Is(err, syscall.ENOSPC) && engine.ClassOf(err) == engine.Fatal && errhint.Of(err) != "",
		"got", err, "of class", engine.ClassOf(err))
	t.Log(err)
	rollback.OK()
	prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Aggregate: model.Count}).Gives("0")
}

func TestBusy(t *testing.T) {
	db := fresh(t)
	holder, waiter := newSession(t, db), newSession(t, db).(*session)
	prepare(t, holder, enginetest.SaleInsert(1))
	begin, rollback := prepare(t, holder, model.Op{Kind: model.Begin}), prepare(t, holder, model.Op{Kind: model.Rollback})
	insert := prepare(t, waiter, enginetest.SaleInsert(1))
	setLimit(t, waiter, "busy_timeout = 20")
	begin.OK()
	insert.Fails(engine.LockTimeout, enginetest.SaleRow(1)...)
	rollback.OK()
	insert.OK(enginetest.SaleRow(1)...)
}

// A transaction that has read cannot write any more once another has written.
func TestSnapshotConflict(t *testing.T) {
	db := fresh(t)
	s, other := newSession(t, db), newSession(t, db)
	begin, rollback := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Rollback})
	begin.OK()
	prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Aggregate: model.Count}).Gives("0")
	prepare(t, other, enginetest.SaleInsert(1)).OK(enginetest.SaleRow(1)...)
	prepare(t, s, enginetest.SaleInsert(1)).Fails(engine.Conflict, enginetest.SaleRow(1)...)
	rollback.OK()
}

func TestCancelledContext(t *testing.T) {
	s := newSession(t, fresh(t))
	insert := prepare(t, s, enginetest.SaleInsert(50))
	var rows []any
	for i := range 50 {
		rows = append(rows, enginetest.SaleRow(i)...)
	}
	begin, commit := prepare(t, s, model.Op{Kind: model.Begin}), prepare(t, s, model.Op{Kind: model.Commit})
	begin.OK()
	for range 400 {
		insert.OK(rows...)
	}
	commit.OK()
	long := prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"data", "price"}, Distinct: true, Aggregate: model.Count})
	// On a busy machine the query may win; it will not always.
	var err error
	for tries := 0; err == nil && tries < 50; tries++ {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		err = long.Stmt.Exec(ctx, nil, &long.Result)
		cancel()
	}
	expect.True(t, errors.Is(err, context.DeadlineExceeded) && engine.ClassOf(err) == engine.Timeout,
		"got", err, "of class", engine.ClassOf(err))
	ctx, cancel := context.WithCancel(t.Context())
	all := prepare(t, s, model.Op{Kind: model.Scan, Table: "sale", Columns: []string{"id"}})
	all.Each = func([]model.Value) { cancel() }
	if err := all.Stmt.Exec(ctx, nil, &all.Result); !errors.Is(err, context.Canceled) || all.Rows > 1000 {
		t.Errorf("got %v after %d rows", err, all.Rows)
	}
	expect.Is(t, insert.Stmt.Exec(ctx, enginetest.Values(rows), &insert.Result), context.Canceled)
	long.Gives("50")
}

func TestReadBufferIsNotKept(t *testing.T) {
	s := newSession(t, fresh(t))
	insert := prepare(t, s, model.Op{Kind: model.Insert, Table: "link", Columns: []string{"from", "to", "data"}, Rows: 1})
	dst, data := []byte("text"), []byte("data")
	expect.NoError(t, insert.Stmt.Exec(t.Context(), []model.Value{model.IntValue(1), model.StringValue(dst), model.BytesValue(data)}, &insert.Result))
	copy(dst, "!!!!")
	copy(data, bytes.Repeat([]byte("!"), 4))
	prepare(t, s, model.Op{Kind: model.Scan, Table: "link", Columns: []string{"to", "data"}}).Want(nil, `"text" x'64617461'`)
}

// setLimit changes a setting of one session.
func setLimit(t *testing.T, s *session, pragma string) {
	t.Helper()
	_, _, err := s.Conn().ExecText(t.Context(), "PRAGMA "+pragma)
	expect.NoError(t, err)
}
