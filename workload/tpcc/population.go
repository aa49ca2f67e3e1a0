package tpcc

import (
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// The contents of rows after the load (TPC-C 4.3.3), amounts in cents.
const (
	creditLimit  = 50_000_00
	firstPayment = 10_00 // of each customer: a district has received 30,000.00
	dataWidth    = 500   // of c_data

	leastLines, mostLines = 5, 15
	meanLines             = (leastLines + mostLines) / 2

	goodCredit, badCredit = "GC", "BC"
)

// start is the time of the load, in milliseconds since 1970. The time in rows follows the
// transactions instead of the wall clock: a seed always gives the same rows.
const start = 1_577_836_800_000

// part is the unit of work of a loading client: the items (w 0), the rows that a
// warehouse has once (d 0), or a district.
type part struct{ w, d int64 }

// tables returns the tables in which a part has rows, in load order.
func (p part) tables() []string {
	switch {
	case p.w == 0:
		return []string{constantsTable, item}
	case p.d == 0:
		return []string{warehouse, district, stock}
	}
	return []string{customer, history, orders, newOrders, orderLine}
}

// population generates the rows of a part.
type population struct {
	*run
	constants
	part
	source gen.Source // of the row
	*workload.Batch
}

// rows returns the number of rows of a table in a part; for the lines, the number of
// orders with lines.
func (s *sizes) rows(table string) int64 {
	switch table {
	case item, stock:
		return s.items
	case district:
		return districts
	case warehouse, constantsTable:
		return 1
	case newOrders:
		return s.undelivered
	}
	return s.customers
}

// stream returns the stream of a table's rows in the part.
func (p *population) stream(table string) gen.Stream {
	return stream(p.seed, "load", table).Sub(uint64(p.w*(districts+1) + p.d))
}

// lineCount returns the number of lines of an order that was loaded.
func (p *population) lineCount(order int64) int64 {
	return leastLines + p.stream("lines").Uniform(uint64(order), mostLines-leastLines+1)
}

// buyer returns the customer who placed a loaded order: each customer has placed one.
func (p *population) buyer(order int64) int64 {
	return 1 + gen.NewPermutation(p.customers, p.stream("buyers")).At(order-1)
}

// delivered reports whether an order that was loaded has been delivered.
func (s *sizes) delivered(order int64) bool { return order <= s.customers-s.undelivered }

// pieces returns the loaded quantity of an item in the warehouse's stock.
func (p *population) pieces(whole int64) int64 { return between(p.begin(stock, whole, 0), 10, 100) }

// begin begins the draws of a row.
func (p *population) begin(table string, i, n int64) *gen.Source {
	p.source = *gen.NewSource(p.stream(table).Sub(uint64(i*(mostLines+1) + n)))
	return &p.source
}

// row adds row i of a table, from 1, to a batch; for the lines, line n of order i.
func (p *population) row(b *workload.Batch, table string, i, n int64) {
	p.Batch = b
	p.begin(table, i, n)
	switch table {
	case constantsTable:
		b.Add(p.constantsRow(p.constants)...)
	case item:
		b.Add(integer(i), p.between(1, 10_000), p.text(14, 24), p.between(1_00, 100_00), p.data())
	case warehouse:
		b.Add(integer(p.w), p.text(6, 10), p.text(10, 20), p.text(10, 20), p.text(10, 20), p.text(2, 2), p.zip(),
			p.between(0, 2000), integer(districts*p.customers*firstPayment))
	case district:
		b.Add(integer(p.w), integer(i), p.text(6, 10), p.text(10, 20), p.text(10, 20), p.text(10, 20), p.text(2, 2), p.zip(),
			p.between(0, 2000), integer(p.customers*firstPayment), integer(p.customers+1))
	case stock:
		b.Add(integer(p.w), integer(i), integer(p.pieces(i)), p.dist(), p.dist(), p.dist(), p.dist(), p.dist(), p.dist(),
			p.dist(), p.dist(), p.dist(), p.dist(), integer(0), integer(0), integer(0), p.data())
	case customer:
		p.addCustomer(i)
	case history:
		b.Add(integer(p.w), integer(p.d), integer(i), integer(p.w), integer(p.d), at(start), integer(firstPayment),
			p.text(12, 24))
	case orders:
		p.addOrder(i)
	case newOrders:
		b.Add(integer(p.w), integer(p.d), integer(p.customers-p.undelivered+i))
	case orderLine:
		p.addLine(i, n)
	}
}

func (p *population) addCustomer(c int64) {
	credit := goodCredit
	if chance(&p.source, 10) {
		credit = badCredit
	}
	p.Add(integer(p.w), integer(p.d), integer(c), p.text(8, 16), p.word("OE"), p.lastName(c), p.text(10, 20),
		p.text(10, 20), p.text(10, 20), p.text(2, 2), p.zip(), p.phone(), at(start), p.word(credit), integer(creditLimit),
		p.between(0, 5000), integer(-firstPayment), integer(firstPayment), integer(1), integer(0), p.text(300, dataWidth))
}

func (p *population) addOrder(o int64) {
	var carrier model.Value
	if p.delivered(o) {
		carrier = p.between(1, 10)
	}
	p.Add(integer(p.w), integer(p.d), integer(o), integer(p.buyer(o)), at(start), carrier, integer(p.lineCount(o)),
		integer(1))
}

func (p *population) addLine(o, n int64) {
	delivery, amount := at(start), integer(0)
	if !p.delivered(o) {
		delivery, amount = model.Value{}, p.between(1, 9999_99)
	}
	p.Add(integer(p.w), integer(p.d), integer(o), integer(n), p.between(1, p.items), integer(p.w), delivery, integer(5),
		amount, p.dist())
}

// lastName returns the last name of a customer: first each name once, then by NURand.
func (p *population) lastName(c int64) model.Value {
	n := c - 1
	if n >= lastNames {
		n = nurand(&p.source, nurandName, p.nameLoad, 0, lastNames-1)
	}
	p.Text = appendLastName(p.Text, n)
	return p.Chars()
}

func (p *population) between(low, high int64) model.Value {
	return integer(between(&p.source, low, high))
}

func (p *population) text(low, high int64) model.Value {
	p.Text = appendText(p.Text, &p.source, low, high)
	return p.Chars()
}

func (p *population) dist() model.Value { return p.text(distWidth, distWidth) }

func (p *population) word(s string) model.Value {
	p.Text = append(p.Text, s...)
	return p.Chars()
}

func (p *population) zip() model.Value {
	p.Text = append(appendDigits(p.Text, &p.source, 4), "11111"...)
	return p.Chars()
}

func (p *population) phone() model.Value {
	p.Text = appendDigits(p.Text, &p.source, 16)
	return p.Chars()
}

const original = "ORIGINAL"

// data returns the data of an item or a stock; one in ten contains ORIGINAL.
func (p *population) data() model.Value {
	start := len(p.Text)
	p.Text = appendText(p.Text, &p.source, 26, 50)
	if chance(&p.source, 10) {
		room := int64(len(p.Text) - start - len(original))
		copy(p.Text[start+int(p.source.Uniform(room+1)):], original)
	}
	return p.Chars()
}

// constantsRow returns the row that identifies the data.
func (r *run) constantsRow(c constants) []model.Value {
	var row []model.Value
	for _, n := range []int64{1, int64(r.seed), r.warehouses, r.customers, r.undelivered, r.items, c.nameLoad, c.nameRun,
		c.id, c.item} {
		row = append(row, integer(n))
	}
	return row
}

func integer(n int64) model.Value { return model.IntValue(n) }

// at returns the time for a number of milliseconds.
func at(ms int64) model.Value { return model.MicrosValue(ms * 1000) }
