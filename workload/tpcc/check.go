package tpcc

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// conditions is the number of consistency conditions (TPC-C 3.3.2). The first four
// are required; 11 holds only after the load.
const conditions = 12

const required = 4

// violations counts, of each condition, what violates it.
type violations struct {
	count   [conditions + 1]int64
	example [conditions + 1]string
	all     bool // conditions beyond those required are judged too
}

// judge notes a violation of a condition unless it holds.
func (v *violations) judge(condition int, holds bool, format string, args ...any) {
	if holds || condition > required && !v.all {
		return
	}
	if v.count[condition]++; v.count[condition] == 1 {
		v.example[condition] = fmt.Sprintf(format, args...)
	}
}

func (v *violations) list() (out []string) {
	for c, n := range v.count {
		if n > 0 {
			out = append(out, fmt.Sprintf("consistency condition %d is violated %d times; the first: %s", c, n, v.example[c]))
		}
	}
	return out
}

// check reads the tables, on which nobody works, and adds to a finding which
// conditions are violated. It notes how many rows the tables hold.
func (r *run) check(ctx context.Context, session engine.Session, loaded bool, f *workload.Finding) error {
	if r.p.String("check") == checkNone {
		return nil
	}
	v := &violations{all: r.p.String("check") == checkAll}
	read := &reader{run: r, ctx: ctx, session: session}
	if err := read.readHistory(); err != nil {
		return err
	}
	for w := range r.warehouses {
		s, err := read.readWarehouse(w + 1)
		if err != nil {
			return err
		}
		v.judgeWarehouse(s, &read.paid)
		for d := range int64(districts) {
			v.judgeDistrict(r, s, d+1, loaded)
		}
		for i := range s.orders {
			v.judgeOrder(s, &s.orders[i])
		}
		if !v.all {
			continue
		}
		if err := v.judgeCustomers(read, s); err != nil {
			return err
		}
	}
	read.totals.payments = read.paid.rows
	r.now.totals = read.totals
	f.ReadAll = true
	f.Live = r.live(&r.now.totals, true)
	f.Broken = append(f.Broken, v.list()...)
	if read.paid.outside > 0 {
		f.Broken = append(f.Broken, fmt.Sprintf("%d rows of history are of no warehouse, district or customer", read.paid.outside))
	}
	return nil
}

func (v *violations) judgeWarehouse(s *warehouseState, paid *payments) {
	var ytd int64
	for d := range s.districts {
		ytd += s.districts[d].ytd
	}
	v.judge(1, s.ytd == ytd, "warehouse %d has w_ytd %d, its districts %d", s.id, s.ytd, ytd)
	v.judge(5, s.stray == 0, "warehouse %d has %d new orders without an order", s.id, s.stray)
	v.judge(8, s.ytd == paid.warehouses[s.id], "warehouse %d has w_ytd %d, its history %d", s.id, s.ytd, paid.warehouses[s.id])
	for d := int64(1); d <= districts; d++ {
		got, want := s.districts[d].ytd, paid.districts[s.id*districts+d-1]
		v.judge(9, got == want, "district %d of warehouse %d has d_ytd %d, its history %d", d, s.id, got, want)
	}
}

func (v *violations) judgeDistrict(r *run, s *warehouseState, number int64, loaded bool) {
	d := &s.districts[number]
	where := func(format string, args ...any) string {
		return fmt.Sprintf("district %d of warehouse %d ", number, s.id) + fmt.Sprintf(format, args...)
	}
	last := d.next - 1
	v.judge(2, d.found && d.orders > 0 && last == d.lastOrder && (d.news == 0 || last == d.lastNew), "%s",
		where("has d_next_o_id %d, last order %d, last new order %d", d.next, d.lastOrder, d.lastNew))
	v.judge(3, d.news == 0 || d.lastNew-d.firstNew+1 == d.news, "%s", where("has %d new orders, from %d to %d", d.news, d.firstNew, d.lastNew))
	v.judge(4, d.counts == d.lines, "%s", where("has %d order lines, its orders should have %d", d.lines, d.counts))
	if loaded {
		want := r.customers - r.undelivered
		v.judge(11, d.orders-d.news == want, "%s", where("has %d orders and %d new orders, which should differ by %d", d.orders, d.news, want))
	}
}

func (v *violations) judgeOrder(s *warehouseState, o *orderState) {
	if o.carrier != o.isNew && o.lines == o.count && (o.carrier && o.delivered == o.lines || !o.carrier && o.delivered == 0) {
		return // the usual case, without the texts
	}
	v.judge(5, o.carrier != o.isNew, "order %d of district %d of warehouse %d: delivered %v, in new_order %v", o.id, o.d, s.id, o.carrier, o.isNew)
	v.judge(6, o.lines == o.count, "order %d of district %d of warehouse %d has %d lines, o_ol_cnt is %d", o.id, o.d, s.id, o.lines, o.count)
	v.judge(7, !o.carrier && o.delivered == 0 || o.carrier && o.delivered == o.lines,
		"order %d of district %d of warehouse %d: delivered %v, and so are %d of %d lines", o.id, o.d, s.id, o.carrier, o.delivered, o.lines)
}

func (v *violations) judgeCustomers(r *reader, s *warehouseState) error {
	found := int64(0)
	err := r.scan(customer, s.id, func(row []model.Value) {
		d, c, balance, ytd := row[0].Int(), row[1].Int(), row[2].Int(), row[3].Int()
		at := r.customerAt(d, c)
		if at < 0 {
			return
		}
		found++
		sold, paid := s.credit[at], r.paid.customers[(s.id-1)*districts*r.customers+at]
		if balance == sold-paid && balance+ytd == sold {
			return
		}
		v.judge(10, balance == sold-paid, "customer %d of district %d of warehouse %d has c_balance %d; sold %d, paid %d", c, d, s.id, balance, sold, paid)
		v.judge(12, balance+ytd == sold, "customer %d of district %d of warehouse %d has c_balance %d, c_ytd_payment %d; sold %d", c, d, s.id, balance, ytd, sold)
	}, "c_d_id", "c_id", "c_balance", "c_ytd_payment")
	v.judge(10, found == districts*r.customers, "warehouse %d has %d customers", s.id, found)
	return err
}
