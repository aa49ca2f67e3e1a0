package tpcc

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/workload"
)

// required is the last condition (TPC-C 3.3.2) that the standard requires; condition 11
// holds only after the load. The last two are not among the standard's twelve.
const (
	required       = 4
	stockCondition = 13
	countCondition = 14
)

// place is the place where a condition is evaluated; fields that are 0 do not apply.
type place struct{ w, d, o, c, i int64 }

func (p place) String() (s string) {
	for _, part := range []struct {
		subject string
		n       int64
	}{{"order", p.o}, {"customer", p.c}, {"item", p.i}, {"district", p.d}, {"warehouse", p.w}} {
		if part.n > 0 {
			s += fmt.Sprintf(" of %s %d", part.subject, part.n)
		}
	}
	return s
}

// violations counts the violations of each condition.
type violations struct {
	count   [countCondition + 1]int64
	example [countCondition + 1]string
	all     bool // conditions beyond the required ones are evaluated too
}

// equal records a violation of a condition unless two numbers are equal.
func (v *violations) equal(condition int, at place, subject string, got int64, should string, want int64) {
	if got == want || condition > required && !v.all {
		return
	}
	if v.count[condition]++; v.count[condition] == 1 {
		v.example[condition] = fmt.Sprintf("%s%s is %d, %s %d", subject, at, got, should, want)
	}
}

func (v *violations) list() (out []string) {
	for c, n := range v.count {
		subject := fmt.Sprint("condition ", c)
		switch c {
		case stockCondition:
			subject = "of stocks"
		case countCondition:
			subject = "of counts"
		}
		if n > 0 {
			out = append(out, fmt.Sprintf("consistency %s is violated %d times; the first: %s", subject, n, v.example[c]))
		}
	}
	return out
}

// check reads the tables while no client is working, and adds the violated conditions to
// a finding. It notes how many rows the tables hold.
func (r *run) check(ctx context.Context, session engine.Session, loaded bool, f *workload.Finding) error {
	if r.p.String("check") == checkNone {
		return nil
	}
	v := &violations{all: r.p.String("check") == checkAll}
	read := &reader{run: r, ctx: ctx, session: session}
	read.readHistory()
	if v.all {
		read.taken = make([]taken, r.warehouses*r.items)
	}
	for w := range r.warehouses {
		s := read.readWarehouse(w + 1)
		v.judgeWarehouse(s, &read.paid)
		for d := range int64(districts) {
			v.judgeDistrict(r, s, d+1, loaded)
		}
		for i := range s.orders {
			v.judgeOrder(s, &s.orders[i])
		}
		if v.all {
			v.judgeCustomers(read, s)
		}
	}
	for w := range r.warehouses { // a line may be supplied by any warehouse
		if v.all {
			v.judgeStocks(read, w+1)
		}
	}
	if read.err != nil {
		return read.err
	}
	read.totals.payments = read.paid.rows
	r.now.totals = read.totals
	f.ReadAll = true
	f.Live = r.live(&r.now.totals, true)
	f.Broken = append(f.Broken, v.list()...)
	if read.paid.outside > 0 {
		f.Broken = append(f.Broken, fmt.Sprintf("%d rows of history are of no warehouse, district or customer",
			read.paid.outside))
	}
	return nil
}

func (v *violations) judgeWarehouse(s *warehouseState, paid *payments) {
	at, sum := place{w: s.id}, int64(0)
	for d := range s.districts {
		sum += s.districts[d].ytd
		if d > 0 {
			v.equal(9, place{w: s.id, d: int64(d)}, "d_ytd", s.districts[d].ytd, "its history",
				paid.districts[s.id*districts+int64(d)-1])
		}
	}
	v.equal(1, at, "w_ytd", s.ytd, "that of its districts", sum)
	v.equal(5, at, "the number of new orders without an order", s.stray, "it should be", 0)
	v.equal(8, at, "w_ytd", s.ytd, "its history", paid.warehouses[s.id])
}

func (v *violations) judgeDistrict(r *run, s *warehouseState, number int64, loaded bool) {
	d, at := &s.districts[number], place{w: s.id, d: number}
	switch {
	case d.orders == 0:
		v.equal(2, at, "the number of orders", 0, "it should be at least", 1)
	case d.next != d.lastOrder+1:
		v.equal(2, at, "d_next_o_id", d.next, "after the last order it should be", d.lastOrder+1)
	case d.news > 0:
		v.equal(2, at, "d_next_o_id", d.next, "after the last new order it should be", d.lastNew+1)
	}
	if d.news > 0 {
		v.equal(3, at, "the number of new orders", d.news, "by their numbers it should be", d.lastNew-d.firstNew+1)
	}
	v.equal(4, at, "the number of order lines", d.lines, "by its orders it should be", d.counts)
	if loaded {
		v.equal(11, at, "orders less new orders", d.orders-d.news, "it should be", r.customers-r.undelivered)
	}
}

func (v *violations) judgeOrder(s *warehouseState, o *orderState) {
	at := place{w: s.id, d: o.d, o: o.id}
	isNew, dated := int64(1), int64(0)
	if o.carrier {
		isNew, dated = 0, o.lines
	}
	v.equal(5, at, "the number of new orders", o.news, "by its carrier it should be", isNew)
	v.equal(6, at, "the number of lines", o.lines, "o_ol_cnt is", o.count)
	v.equal(7, at, "the number of lines with a date", o.delivered, "by its carrier it should be", dated)
}

func (v *violations) judgeCustomers(r *reader, s *warehouseState) {
	found := int64(0)
	r.scan(customer, s.id, func(n []int64) {
		i := r.customerAt(n[0], n[1])
		if i < 0 {
			return
		}
		found++
		at, sold, paid := place{w: s.id, d: n[0], c: n[1]}, s.sold[i], r.paid.customers[(s.id-1)*districts*r.customers+i]
		v.equal(10, at, "c_balance", n[2], "sold less paid is", sold.sum-paid.sum)
		v.equal(12, at, "c_balance + c_ytd_payment", n[2]+n[3], "sold is", sold.sum)
		v.equal(countCondition, at, "c_payment_cnt", n[4], "its rows of history are", paid.n)
		v.equal(countCondition, at, "c_delivery_cnt", n[5], "its orders delivered since the load are", sold.n)
	}, "c_d_id", "c_id", "c_balance", "c_ytd_payment", "c_payment_cnt", "c_delivery_cnt")
	v.equal(10, place{w: s.id}, "the number of customers", found, "it should be", districts*r.customers)
}

// judgeStocks compares stocks with the loaded ones and with the order lines that they
// supplied since: sales reduce them, and refills increase them. None of the standard's
// conditions detects a lost update.
func (v *violations) judgeStocks(r *reader, w int64) {
	loaded := population{run: r.run, part: part{w: w}}
	r.scan(stock, w, func(n []int64) {
		at, left := place{w: w, i: n[0]}, loaded.pieces(n[0])-n[2]
		v.equal(stockCondition, at, "s_quantity", n[1], "with refills of 91 it could be", n[1]+(left-n[1])%refill)
		if sold := r.takenOf(w, n[0]); sold != nil {
			v.equal(stockCondition, at, "s_ytd", n[2], "ordered since the load are", sold.pieces)
			v.equal(countCondition, at, "s_order_cnt", n[3], "its order lines since the load are", int64(sold.lines))
			v.equal(countCondition, at, "s_remote_cnt", n[4], "those of other warehouses are", int64(sold.remote))
		}
	}, "s_i_id", "s_quantity", "s_ytd", "s_order_cnt", "s_remote_cnt")
}
