package tpcc

import (
	"rumbench/model"
)

// The statements of New-Order. Its lines are handled in one of two ways: one at a time,
// or all lines of an order together.
var (
	getTax       = define(get(warehouse, "w_tax"))
	getBuyer     = define(get(customer, "c_discount", "c_last", "c_credit"))
	lockDistrict = define(lock(district, "d_next_o_id", "d_tax"))
	takeNumber   = define(update(district, "+d_next_o_id"))
	insertOrder  = define(insert(orders, 1))
	insertNew    = define(insert(newOrders, 1))
	getItems     = defineSizes(func(n int) model.Op { return sized(get(item, "i_id", "i_price", "i_name", "i_data"), n) })
	lockStocks   = defineStocks()
	setStock     = define(update(stock, "s_quantity", "+s_ytd", "+s_order_cnt", "+s_remote_cnt"))
	insertLines  = defineSizes(func(n int) model.Op { return insert(orderLine, n) })
)

// defineStocks defines the statements that lock stocks and read their texts, for each
// district.
func defineStocks() (out [districts]statement) {
	for d := range out {
		out[d] = defineSizes(func(n int) model.Op {
			return sized(lock(stock, "s_w_id", "s_i_id", "s_quantity", "s_data", distColumn(int64(d)+1)), n)
		})
	}
	return out
}

// line is a line of a New-Order.
type line struct {
	number   int64 // in the order
	item     int64
	supplier int64 // the warehouse
	quantity int64
	amount   int64 // in cents
	dist     [distWidth]byte
	distSize int
}

// sameStock reports whether two lines have the same stock.
func (l *line) sameStock(o *line) bool { return l.supplier == o.supplier && l.item == o.item }

// enter is New-Order (TPC-C 2.4).
func (t *terminal) enter() {
	w, d := integer(t.w), integer(t.d)
	t.one("the warehouse", getTax, w)
	tax := t.got.at(0, 0)
	t.one("the customer", getBuyer, w, d, integer(t.c))
	discount := t.got.at(0, 0)
	t.one("the district", lockDistrict, w, d)
	number := t.got.at(0, 0)
	tax += t.got.at(0, 1)
	if number == 0 {
		number = t.clock % (1 << 31) // for a district that was not loaded
	}
	t.write(takeNumber, 4, integer(1), w, d)
	local, count, together := int64(0), len(t.lines), 1
	if t.allLocal {
		local = 1
	}
	if t.stage.batch {
		together = count
	}
	if t.rollsBack {
		count++
	}
	t.write(insertOrder, bytesOf[orders]+orderEntry, w, d, integer(number), integer(t.c), t.now(), model.Value{},
		integer(int64(count)), integer(local))
	t.write(insertNew, bytesOf[newOrders], w, d, integer(number))
	for start := 0; start < len(t.lines); start += together {
		t.enterLines(number, t.lines[start:start+together])
	}
	if t.rollsBack {
		t.read(getItems, integer(t.stage.items+1)) // the last item, which does not exist
		t.fail(errRollback)
		return
	}
	t.total = t.charge(tax, discount)
	t.attempt = totals{orders: 1, undelivered: 1, lines: int64(len(t.lines))}
	for i := range t.lines {
		if t.lines[i].supplier != t.w {
			t.remoteLines++
		}
	}
}

// enterLines enters lines with one statement of each kind, except for the updates of
// stocks, which differ. Lines with the same stock are merged.
func (t *terminal) enterLines(number int64, lines []line) {
	t.list = t.list[:0]
	for i := range lines {
		t.list = append(t.list, integer(lines[i].item))
	}
	t.read(getItems+statement(len(lines)-1), t.list...)
	for i := range lines {
		r := 0
		for r < t.got.n && t.got.at(r, 0) != lines[i].item {
			r++
		}
		t.need(r < t.got.n, "an item")
		lines[i].amount = lines[i].quantity * t.got.at(r, 1)
	}
	t.list = t.list[:0]
	for i := range lines {
		if i == 0 || !lines[i].sameStock(&lines[i-1]) {
			t.list = append(t.list, integer(lines[i].supplier), integer(lines[i].item))
		}
	}
	t.read(lockStocks[t.d-1]+statement(len(t.list)/2-1), t.list...)
	for start, n := 0, 0; start < len(lines); start += n {
		for n = 1; start+n < len(lines) && lines[start+n].sameStock(&lines[start]); n++ {
		}
		t.take(lines[start : start+n])
	}
	t.list = t.list[:0]
	for i := range lines {
		l := &lines[i]
		t.list = append(t.list, integer(t.w), integer(t.d), integer(number), integer(l.number), integer(l.item),
			integer(l.supplier), model.Value{}, integer(l.quantity), integer(l.amount), model.StringValue(l.dist[:l.distSize]))
	}
	t.write(insertLines+statement(len(lines)-1), int64(len(lines))*bytesOf[orderLine], t.list...)
}

// take takes lines of one item from its stock, which is locked.
func (t *terminal) take(lines []line) {
	subject := &lines[0]
	r := 0
	for r < t.got.n && (t.got.at(r, 0) != subject.supplier || t.got.at(r, 1) != subject.item) {
		r++
	}
	t.need(r < t.got.n, "a stock")
	pieces := t.got.at(r, 2)
	var sold, remote int64
	for i := range lines {
		l := &lines[i]
		l.distSize = copy(l.dist[:], t.got.value(r, 4).Buf())
		sold += l.quantity
		if pieces >= l.quantity+10 {
			pieces -= l.quantity
		} else {
			pieces += refill - l.quantity
		}
		if l.supplier != t.w {
			remote++
		}
	}
	t.write(setStock, 4+8+4+4, integer(pieces), integer(sold), integer(int64(len(lines))), integer(remote),
		integer(subject.supplier), integer(subject.item))
}

// refill is the number of pieces added to a stock that would fall below ten.
const refill = 91

// charge returns the price of the order, in cents.
func (t *inputs) charge(tax, discount int64) (total int64) {
	for i := range t.lines {
		total += t.lines[i].amount
	}
	return total * (10_000 - discount) * (10_000 + tax) / 100_000_000
}
