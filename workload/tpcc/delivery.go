package tpcc

import (
	"context"

	"rumbench/engine"
	"rumbench/workload"
)

// deliverAll is Delivery (TPC-C 2.7): the oldest order of each district, in one
// transaction.
func (t *terminal) deliverAll(ctx context.Context, out *workload.Outcome) error {
	for d := range int64(districts) {
		o, err := t.takeOldest(ctx, out, d+1)
		if err != nil {
			return err
		}
		if o == 0 {
			t.skipped++
			continue
		}
		if err := t.deliver(ctx, out, d+1, o); err != nil {
			return err
		}
		t.did.undelivered--
	}
	return nil
}

// takeOldest locks and deletes the oldest new order of a district, and returns its
// number; 0: there is none. A scan locks nothing, so others may have taken the order
// before it is locked: then the next one is looked for. A transaction that still sees
// the former yields.
func (t *terminal) takeOldest(ctx context.Context, out *workload.Outcome, district int64) (int64, error) {
	w, d := integer(t.w), integer(district)
	for gone := int64(0); ; {
		if err := t.read(ctx, t.oldest, out, w, d); err != nil {
			return 0, err
		}
		o := t.got.at(0, 0)
		switch o {
		case 0:
			return 0, nil
		case gone:
			return 0, engine.Errorf(engine.Conflict, "another delivery has taken the oldest order of the district")
		}
		if err := t.read(ctx, t.lockNew, out, w, d, integer(o)); err != nil {
			return 0, err
		}
		if t.got.n > 0 {
			return o, t.write(ctx, t.deleteNew, out, 0, w, d, integer(o))
		}
		gone = o
	}
}

// deliver delivers an order.
func (t *terminal) deliver(ctx context.Context, out *workload.Outcome, district, order int64) error {
	w, d, o := integer(t.w), integer(district), integer(order)
	if err := t.read(ctx, t.getOrder, out, w, d, o); err != nil {
		return err
	}
	if t.need(t.got.n == 1, "an order that is to be delivered"); t.got.n == 0 {
		return nil
	}
	c, count := integer(t.got.at(0, 0)), t.got.at(0, 1)
	if err := t.write(ctx, t.setCarrier, out, 4, integer(t.carrier), w, d, o); err != nil {
		return err
	}
	dates, err := t.datesOf(ctx, int(count))
	if err != nil {
		return err
	}
	t.args = append(t.args[:0], t.now())
	for n := range count {
		t.args = append(t.args, w, d, o, integer(n+1))
	}
	if err := t.writeArgs(ctx, dates, out, 8*count); err != nil {
		return err
	}
	t.need(t.result.Rows == count, "a line of an order that is delivered")
	if err := t.read(ctx, t.sumLines, out, w, d, o); err != nil {
		return err
	}
	return t.write(ctx, t.credit, out, 8+4, t.result.Value, integer(1), w, d, c)
}

// recentOrders is how many orders Stock-Level looks at.
const recentOrders = 20

// countLow is Stock-Level (TPC-C 2.8). The vocabulary has no join: the items of the
// recent orders are read, then their stocks.
func (t *terminal) countLow(ctx context.Context, out *workload.Outcome) error {
	w, d := integer(t.w), integer(t.d)
	if err := t.read(ctx, t.nextNumber, out, w, d); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the district")
	next := t.got.at(0, 0)
	if err := t.read(ctx, t.recentItems, out, w, d, integer(next-recentOrders), integer(next-1)); err != nil {
		return err
	}
	t.need(t.got.n > 0, "the last orders of the district")
	t.recent = t.recent[:0]
	for r := range t.got.n {
		t.recent = append(t.recent, t.got.at(r, 0))
	}
	t.total = 0
	for from := 0; from < len(t.recent); from += stocksAtOnce {
		if err := t.countStocks(ctx, out, t.recent[from:min(len(t.recent), from+stocksAtOnce)]); err != nil {
			return err
		}
	}
	return nil
}

// countStocks counts the stocks of items that are below the threshold. There is no
// item 0, with which the keys are filled up.
func (t *terminal) countStocks(ctx context.Context, out *workload.Outcome, items []int64) error {
	t.args = t.args[:0]
	for i := range stocksAtOnce {
		n := int64(0)
		if i < len(items) {
			n = items[i]
		}
		t.args = append(t.args, integer(t.w), integer(n))
	}
	if err := t.readArgs(ctx, t.getStocks, out); err != nil {
		return err
	}
	t.need(t.got.n == len(items), "a stock")
	for r := range t.got.n {
		if t.got.at(r, 1) < t.threshold {
			t.total++
		}
	}
	return nil
}
