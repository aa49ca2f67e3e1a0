package ibench

import (
	"fmt"
	"math"

	"rumbench/model"
	"rumbench/workload/gen"
)

// epoch is the first second of the clock of dateandtime.
const epoch = 1_577_836_800 // 2020-01-01

// generator generates the rows of one client in one step: row i is a function of seed,
// step, client and i.
type generator struct {
	register, product, customer, price gen.Stream
	data                               *gen.Text

	registers, products, customers, maxPrice int64
	classic                                  bool
	clockRows                                int64
	base                                     int64 // number of the table's last row before the step
	sharers                                  int64 // clients that share the table
}

func (s *stage) newGenerator(client int, base int64) generator {
	stream := func(column string) gen.Stream {
		return gen.NewStream(s.env.Seed, "ibench", s.plan.Name, "insert", column).Sub(uint64(client))
	}
	return generator{
		register: stream(colRegister), product: stream(colProduct), customer: stream(colCustomer), price: stream(colPrice),
		data:      s.text.With(stream(colData)),
		registers: s.p.Int("cashregisters"), products: s.p.Int("products"), customers: s.p.Int("customers"),
		maxPrice: s.p.Int("max_price"),
		classic:  s.classic, clockRows: s.p.Int("clock_rows"), base: base, sharers: int64(s.clients / s.run.tables),
	}
}

// append appends row i to a batch; all rows of a batch have the time of row first.
func (m *generator) append(args []model.Value, text []byte, i, first int64) ([]model.Value, []byte) {
	n := uint64(i)
	seconds := (m.base + first*m.sharers) / m.clockRows
	customer := m.customer.Uniform(n, m.customers)
	price := model.IntValue(m.price.Uniform(n, m.maxPrice))
	if m.classic {
		price = model.FloatValue(classicPrice(m.price.Unit(n), float64(m.maxPrice), customer))
	}
	start := len(text)
	text = m.data.Append(text, n)
	return append(args,
		model.MicrosValue((epoch+seconds)*1_000_000),
		model.IntValue(m.register.Uniform(n, m.registers)),
		model.IntValue(customer),
		model.IntValue(m.product.Uniform(n, m.products)),
		price,
		model.StringValue(text[start:len(text):len(text)]),
	), text
}

// classicPrice returns a price in the format before December 2023: it depends on the
// customer and has two decimals.
func classicPrice(unit, maxPrice float64, customer int64) float64 {
	return math.Round(unit*maxPrice+float64(customer)) / 100
}

// batch is the argument list of an insert, in reused memory.
type batch struct {
	args []model.Value
	text []byte
}

func (b *batch) fill(m *generator, first, rows int64) {
	b.args, b.text = b.args[:0], b.text[:0]
	for i := range rows {
		b.args, b.text = m.append(b.args, b.text, first+i, first)
	}
}

// reserve allocates memory for a batch, so that filling it allocates nothing.
func (b *batch) reserve(rows, data int64) error {
	if rows*data > 1<<30 {
		return fmt.Errorf("a batch of %d rows with %d bytes of data each is too large", rows, data)
	}
	b.args = make([]model.Value, 0, rows*int64(len(insertColumns)))
	b.text = make([]byte, 0, rows*data)
	return nil
}
