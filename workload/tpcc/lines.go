package tpcc

import (
	"context"

	"rumbench/workload"
)

// enterLines enters lines of a New-Order with one statement of each kind, but for the
// stocks, whose changes differ. Lines of the same stock are merged.
func (t *terminal) enterLines(ctx context.Context, out *workload.Outcome, number int64, lines []line) error {
	if err := t.price(ctx, out, lines); err != nil {
		return err
	}
	if err := t.takeAll(ctx, out, lines); err != nil {
		return err
	}
	stmt, err := t.linesOf(ctx, len(lines))
	if err != nil {
		return err
	}
	t.args = t.args[:0]
	for i := range lines {
		t.args = t.lineArgs(t.args, number, &lines[i])
	}
	return t.writeArgs(ctx, stmt, out, int64(len(lines))*bytesOf[orderLine])
}

// price gets the items of lines.
func (t *terminal) price(ctx context.Context, out *workload.Outcome, lines []line) error {
	stmt, err := t.itemsOf(ctx, len(lines))
	if err != nil {
		return err
	}
	t.args = t.args[:0]
	for i := range lines {
		t.args = append(t.args, integer(lines[i].item))
	}
	if err := t.readArgs(ctx, stmt, out); err != nil {
		return err
	}
	for i := range lines {
		r := t.got.find(0, lines[i].item)
		t.need(r < t.got.n, "an item")
		lines[i].amount = lines[i].quantity * t.got.at(r, 1)
	}
	return nil
}

// takeAll locks the stocks of lines and takes what is ordered.
func (t *terminal) takeAll(ctx context.Context, out *workload.Outcome, lines []line) error {
	t.args = t.args[:0]
	n := 0
	for i := range lines {
		if i == 0 || !lines[i].sameStock(&lines[i-1]) {
			t.args = append(t.args, integer(lines[i].supplier), integer(lines[i].item))
			n++
		}
	}
	stmt, err := t.stocksOf(ctx, t.d, n)
	if err != nil {
		return err
	}
	if err := t.readArgs(ctx, stmt, out); err != nil {
		return err
	}
	for len(lines) > 0 {
		n := 1 // lines of the first one's stock
		for n < len(lines) && lines[n].sameStock(&lines[0]) {
			n++
		}
		if err := t.take(ctx, out, lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// take takes lines of one item from its stock, which is locked.
func (t *terminal) take(ctx context.Context, out *workload.Outcome, lines []line) error {
	of := &lines[0]
	r := 0
	for r < t.got.n && (t.got.at(r, 0) != of.supplier || t.got.at(r, 1) != of.item) {
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
			pieces += 91 - l.quantity
		}
		if l.supplier != t.w {
			remote++
		}
	}
	return t.write(ctx, t.setStock, out, 4+8+4+4, integer(pieces), integer(sold), integer(int64(len(lines))), integer(remote),
		integer(of.supplier), integer(of.item))
}

// sameStock reports whether a line is of the same stock as another.
func (l *line) sameStock(o *line) bool { return l.supplier == o.supplier && l.item == o.item }
