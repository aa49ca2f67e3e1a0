package tpcc

import (
	"context"

	"rumbench/workload"
)

// enterBatch enters the lines of a New-Order with one statement of each kind, but
// for the stocks, whose changes differ. Lines of the same stock are merged.
func (t *terminal) enterBatch(ctx context.Context, out *workload.Outcome, number int64) error {
	if err := t.priceAll(ctx, out); err != nil {
		return err
	}
	if err := t.takeAll(ctx, out); err != nil {
		return err
	}
	stmt, err := t.linesOf(ctx, len(t.lines))
	if err != nil {
		return err
	}
	t.args = t.args[:0]
	for i := range t.lines {
		t.args = t.lineArgs(t.args, number, &t.lines[i])
	}
	if err := t.writeArgs(ctx, stmt, out, int64(len(t.lines))*bytesOf[orderLine]); err != nil || !t.rollsBack {
		return err
	}
	return t.lookUpUnused(ctx, out)
}

// priceAll gets all items.
func (t *terminal) priceAll(ctx context.Context, out *workload.Outcome) error {
	stmt, err := t.itemsOf(ctx, len(t.lines))
	if err != nil {
		return err
	}
	t.args = t.args[:0]
	for i := range t.lines {
		t.args = append(t.args, integer(t.lines[i].item))
	}
	if err := t.readArgs(ctx, stmt, out); err != nil {
		return err
	}
	for i := range t.lines {
		l := &t.lines[i]
		r := t.rowOf(0, l.item)
		t.need(r < t.got.n, "an item")
		l.amount = l.quantity * t.got.at(r, 1)
	}
	return nil
}

// takeAll locks all stocks and takes what is ordered.
func (t *terminal) takeAll(ctx context.Context, out *workload.Outcome) error {
	t.args = t.args[:0]
	n := 0
	for i := range t.lines {
		if i == 0 || !sameStock(&t.lines[i], &t.lines[i-1]) {
			t.args = append(t.args, integer(t.lines[i].supplier), integer(t.lines[i].item))
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
	for i := 0; i < len(t.lines); {
		first := &t.lines[i]
		r := 0
		for r < t.got.n && (t.got.at(r, 0) != first.supplier || t.got.at(r, 1) != first.item) {
			r++
		}
		t.need(r < t.got.n, "a stock")
		end := i
		for ; end < len(t.lines) && sameStock(&t.lines[end], first); end++ {
			t.lines[end].setDist(t.got.value(r, 4).Buf())
		}
		if err := t.take(ctx, out, t.got.at(r, 2), t.lines[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

func sameStock(a, b *line) bool { return a.supplier == b.supplier && a.item == b.item }

// rowOf returns the row whose column is n, or the number of rows.
func (t *terminal) rowOf(column int, n int64) int {
	for r := range t.got.n {
		if t.got.at(r, column) == n {
			return r
		}
	}
	return t.got.n
}
