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
	count            int64 // of lines, as the order says
	carrier, isNew   bool
	lines, delivered int64
	deliveredSum     int64
}

// districtState is a district with its orders, as read.
type districtState struct {
	ytd, next               int64
	found                   bool
	orders, counts, lines   int64
	lastOrder               int64
	news, firstNew, lastNew int64
}

// warehouseState is a warehouse with its districts, as read.
type warehouseState struct {
	id, ytd   int64
	districts [districts + 1]districtState
	orders    []orderState
	stray     int64   // new orders without an order
	credit    []int64 // what customers were sold and delivered, by district and number
}

// payments are the sums of history.
type payments struct {
	rows       int64
	warehouses []int64 // by w_id
	districts  []int64 // by w_id and d_id
	customers  []int64 // likewise
	outside    int64   // rows of no warehouse, district or customer
}

// reader reads the tables for the conditions.
type reader struct {
	*run
	ctx     context.Context
	session engine.Session
	paid    payments
	totals  totals
}

// scan reads columns of a table, of one warehouse unless w is 0.
func (r *reader) scan(table string, w int64, each func(row []model.Value), columns ...string) error {
	op := scan(table, "", 1, columns...)
	args := []model.Value{integer(w)}
	if w == 0 {
		op.Equal, args = 0, nil
	}
	stmt, err := r.session.Prepare(r.ctx, &op)
	if err != nil {
		return err
	}
	if err := stmt.Exec(r.ctx, args, &engine.Result{Each: each}); err != nil {
		return fmt.Errorf("check %s: %w", table, err)
	}
	return nil
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
func (r *reader) readHistory() error {
	p := &r.paid
	p.warehouses, p.districts = make([]int64, r.warehouses+1), make([]int64, (r.warehouses+1)*districts)
	p.customers = make([]int64, r.warehouses*districts*r.customers)
	return r.scan(history, 0, func(row []model.Value) {
		p.rows++
		w, d, cw, at, amount := row[0].Int(), row[1].Int(), row[2].Int(), r.customerAt(row[3].Int(), row[4].Int()), row[5].Int()
		if w < 1 || w > r.warehouses || d < 1 || d > districts || cw < 1 || cw > r.warehouses || at < 0 {
			p.outside++
			return
		}
		p.warehouses[w] += amount
		p.districts[w*districts+d-1] += amount
		p.customers[(cw-1)*districts*r.customers+at] += amount
	}, "h_w_id", "h_d_id", "h_c_w_id", "h_c_d_id", "h_c_id", "h_amount")
}

// readWarehouse reads a warehouse, its districts and its orders.
func (r *reader) readWarehouse(w int64) (*warehouseState, error) {
	s := &warehouseState{id: w, credit: make([]int64, districts*r.customers)}
	for _, read := range []func(*warehouseState) error{r.readYTD, r.readOrders, r.readNewOrders, r.readLines} {
		if err := read(s); err != nil {
			return nil, err
		}
	}
	for i := range s.orders {
		o := &s.orders[i]
		if at := r.customerAt(o.d, o.customer); at >= 0 {
			s.credit[at] += o.deliveredSum
		}
	}
	return s, nil
}

func (r *reader) readYTD(s *warehouseState) error {
	if err := r.scan(warehouse, s.id, func(row []model.Value) { s.ytd = row[0].Int() }, "w_ytd"); err != nil {
		return err
	}
	return r.scan(district, s.id, func(row []model.Value) {
		d := s.district(row[0].Int())
		d.found, d.ytd, d.next = true, row[1].Int(), row[2].Int()
	}, "d_id", "d_ytd", "d_next_o_id")
}

// district returns a district; those that cannot exist are one, number 0.
func (s *warehouseState) district(d int64) *districtState {
	if d < 1 || d > districts {
		d = 0
	}
	return &s.districts[d]
}

func (r *reader) readOrders(s *warehouseState) error {
	return r.scan(orders, s.id, func(row []model.Value) {
		o := orderState{d: row[0].Int(), id: row[1].Int(), customer: row[2].Int(), carrier: !row[3].IsNull(), count: row[4].Int()}
		s.orders = append(s.orders, o)
		d := s.district(o.d)
		d.orders++
		d.counts += o.count
		d.lastOrder = max(d.lastOrder, o.id)
		r.totals.orders++
	}, "o_d_id", "o_id", "o_c_id", "o_carrier_id", "o_ol_cnt")
}

// order returns an order, nil if there is none. They are in the order of their keys.
func (s *warehouseState) order(d, id int64) *orderState {
	i := sort.Search(len(s.orders), func(i int) bool { o := &s.orders[i]; return o.d > d || o.d == d && o.id >= id })
	if i == len(s.orders) || s.orders[i].d != d || s.orders[i].id != id {
		return nil
	}
	return &s.orders[i]
}

func (r *reader) readNewOrders(s *warehouseState) error {
	return r.scan(newOrders, s.id, func(row []model.Value) {
		id := row[1].Int()
		d := s.district(row[0].Int())
		if d.news == 0 {
			d.firstNew = id
		}
		d.news++
		d.lastNew = id
		if o := s.order(row[0].Int(), id); o != nil {
			o.isNew = true
		} else {
			s.stray++
		}
		r.totals.undelivered++
	}, "no_d_id", "no_o_id")
}

func (r *reader) readLines(s *warehouseState) error {
	return r.scan(orderLine, s.id, func(row []model.Value) {
		s.district(row[0].Int()).lines++
		r.totals.lines++
		o := s.order(row[0].Int(), row[1].Int())
		if o == nil {
			return
		}
		o.lines++
		if !row[2].IsNull() {
			o.delivered++
			o.deliveredSum += row[3].Int()
		}
	}, "ol_d_id", "ol_o_id", "ol_delivery_d", "ol_amount")
}
