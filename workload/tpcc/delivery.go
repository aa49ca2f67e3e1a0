package tpcc

import (
	"rumbench/engine"
	"rumbench/model"
)

// The statements of Delivery and Stock-Level.
var (
	oldest     = define(model.Op{Kind: model.Scan, Table: newOrders, Equal: 2, Columns: []string{"no_o_id"}, Limit: 1})
	lockNew    = define(lock(newOrders, "no_o_id"))
	deleteNew  = define(model.Op{Kind: model.Delete, Table: newOrders})
	setCarrier = define(update(orders, "o_carrier_id"))
	setDates   = defineSizes(func(n int) model.Op { return sized(update(orderLine, "ol_delivery_d"), n) })
	sumLines   = define(model.Op{Kind: model.Scan, Table: orderLine, Equal: 3, Columns: []string{"ol_amount"},
		Aggregate: model.Sum})
	credit = define(update(customer, "+c_balance", "+c_delivery_cnt"))

	nextNumber  = define(get(district, "d_next_o_id"))
	recentItems = define(model.Op{
		Kind: model.Scan, Table: orderLine, Equal: 2, Lower: model.Inclusive, Upper: model.Inclusive,
		Columns: []string{"ol_i_id"}, Free: true, Distinct: true,
	})
	getStocks = define(sized(get(stock, "s_i_id", "s_quantity"), stocksAtOnce))
)

// deliverAll is Delivery (TPC-C 2.7): the oldest order of each district, in one
// transaction.
func (t *terminal) deliverAll() {
	for d := int64(1); d <= districts && t.err == nil; d++ {
		if o := t.takeOldest(d); o > 0 {
			t.deliver(d, o)
			t.attempt.undelivered--
		} else {
			t.skipped++
		}
	}
}

// takeOldest locks and deletes the oldest new order of a district, and returns its
// number; 0: there is none. A scan takes no locks, so another terminal may have taken the
// order before it is locked: then takeOldest tries the next order. A transaction that
// still sees the taken order yields.
func (t *terminal) takeOldest(district int64) int64 {
	w, d := integer(t.w), integer(district)
	for gone := int64(0); t.err == nil; {
		t.read(oldest, w, d)
		o := t.got.at(0, 0)
		if o == 0 {
			break
		}
		if o == gone {
			t.fail(engine.Errorf(engine.Conflict, "another delivery has taken the oldest order of the district"))
		}
		t.read(lockNew, w, d, integer(o))
		if t.got.n > 0 {
			t.write(deleteNew, 0, w, d, integer(o))
			return o
		}
		gone = o
	}
	return 0
}

// deliver delivers an order.
func (t *terminal) deliver(district, order int64) {
	w, d, o := integer(t.w), integer(district), integer(order)
	t.one("an order that is to be delivered", getOrder, w, d, o)
	c, count := integer(t.got.at(0, 0)), t.got.at(0, 1)
	if t.need(count >= 1 && count <= mostLines, "the number of an order's lines"); count < 1 || count > mostLines {
		return
	}
	t.write(setCarrier, 4, integer(t.carrier), w, d, o)
	t.list = append(t.list[:0], t.now())
	for n := range count {
		t.list = append(t.list, w, d, o, integer(n+1))
	}
	t.write(setDates+statement(count-1), 8*count, t.list...)
	t.need(t.result.Rows == count, "a line of an order that is delivered")
	t.read(sumLines, w, d, o)
	t.write(credit, 8+4, t.result.Value, integer(1), w, d, c)
}

const (
	recentOrders = 20  // that Stock-Level examines
	stocksAtOnce = 100 // that Stock-Level gets with one statement
)

// countLow is Stock-Level (TPC-C 2.8). The vocabulary has no join: the items of the
// recent orders are read first, then their stocks.
func (t *terminal) countLow() {
	w, d := integer(t.w), integer(t.d)
	t.one("the district", nextNumber, w, d)
	next := t.got.at(0, 0)
	t.read(recentItems, w, d, integer(next-recentOrders), integer(next-1))
	t.need(t.got.n > 0, "the last orders of the district")
	t.recent, t.total = t.recent[:0], 0
	for r := range t.got.n {
		t.recent = append(t.recent, t.got.at(r, 0))
	}
	for start := 0; start < len(t.recent); start += stocksAtOnce {
		t.countStocks(t.recent[start:min(len(t.recent), start+stocksAtOnce)])
	}
}

// countStocks counts the items whose stock is below the threshold. Unused keys are filled
// with item 0, which does not exist.
func (t *terminal) countStocks(items []int64) {
	t.list = t.list[:0]
	for _, n := range items {
		t.list = append(t.list, integer(t.w), integer(n))
	}
	for range stocksAtOnce - len(items) {
		t.list = append(t.list, integer(t.w), integer(0))
	}
	t.read(getStocks, t.list...)
	t.need(t.got.n == len(items), "a stock")
	for r := range t.got.n {
		if t.got.at(r, 1) < t.threshold {
			t.total++
		}
	}
}
