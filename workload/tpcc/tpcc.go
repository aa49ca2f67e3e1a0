// Package tpcc is a workload derived from TPC-C: terminals of warehouses enter, pay, look
// up and deliver orders, in five transactions over nine tables.
//
// It follows revision 5.11 of the standard as common programs implement it, and is not
// TPC-C: results are unaudited and not comparable with published ones. docs/tpcc.md has
// its sources and differences.
package tpcc

import (
	"cmp"

	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// Workload is the workload, for the registry.
type Workload struct{}

// Info describes the workload.
func (Workload) Info() workload.Info {
	return workload.Info{
		Name: "tpcc",
		Doc: "Derived from TPC-C, unaudited: terminals of warehouses enter, pay, look up and deliver orders, with the " +
			"standard's consistency checks.",
		Params:  params,
		Presets: presets,
	}
}

// districts is the number of districts of a warehouse, and the number of its terminals.
const districts = 10

// sizes are the numbers of rows loaded.
type sizes struct {
	warehouses  int64
	customers   int64 // of a district; each has one order
	undelivered int64 // of these orders, in each district
	items       int64
}

// run is the workload with its parameters.
type run struct {
	p workload.Params
	sizes
	batch bool // style
	steps []workload.Step
	seed  uint64 // of the data
	now   state
}

// state is the content of the tables after the steps so far.
type state struct {
	totals
	known     bool  // true in the process that has loaded the tables
	whole     bool  // the load was not cut short
	uncertain int64 // commits with an unknown outcome since the last count
}

// totals are the rows of the tables that transactions insert into and delete from.
type totals struct{ orders, undelivered, lines, payments int64 }

func (t *totals) add(o *totals) {
	t.orders += o.orders
	t.undelivered += o.undelivered
	t.lines += o.lines
	t.payments += o.payments
}

// New returns a run.
func (Workload) New(p workload.Params) (workload.Run, error) {
	r := &run{p: p, batch: p.String("style") == batch, sizes: sizes{
		warehouses: p.Int("warehouses"), customers: p.Int("customers_per_district"),
		undelivered: p.Int("new_orders_per_district"), items: p.Int("items"),
	}}
	if err := cmp.Or(
		workload.RefuseIf(len(p.Ints("clients")) == 0, "clients", "give at least one number", "it is empty"),
		workload.RefuseIf(r.undelivered > r.customers, "new_orders_per_district", "lower it",
			"%d are more than the %d orders of a district, one of each customer", r.undelivered, r.customers),
	); err != nil {
		return nil, err
	}
	r.build()
	return r, nil
}

// Steps returns the steps.
func (r *run) Steps() []workload.Step { return r.steps }

// Needs returns transactions.
func (r *run) Needs() []model.Capability { return []model.Capability{model.CapTransactions} }

// maxRate is a generous guess of the transactions per second.
const maxRate = 10_000

// Estimate returns the size of the load plus the maximum growth by the mix.
func (r *run) Estimate(steps []workload.Step) workload.Live {
	done := workload.Growing(steps, maxRate)
	entered, paid := int64(done*float64(cards[newOrder])/deckSize), int64(done*float64(cards[payment])/deckSize)
	t := r.loaded()
	t.add(&totals{orders: entered, undelivered: entered, lines: entered * meanLines, payments: paid})
	return r.live(&t, true)
}

// loaded returns the totals that the load inserts, with the mean number of lines.
func (s *sizes) loaded() totals {
	all := s.warehouses * districts
	return totals{orders: all * s.customers, undelivered: all * s.undelivered, lines: all * s.customers * meanLines,
		payments: all * s.customers}
}

// live returns the user data of the tables.
func (s *sizes) live(t *totals, indexed bool) workload.Live {
	out := workload.Live{Rows: s.items + 1, Bytes: s.items*bytesOf[item] + bytesOf[constantsTable]}
	add := func(table string, rows int64) {
		out.Rows += rows
		out.Bytes += rows * bytesOf[table]
	}
	add(warehouse, s.warehouses)
	add(district, s.warehouses*districts)
	add(stock, s.warehouses*s.items)
	add(customer, s.warehouses*districts*s.customers)
	add(orders, t.orders)
	add(newOrders, t.undelivered)
	add(orderLine, t.lines)
	add(history, t.payments)
	if indexed {
		out.Bytes += s.warehouses*districts*s.customers*nameEntry + t.orders*orderEntry
	}
	return out
}

// stream returns a stream of the run's random numbers.
func stream(seed uint64, path ...string) gen.Stream {
	return gen.NewStream(seed, append([]string{"tpcc"}, path...)...)
}
