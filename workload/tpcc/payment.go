package tpcc

import (
	"bytes"
	"strconv"

	"rumbench/model"
)

// The statements of Payment and Order-Status.
var (
	payWarehouse = define(update(warehouse, "+w_ytd"))
	getWarehouse = define(get(warehouse, "w_name", "w_street_1", "w_street_2", "w_city", "w_state", "w_zip"))
	payDistrict  = define(update(district, "+d_ytd"))
	getDistrict  = define(get(district, "d_name", "d_street_1", "d_street_2", "d_city", "d_state", "d_zip"))
	byName       = define(scan(customer, nameIndex, 3, "c_id"))
	lockCustomer = define(lock(customer, "c_credit", "c_data", "c_first", "c_middle", "c_last", "c_street_1", "c_street_2",
		"c_city", "c_state", "c_zip", "c_phone", "c_since", "c_credit_lim", "c_discount", "c_balance"))
	pay           = define(update(customer, "+c_balance", "+c_ytd_payment", "+c_payment_cnt"))
	payBad        = define(update(customer, "c_data", "+c_balance", "+c_ytd_payment", "+c_payment_cnt"))
	insertHistory = define(insert(history, 1))

	getCustomer = define(get(customer, "c_balance", "c_first", "c_middle", "c_last"))
	lastOrder   = define(model.Op{Kind: model.Scan, Table: orders, Index: orderIndex, Equal: 3, Columns: []string{"o_id"},
		Desc: true, Limit: 1})
	getOrder   = define(get(orders, "o_c_id", "o_ol_cnt", "o_entry_d", "o_carrier_id"))
	orderLines = define(scan(orderLine, "", 3, "ol_i_id", "ol_supply_w_id", "ol_quantity", "ol_amount", "ol_delivery_d"))
)

// receive is Payment (TPC-C 2.5).
func (t *terminal) receive() {
	w, d, amount := integer(t.w), integer(t.d), integer(t.amount)
	t.write(payWarehouse, 8, amount, w)
	t.one("the warehouse", getWarehouse, w)
	t.data = append(append(t.data[:0], t.got.value(0, 0).Buf()...), "    "...)
	t.write(payDistrict, 8, amount, w, d)
	t.one("the district", getDistrict, w, d)
	t.data = append(t.data, t.got.value(0, 0).Buf()...)
	names := len(t.data)
	c := t.find()
	t.receiveFrom(c)
	t.write(insertHistory, bytesOf[history], integer(t.cw), integer(t.cd), integer(c), w, d, t.now(), amount,
		model.StringValue(t.data[:names]))
	if t.cw != t.w {
		t.remotePayments++
	}
	t.attempt.payments = 1
}

// receiveFrom books the payment of a customer.
func (t *terminal) receiveFrom(c int64) {
	w, d, id, amount := integer(t.cw), integer(t.cd), integer(c), integer(t.amount)
	t.one("the customer", lockCustomer, w, d, id)
	const changed = 8 + 8 + 4
	if !bytes.Equal(t.got.value(0, 0).Buf(), []byte(badCredit)) {
		t.write(pay, changed, integer(-t.amount), amount, integer(1), w, d, id)
		return
	}
	start := len(t.data)
	for _, n := range [...]int64{c, t.cd, t.cw, t.d, t.w} {
		t.data = append(strconv.AppendInt(t.data, n, 10), ' ')
	}
	t.data = append(appendMoney(t.data, t.amount), '|')
	t.data = append(t.data, t.got.value(0, 1).Buf()...)
	data := t.data[start:min(len(t.data), start+dataWidth)]
	t.write(payBad, changed+int64(len(data)), model.StringValue(data), integer(-t.amount), amount, integer(1), w, d, id)
}

// appendMoney appends an amount of cents as a decimal number.
func appendMoney(dst []byte, cents int64) []byte {
	dst = append(strconv.AppendInt(dst, cents/100, 10), '.')
	return append(dst, byte('0'+cents/10%10), byte('0'+cents%10))
}

// find returns the customer's number: of those of a last name, the middle one by
// first name.
func (t *terminal) find() int64 {
	if t.c > 0 {
		return t.c
	}
	t.read(byName, integer(t.cw), integer(t.cd), model.StringValue(t.lastName))
	t.need(t.got.n > 0, "a last name")
	return t.got.at(max(t.got.n+1, 2)/2-1, 0)
}

// status is Order-Status (TPC-C 2.6).
func (t *terminal) status() {
	w, d, id := integer(t.cw), integer(t.cd), integer(t.find())
	t.one("the customer", getCustomer, w, d, id)
	t.one("the customer's last order", lastOrder, w, d, id)
	o := integer(t.got.at(0, 0))
	t.one("the customer's last order", getOrder, w, d, o)
	count := t.got.at(0, 1)
	t.read(orderLines, w, d, o)
	t.need(int64(t.got.n) == count, "a line of an order")
}
