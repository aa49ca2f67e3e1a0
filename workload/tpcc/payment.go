package tpcc

import (
	"bytes"
	"context"
	"strconv"

	"rumbench/model"
	"rumbench/workload"
)

// receive is Payment (TPC-C 2.5).
func (t *terminal) receive(ctx context.Context, out *workload.Outcome) error {
	w, d, amount := integer(t.w), integer(t.d), integer(t.amount)
	if err := t.write(ctx, t.payWarehouse, out, 8, amount, w); err != nil {
		return err
	}
	if err := t.read(ctx, t.getWarehouse, out, w); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the warehouse")
	t.data = append(append(t.data[:0], t.got.value(0, 0).Buf()...), "    "...)
	if err := t.write(ctx, t.payDistrict, out, 8, amount, w, d); err != nil {
		return err
	}
	if err := t.read(ctx, t.getDistrict, out, w, d); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the district")
	t.data = append(t.data, t.got.value(0, 0).Buf()...)
	names := len(t.data)
	c, err := t.find(ctx, out)
	if err != nil {
		return err
	}
	if err := t.receiveFrom(ctx, out, c); err != nil {
		return err
	}
	if t.cw != t.w {
		t.remotePayments++
	}
	t.did.payments = 1
	return t.write(ctx, t.insertHistory, out, bytesOf[history], integer(t.cw), integer(t.cd), integer(c), w, d, t.now(), amount,
		model.StringValue(t.data[:names]))
}

// receiveFrom books the payment of a customer.
func (t *terminal) receiveFrom(ctx context.Context, out *workload.Outcome, c int64) error {
	w, d, id, amount := integer(t.cw), integer(t.cd), integer(c), integer(t.amount)
	if err := t.read(ctx, t.lockCustomer, out, w, d, id); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the customer")
	const changed = 8 + 8 + 4
	if !bytes.Equal(t.got.value(0, 0).Buf(), []byte(badCredit)) {
		return t.write(ctx, t.pay, out, changed, integer(-t.amount), amount, integer(1), w, d, id)
	}
	from := len(t.data)
	for i, n := range [...]int64{c, t.cd, t.cw, t.d, t.w} {
		if i > 0 {
			t.data = append(t.data, ' ')
		}
		t.data = strconv.AppendInt(t.data, n, 10)
	}
	t.data = appendMoney(append(t.data, ' '), t.amount)
	t.data = append(append(t.data, '|'), t.got.value(0, 1).Buf()...)
	data := t.data[from:min(len(t.data), from+dataWidth)]
	return t.write(ctx, t.payBad, out, changed+int64(len(data)), model.StringValue(data), integer(-t.amount), amount, integer(1), w, d, id)
}

// appendMoney appends an amount of cents as a decimal number.
func appendMoney(dst []byte, cents int64) []byte {
	dst = append(strconv.AppendInt(dst, cents/100, 10), '.')
	return append(dst, byte('0'+cents/10%10), byte('0'+cents%10))
}

// find returns the customer's number: of those of a last name, the middle one by
// first name.
func (t *terminal) find(ctx context.Context, out *workload.Outcome) (int64, error) {
	if t.c > 0 {
		return t.c, nil
	}
	if err := t.read(ctx, t.byName, out, integer(t.cw), integer(t.cd), model.StringValue(t.lastName)); err != nil {
		return 0, err
	}
	if t.need(t.got.n > 0, "a last name"); t.got.n == 0 {
		return 1, nil
	}
	return t.got.at((t.got.n+1)/2-1, 0), nil
}

// status is Order-Status (TPC-C 2.6).
func (t *terminal) status(ctx context.Context, out *workload.Outcome) error {
	c, err := t.find(ctx, out)
	if err != nil {
		return err
	}
	w, d, id := integer(t.cw), integer(t.cd), integer(c)
	if err := t.read(ctx, t.getCustomer, out, w, d, id); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the customer")
	if err := t.read(ctx, t.lastOrder, out, w, d, id); err != nil {
		return err
	}
	t.need(t.got.n == 1, "the customer's last order")
	o := integer(t.got.at(0, 0))
	if err := t.read(ctx, t.getOrder, out, w, d, o); err != nil {
		return err
	}
	count := t.got.at(0, 1)
	if err := t.read(ctx, t.orderLines, out, w, d, o); err != nil {
		return err
	}
	t.need(int64(t.got.n) == count, "a line of an order")
	return nil
}
