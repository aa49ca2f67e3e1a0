package tpcc

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// statements are a terminal's, prepared. It has many fields because each transaction
// has its own.
type statements struct {
	workload.Transaction
	session engine.Session

	getTax, getBuyer, lockDistrict, takeNumber, insertOrder, insertNew, setStock engine.Stmt

	payWarehouse, payDistrict, getWarehouse, getDistrict, byName, lockCustomer, pay, payBad, insertHistory engine.Stmt

	getCustomer, lastOrder, orderLines engine.Stmt

	oldest, lockNew, deleteNew, getOrder, setCarrier, sumLines, credit engine.Stmt

	nextNumber, recentItems, getStocks engine.Stmt

	// By the number of rows, and the stocks by the district too; nil until it occurs.
	itemsBy, linesBy, datesBy [mostLines + 1]engine.Stmt
	stocksBy                  [districts + 1][mostLines + 1]engine.Stmt

	args   []model.Value
	result engine.Result
	got    rows // of the last read
	counts bool // what reads return counts as the operation's bytes
}

// stocksAtOnce is how many stocks Stock-Level gets with one statement.
const stocksAtOnce = 100

func get(table string, columns ...string) model.Op {
	return model.Op{Kind: model.Get, Table: table, Columns: columns}
}

func lock(table string, columns ...string) model.Op {
	op := get(table, columns...)
	op.Lock = true
	return op
}

func scan(table, index string, equal int, columns ...string) model.Op {
	return model.Op{Kind: model.Scan, Table: table, Index: index, Equal: equal, Columns: columns}
}

func insert(table string, rows int) model.Op {
	return model.Op{Kind: model.Insert, Table: table, Columns: given(table), Rows: rows}
}

// update sets columns, and adds to those that begin with a plus.
func update(table string, columns ...string) model.Op {
	op := model.Op{Kind: model.Update, Table: table}
	for _, c := range columns {
		add := c[0] == '+'
		if add {
			c = c[1:]
		}
		op.Set = append(op.Set, model.Assign{Column: c, Add: add})
	}
	return op
}

func (s *statements) prepare(ctx context.Context, session engine.Session) (err error) {
	s.session = session
	if s.Transaction, err = workload.NewTransaction(ctx, session); err != nil {
		return err
	}
	newest := scan(orders, orderIndex, 3, "o_id")
	newest.Desc, newest.Limit = true, 1
	oldest := scan(newOrders, "", 2, "no_o_id")
	oldest.Limit = 1
	sum := scan(orderLine, "", 3, "ol_amount")
	sum.Aggregate = model.Sum
	recent := scan(orderLine, "", 2, "ol_i_id")
	recent.Lower, recent.Upper, recent.Free, recent.Distinct = model.Inclusive, model.Inclusive, true, true
	levels := get(stock, "s_i_id", "s_quantity")
	levels.Keys = stocksAtOnce
	for _, p := range []struct {
		to *engine.Stmt
		op model.Op
	}{
		{&s.getTax, get(warehouse, "w_tax")},
		{&s.getBuyer, get(customer, "c_discount", "c_last", "c_credit")},
		{&s.lockDistrict, lock(district, "d_next_o_id", "d_tax")},
		{&s.takeNumber, update(district, "+d_next_o_id")},
		{&s.insertOrder, insert(orders, 1)},
		{&s.insertNew, insert(newOrders, 1)},
		{&s.setStock, update(stock, "s_quantity", "+s_ytd", "+s_order_cnt", "+s_remote_cnt")},

		{&s.payWarehouse, update(warehouse, "+w_ytd")},
		{&s.payDistrict, update(district, "+d_ytd")},
		{&s.getWarehouse, get(warehouse, "w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip")},
		{&s.getDistrict, get(district, "d_name", "d_street_1", "d_street_2", "d_city", "d_state", "d_zip")},
		{&s.byName, scan(customer, nameIndex, 3, "c_id")},
		{&s.lockCustomer, lock(customer, "c_credit", "c_data", "c_first", "c_middle", "c_last", "c_street_1", "c_street_2", "c_city", "c_state", "c_zip",
			"c_phone", "c_since", "c_credit_lim", "c_discount", "c_balance")},
		{&s.pay, update(customer, "+c_balance", "+c_ytd_payment", "+c_payment_cnt")},
		{&s.payBad, update(customer, "c_data", "+c_balance", "+c_ytd_payment", "+c_payment_cnt")},
		{&s.insertHistory, insert(history, 1)},

		{&s.getCustomer, get(customer, "c_balance", "c_first", "c_middle", "c_last")},
		{&s.lastOrder, newest},
		{&s.getOrder, get(orders, "o_c_id", "o_ol_cnt", "o_entry_d", "o_carrier_id")},
		{&s.orderLines, scan(orderLine, "", 3, "ol_i_id", "ol_supply_w_id", "ol_quantity", "ol_amount", "ol_delivery_d")},

		{&s.oldest, oldest},
		{&s.lockNew, lock(newOrders, "no_o_id")},
		{&s.deleteNew, model.Op{Kind: model.Delete, Table: newOrders}},
		{&s.setCarrier, update(orders, "o_carrier_id")},
		{&s.sumLines, sum},
		{&s.credit, update(customer, "+c_balance", "+c_delivery_cnt")},

		{&s.nextNumber, get(district, "d_next_o_id")},
		{&s.recentItems, recent},
		{&s.getStocks, levels},
	} {
		if *p.to, err = session.Prepare(ctx, &p.op); err != nil {
			return err
		}
	}
	return nil
}

