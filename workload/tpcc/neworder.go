package tpcc

import (
	"cmp"
	"context"

	"rumbench/model"
	"rumbench/workload"
)

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

// enter is New-Order (TPC-C 2.4).
func (t *terminal) enter(ctx context.Context, out *workload.Outcome) error {
	w, d := integer(t.w), integer(t.d)
	if err := t.read(ctx, t.getTax, out, w); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the warehouse")
	tax := t.got.at(0, 0)
	if err := t.read(ctx, t.getBuyer, out, w, d, integer(t.c)); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the customer")
	discount := t.got.at(0, 0)
	if err := t.read(ctx, t.lockDistrict, out, w, d); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the district")
	number := t.got.at(0, 0)
	tax += t.got.at(0, 1)
	if number == 0 {
		number = t.clock % (1 << 31) // of a district that was not loaded
	}
	if err := t.write(ctx, t.takeNumber, out, 4, integer(1), w, d); err != nil {
		return err
	}
	if err := t.insertHead(ctx, out, number); err != nil {
		return err
	}
	together := 1
	if t.stage.batch {
		together = len(t.lines)
	}
	for from := 0; from < len(t.lines); from += together {
		if err := t.enterLines(ctx, out, number, t.lines[from:from+together]); err != nil {
			return err
		}
	}
	if t.rollsBack {
		return cmp.Or(t.lookUpUnused(ctx, out), errRollback)
	}
	t.total = t.charge(tax, discount)
	n := int64(len(t.lines))
	t.did = totals{orders: 1, undelivered: 1, lines: n}
	for i := range t.lines {
		if t.lines[i].supplier != t.w {
			t.remoteLines++
		}
	}
	return nil
}

// insertHead inserts the order.
func (t *terminal) insertHead(ctx context.Context, out *workload.Outcome, number int64) error {
	w, d, o := integer(t.w), integer(t.d), integer(number)
	count := len(t.lines)
	if t.rollsBack {
		count++
	}
	local := int64(0)
	if t.allLocal {
		local = 1
	}
	err := t.write(ctx, t.insertOrder, out, bytesOf[orders]+orderEntry, w, d, o, integer(t.c), t.now(), model.Value{}, integer(int64(count)), integer(local))
	if err != nil {
		return err
	}
	return t.write(ctx, t.insertNew, out, bytesOf[newOrders], w, d, o)
}

// lookUpUnused looks up the item that does not exist.
func (t *terminal) lookUpUnused(ctx context.Context, out *workload.Outcome) error {
	getItem, err := t.itemsOf(ctx, 1)
	if err != nil {
		return err
	}
	return t.read(ctx, getItem, out, integer(t.stage.items+1))
}

// lineArgs appends the row of a line.
func (t *inputs) lineArgs(args []model.Value, number int64, l *line) []model.Value {
	return append(args, integer(t.w), integer(t.d), integer(number), integer(l.number), integer(l.item), integer(l.supplier), model.Value{},
		integer(l.quantity), integer(l.amount), model.StringValue(l.dist[:l.distSize]))
}

// charge returns what the order costs, in cents.
func (t *inputs) charge(tax, discount int64) (total int64) {
	for i := range t.lines {
		total += t.lines[i].amount
	}
	return total * (10_000 - discount) * (10_000 + tax) / 100_000_000
}
