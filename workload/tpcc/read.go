package tpcc

import (
	"context"
	"fmt"
	"sort"

	"rumbench/engine"
	"rumbench/model"
)

// orderState is an order with its lines, as read.
type orderState struct {
	d, id, customer  int64
	count            int64 // of lines, according to the order
	carrier          bool
	news             int64 // rows of new_order
	lines, delivered int64
}

// districtState is a district with its orders, as read.
type districtState struct {
	ytd, next               int64
	orders, counts, lines   int64
	lastOrder               int64
	news, firstNew, lastNew int64
}

// warehouseState is a warehouse with its districts, as read. District 0 represents those
// that cannot exist.
type warehouseState struct {
	id, ytd   int64
	districts [districts + 1]districtState
	orders    []orderState
	stray     int64    // new orders without an order
	sold      []amount // delivered sales, by district and customer number; n without those of the load
}

// amount is a sum, and the number of events behind it.
type amount struct{ sum, n int64 }

// payments are the sums of history.
type payments struct {
	rows       int64
	warehouses []int64  // by w_id
	districts  []int64  // by w_id and d_id
	customers  []amount // by w_id, d_id and c_id
	outside    int64    // rows of no warehouse, district or customer
}

// taken is what the orders since the load took from a stock.
type taken struct {
	pieces        int64
	lines, remote int32
}

// reader reads the tables for the conditions. After an error it reads nothing.
type reader struct {
	*run
	ctx     context.Context
	session engine.Session
	err     error
	paid    payments
	taken   []taken // by warehouse and item; nil: not wanted
	totals  totals
}

// takenOf returns what was taken from a stock, nil if that is not wanted or there is no such stock.
func (r *reader) takenOf(w, item int64) *taken {
	if r.taken == nil || w < 1 || w > r.warehouses || item < 1 || item > r.items {
		return nil
	}
	return &r.taken[(w-1)*r.items+item-1]
}

// unknown is the number that a reader uses for NULL.
const unknown = -1

// scan reads integers and dates of a table, from one warehouse unless w is 0.
func (r *reader) scan(table string, w int64, each func([]int64), columns ...string) {
	if r.err != nil {
		return
	}
	op := scan(table, "", 1, columns...)
	args := []model.Value{integer(w)}
	if w == 0 {
		op.Equal, args = 0, nil
	}
	stmt, err := r.session.Prepare(r.ctx, &op)
	numbers := make([]int64, len(columns))
	if err == nil {
		err = stmt.Exec(r.ctx, args, &engine.Result{Each: func(row []model.Value) {
			for i, v := range row {
				if numbers[i] = unknown; !v.IsNull() {
					numbers[i] = v.Int()
				}
			}
			each(numbers)
		}})
	}
	if err != nil {
		r.err = fmt.Errorf("check %s: %w", table, err)
	}
}

// customerAt returns the position of a customer in a warehouse, -1 if there is no
// such customer.
func (s *sizes) customerAt(d, c int64) int64 {
	if d < 1 || d > districts || c < 1 || c > s.customers {
		return -1
	}
	return (d-1)*s.customers + c - 1
}

// readHistory sums up all payments.
func (r *reader) readHistory() {
	p := &r.paid
	p.warehouses, p.districts = make([]int64, r.warehouses+1), make([]int64, (r.warehouses+1)*districts)
	p.customers = make([]amount, r.warehouses*districts*r.customers)
	r.scan(history, 0, func(n []int64) {
		p.rows++
		w, d, cw, at, amount := n[0], n[1], n[2], r.customerAt(n[3], n[4]), n[5]
		if w < 1 || w > r.warehouses || d < 1 || d > districts || cw < 1 || cw > r.warehouses || at < 0 {
			p.outside++
			return
		}
		p.warehouses[w] += amount
		p.districts[w*districts+d-1] += amount
		c := &p.customers[(cw-1)*districts*r.customers+at]
		c.sum, c.n = c.sum+amount, c.n+1
	}, "h_w_id", "h_d_id", "h_c_w_id", "h_c_d_id", "h_c_id", "h_amount")
}

// readWarehouse reads a warehouse, its districts and its orders.
func (r *reader) readWarehouse(w int64) *warehouseState {
	s := &warehouseState{id: w, sold: make([]amount, districts*r.customers)}
	r.scan(warehouse, w, func(n []int64) { s.ytd = n[0] }, "w_ytd")
	r.scan(district, w, func(n []int64) { d := s.district(n[0]); d.ytd, d.next = n[1], n[2] }, "d_id", "d_ytd",
		"d_next_o_id")
	r.scan(orders, w, func(n []int64) {
		o := orderState{d: n[0], id: n[1], customer: n[2], carrier: n[3] != unknown, count: n[4]}
		s.orders = append(s.orders, o)
		if at := r.customerAt(o.d, o.customer); at >= 0 && o.carrier && !r.delivered(o.id) {
			s.sold[at].n++
		}
		d := s.district(n[0])
		d.orders++
		d.counts += n[4]
		d.lastOrder = max(d.lastOrder, n[1])
		r.totals.orders++
	}, "o_d_id", "o_id", "o_c_id", "o_carrier_id", "o_ol_cnt")
	r.scan(newOrders, w, func(n []int64) {
		d := s.district(n[0])
		if d.news == 0 {
			d.firstNew = n[1]
		}
		d.news++
		d.lastNew = n[1]
		if o := s.order(n[0], n[1]); o != nil {
			o.news++
		} else {
			s.stray++
		}
		r.totals.undelivered++
	}, "no_d_id", "no_o_id")
	r.scan(orderLine, w, func(n []int64) {
		s.district(n[0]).lines++
		r.totals.lines++
		if t := r.takenOf(n[5], n[4]); t != nil && n[1] > r.customers { // the load entered one order of each customer
			t.pieces += n[6]
			t.lines++
			if n[5] != w {
				t.remote++
			}
		}
		o := s.order(n[0], n[1])
		if o == nil {
			return
		}
		o.lines++
		if n[2] == unknown {
			return
		}
		o.delivered++
		if at := r.customerAt(o.d, o.customer); at >= 0 {
			s.sold[at].sum += n[3]
		}
	}, "ol_d_id", "ol_o_id", "ol_delivery_d", "ol_amount", "ol_i_id", "ol_supply_w_id", "ol_quantity")
	return s
}

func (s *warehouseState) district(d int64) *districtState {
	if d < 1 || d > districts {
		d = 0
	}
	return &s.districts[d]
}

// order returns an order, nil if there is none. Orders are sorted by key.
func (s *warehouseState) order(d, id int64) *orderState {
	i := sort.Search(len(s.orders), func(i int) bool { o := &s.orders[i]; return o.d > d || o.d == d && o.id >= id })
	if i == len(s.orders) || s.orders[i].d != d || s.orders[i].id != id {
		return nil
	}
	return &s.orders[i]
}