// prepared returns a statement that is prepared when it first occurs.
func (s *statements) prepared(ctx context.Context, to *engine.Stmt, op func() model.Op) (engine.Stmt, error) {
	if *to != nil {
		return *to, nil
	}
	shape := op()
	stmt, err := s.session.Prepare(ctx, &shape)
	if err == nil {
		*to = stmt
	}
	return stmt, err
}

// itemsOf returns the statement that gets n items.
func (s *statements) itemsOf(ctx context.Context, n int) (engine.Stmt, error) {
	return s.prepared(ctx, &s.itemsBy[n], func() model.Op {
		op := get(item, "i_id", "i_price", "i_name", "i_data")
		op.Keys = n
		return op
	})
}

// stocksOf returns the statement that locks n stocks, with their texts for a district.
func (s *statements) stocksOf(ctx context.Context, d int64, n int) (engine.Stmt, error) {
	return s.prepared(ctx, &s.stocksBy[d][n], func() model.Op {
		op := lock(stock, "s_w_id", "s_i_id", "s_quantity", "s_data", distColumn(d))
		op.Keys = n
		return op
	})
}

// linesOf returns the statement that inserts n order lines.
func (s *statements) linesOf(ctx context.Context, n int) (engine.Stmt, error) {
	return s.prepared(ctx, &s.linesBy[n], func() model.Op { return insert(orderLine, n) })
}

// datesOf returns the statement that sets the delivery date of n order lines.
func (s *statements) datesOf(ctx context.Context, n int) (engine.Stmt, error) {
	return s.prepared(ctx, &s.datesBy[n], func() model.Op {
		op := update(orderLine, "ol_delivery_d")
		op.Keys = n
		return op
	})
}

// read executes a read with the arguments, whose rows are then in s.got.
func (s *statements) read(ctx context.Context, stmt engine.Stmt, out *workload.Outcome, args ...model.Value) error {
	s.args = append(s.args[:0], args...)
	return s.readArgs(ctx, stmt, out)
}

// readArgs is read with the arguments in s.args.
func (s *statements) readArgs(ctx context.Context, stmt engine.Stmt, out *workload.Outcome) error {
	s.got.clear()
	s.result.Each = s.got.each
	if err := stmt.Exec(ctx, s.args, &s.result); err != nil {
		return err
	}
	out.Reads++
	if s.counts {
		out.Bytes += s.result.Bytes
	}
	return nil
}

// write executes a write of so many user bytes, index entries included.
func (s *statements) write(ctx context.Context, stmt engine.Stmt, out *workload.Outcome, bytes int64, args ...model.Value) error {
	s.args = append(s.args[:0], args...)
	return s.writeArgs(ctx, stmt, out, bytes)
}

// writeArgs is write with the arguments in s.args.
func (s *statements) writeArgs(ctx context.Context, stmt engine.Stmt, out *workload.Outcome, bytes int64) error {
	s.result.Each = nil
	if err := stmt.Exec(ctx, s.args, &s.result); err != nil {
		return err
	}
	if s.result.Rows == 0 {
		out.Others++
		return nil
	}
	out.Writes++
	out.Bytes += bytes
	return nil
}

// rows keeps the rows of a read.
type rows struct {
	n      int
	values []model.Value
	text   []byte // memory of values
	each   func(row []model.Value)
}

func (r *rows) clear() {
	if r.each == nil {
		r.each = r.add // made once, as it is in memory of its own
	}
	r.n, r.values, r.text = 0, r.values[:0], r.text[:0]
}

func (r *rows) add(row []model.Value) {
	r.n++
	for _, v := range row {
		if b := v.Buf(); b != nil {
			from := len(r.text)
			r.text = append(r.text, b...)
			v = model.StringValue(r.text[from:len(r.text):len(r.text)])
		}
		r.values = append(r.values, v)
	}
}

// value returns a column of a row; NULL if there is no such row.
func (r *rows) value(row, column int) model.Value {
	if row >= r.n {
		return model.Value{}
	}
	return r.values[row*len(r.values)/r.n+column]
}

// at returns an integer; 0 for NULL.
func (r *rows) at(row, column int) int64 { return r.value(row, column).Int() }

// find returns the row whose column is n, or the number of rows.
func (r *rows) find(column int, n int64) int {
	i := 0
	for i < r.n && r.at(i, column) != n {
		i++
	}
	return i
}
