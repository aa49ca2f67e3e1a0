package tpcc

import (
	"cmp"
	"context"
	"slices"

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

// setDist keeps the text of the stock for the district.
func (l *line) setDist(text []byte) { l.distSize = copy(l.dist[:], text) }

func (t *terminal) drawNewOrder() {
	s := t.source
	t.cw, t.cd, t.c = t.w, t.d, t.drawID()
	t.rollsBack, t.allLocal, t.lines = chance(s, 1), true, t.lines[:0]
	for n := range between(s, leastLines, mostLines) {
		l := line{number: n + 1, supplier: t.w, quantity: between(s, 1, 10)}
		l.item = nurand(s, nurandItem, t.stage.constants.item, 1, t.stage.items)
		if chance(s, 1) {
			l.supplier = t.elsewhere()
		}
		t.allLocal = t.allLocal && l.supplier == t.w
		t.lines = append(t.lines, l)
	}
	if t.rollsBack { // the last line has no item
		t.lines = t.lines[:len(t.lines)-1]
	}
	// Stocks are locked in one order by all, so that nobody waits for each other.
	slices.SortStableFunc(t.lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.supplier, b.supplier), cmp.Compare(a.item, b.item)) })
}

// elsewhere draws another warehouse than the terminal's, if there is one.
func (t *terminal) elsewhere() int64 {
	if t.stage.warehouses == 1 {
		return t.w
	}
	w := between(t.source, 1, t.stage.warehouses-1)
	if w >= t.w {
		w++
	}
	return w
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
	if err := t.enterLines(ctx, out, number); err != nil {
		return err
	}
	if t.rollsBack {
		return errRollback
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

// enterLines enters the lines, one by one unless the style is batch.
func (t *terminal) enterLines(ctx context.Context, out *workload.Outcome, number int64) error {
	if t.stage.batch {
		return t.enterBatch(ctx, out, number)
	}
	getItem, err := t.itemsOf(ctx, 1)
	if err != nil {
		return err
	}
	lockStock, err := t.stocksOf(ctx, t.d, 1)
	if err != nil {
		return err
	}
	insertLine, err := t.linesOf(ctx, 1)
	if err != nil {
		return err
	}
	for i := range t.lines {
		l := &t.lines[i]
		if err := t.read(ctx, getItem, out, integer(l.item)); err != nil {
			return err
		}
		t.need(t.got.n == 1, "an item")
		l.amount = l.quantity * t.got.at(0, 1)
		if err := t.read(ctx, lockStock, out, integer(l.supplier), integer(l.item)); err != nil {
			return err
		}
		t.need(t.got.n == 1, "a stock")
		l.setDist(t.got.value(0, 4).Buf())
		if err := t.take(ctx, out, t.got.at(0, 2), t.lines[i:i+1]); err != nil {
			return err
		}
		t.args = t.lineArgs(t.args[:0], number, l)
		if err := t.writeArgs(ctx, insertLine, out, bytesOf[orderLine]); err != nil {
			return err
		}
	}
	if t.rollsBack {
		return t.lookUpUnused(ctx, out)
	}
	return nil
}

// lookUpUnused looks up the item that does not exist.
func (t *terminal) lookUpUnused(ctx context.Context, out *workload.Outcome) error {
	getItem, err := t.itemsOf(ctx, 1)
	if err != nil {
		return err
	}
	return t.read(ctx, getItem, out, integer(t.stage.items+1))
}

// take takes lines of one item from its stock, of so many pieces.
func (t *terminal) take(ctx context.Context, out *workload.Outcome, pieces int64, lines []line) error {
	var sold, remote int64
	for i := range lines {
		q := lines[i].quantity
		sold += q
		if pieces >= q+10 {
			pieces -= q
		} else {
			pieces += 91 - q
		}
		if lines[i].supplier != t.w {
			remote++
		}
	}
	return t.write(ctx, t.setStock, out, 4+8+4+4, integer(pieces), integer(sold), integer(int64(len(lines))), integer(remote),
		integer(lines[0].supplier), integer(lines[0].item))
}

// lineArgs appends the row of a line.
func (t *terminal) lineArgs(args []model.Value, number int64, l *line) []model.Value {
	return append(args, integer(t.w), integer(t.d), integer(number), integer(l.number), integer(l.item), integer(l.supplier), model.Value{},
		integer(l.quantity), integer(l.amount), model.StringValue(l.dist[:l.distSize]))
}

// charge returns what the order costs, in cents.
func (t *terminal) charge(tax, discount int64) (total int64) {
	for i := range t.lines {
		total += t.lines[i].amount
	}
	return total * (10_000 - discount) * (10_000 + tax) / 100_000_000
}
