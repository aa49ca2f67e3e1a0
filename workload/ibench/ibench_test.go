package ibench

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

func newRun(preset string, given map[string]any) (*run, error) {
	r, err := workload.NewRun(Workload{}, preset, given)
	if err != nil {
		return nil, err
	}
	return r.(*run), nil
}

func mustRun(t *testing.T, preset string, given map[string]any) *run {
	t.Helper()
	r, err := newRun(preset, given)
	expect.NoError(t, err)
	return r
}

func maker(r *run, step string, client int) generator {
	s := &stage{run: r, plan: &plan{Step: workload.Step{Name: step}}, env: workload.Env{Seed: 7}}
	s.text = gen.NewText(gen.NewStream(7), r.p.Int("data_min"), r.p.Int("data_max"), 0.5)
	return s.newGenerator(client, 0)
}

// The positions of columns in an inserted row.
const (
	atTime = iota
	atRegister
	atCustomer
	atProduct
	atPrice
	atData
)

// The values are uniform over their domains, and independent.
func TestValues(t *testing.T) {
	const rows = 1_000_000
	m := maker(mustRun(t, "", nil), "l.i0", 0)
	domains := map[int]int64{atRegister: 1000, atProduct: 10_000, atCustomer: 100_000, atPrice: 500}
	counts := map[int][]float64{}
	for c, n := range domains {
		counts[c] = make([]float64, n)
	}
	var args []model.Value
	var text []byte
	var product, customer, both float64
	for i := range int64(rows) {
		args, text = m.append(args[:0], text[:0], i, i)
		for c := range domains {
			counts[c][args[c].Int()]++ // panics outside the domain
		}
		p, q := float64(args[atProduct].Int())/10_000-0.5, float64(args[atCustomer].Int())/100_000-0.5
		product, customer, both = product+p*p, customer+q*q, both+p*q
		if n := len(args[atData].Buf()); n < 10 || n > 20 {
			t.Fatalf("data of %d bytes", n)
		}
	}
	for c, list := range counts {
		var chi float64
		want := rows / float64(len(list))
		for _, n := range list {
			chi += (n - want) * (n - want) / want
		}
		k := float64(len(list) - 1)
		if limit := k + 5*math.Sqrt(2*k); chi > limit {
			t.Errorf("column %d: chi-square %.0f above %.0f", c, chi, limit)
		}
	}
	if r := both / math.Sqrt(product*customer); math.Abs(r) > 5/math.Sqrt(rows) {
		t.Errorf("product and customer are correlated: %v", r)
	}
}

// The classic price depends on the customer: (U·500 + customer)/100, two decimals.
func TestClassicPrice(t *testing.T) {
	m := maker(mustRun(t, "", map[string]any{"schema": schemaClassic}), "l", 0)
	greatest := 0.0
	for i := range int64(100_000) {
		args, _ := m.append(nil, nil, i, i)
		price, customer := args[atPrice].Float(), float64(args[atCustomer].Int())
		expect.Must(t, price >= customer/100-0.005 && price <= (customer+500)/100+0.005,
			"price", price, "of customer", customer)
		if cents := price * 100; math.Abs(cents-math.Round(cents)) > 1e-6 {
			t.Fatalf("price %v has more than two decimals", price)
		}
		greatest = max(greatest, price)
	}
	expect.True(t, greatest >= 990 && greatest <= 1005, "greatest price", greatest)
}

// A seed gives the same rows for a client of a step, and others elsewhere.
func TestRowsAreRepeatable(t *testing.T) {
	rows := func(step string, client int) string {
		m := maker(mustRun(t, "", nil), step, client)
		var b batch
		b.fill(&m, 100, 50)
		var out []byte
		for _, v := range b.args {
			out = v.AppendHash(out)
		}
		return string(out)
	}
	first := rows("l.i0", 0)
	expect.Equal(t, first, rows("l.i0", 0), "the rows of a client are not repeatable")
	expect.True(t, first != rows("l.i0", 1) && first != rows("l.i1", 0), "another client or step has the same rows")
}

// All rows of a batch have the same time, which advances with the table.
func TestClock(t *testing.T) {
	m := maker(mustRun(t, "", map[string]any{"clock_rows": int64(100)}), "l.i0", 0)
	var b batch
	var last int64
	for first := int64(0); first < 1000; first += 50 {
		b.fill(&m, first, 50)
		for i := 0; i < len(b.args); i += len(insertColumns) {
			if at := b.args[i+atTime].Int(); at != (epoch+first/100)*1_000_000 {
				t.Fatalf("row %d has time %d", first, at)
			}
		}
		expect.Must(t, b.args[atTime].Int() >= last, "time decreases")
		last = b.args[atTime].Int()
	}
}

func names(steps []workload.Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func TestStepSequences(t *testing.T) {
	for preset, want := range map[string]string{
		"":         "l.i0 l.x l.i1 l.i2 settle qr100 qp100 qr500 qp500 qr1000 qp1000",
		"quick":    "l.i0 l.x l.i1 l.i2 settle qr100 qp100 qr500 qp500 qr1000 qp1000",
		"cached":   "l.i0 l.x l.i1 l.i2 settle qr100 qp100 qr500 qp500 qr1000 qp1000",
		"io-bound": "l.i0 l.x l.i1 l.i2 settle qr100 qp100 qr500 qp500 qr1000 qp1000",
		"2016":     "l q1000 q100",
		"2020":     "l.i0 l.x l.i1 q100.1 q100.2 q200.1 q200.2 q400.1 q400.2 q600.1 q600.2 q800.1 q800.2 q1000.1 q1000.2",
	} {
		expect.Equal(t, names(mustRun(t, preset, nil).Steps()), want, "preset", preset)
	}
	expect.Equal(t, names(mustRun(t, "", map[string]any{"steps": []string{"qp500", "l.i0"}}).Steps()), "l.i0 qp500",
		"chosen steps")
}

// The steps do the work of the published runs.
func TestWork(t *testing.T) {
	type work struct{ inserts, deletes int64 }
	r := mustRun(t, "cached", nil)
	want := map[string]work{
		"l.i0": {300_000, 0}, "l.i1": {800_000, 800_000}, "l.i2": {2_000_000, 2_000_000},
		"qr100": {3600, 3600}, "qp1000": {36_000, 36_000},
	}
	for _, s := range r.Steps() {
		w, ok := want[s.Name]
		if !ok {
			continue
		}
		var got work
		for _, g := range s.Groups {
			switch g.Name {
			case "insert":
				got.inserts = g.Work
			case "delete":
				got.deletes = g.Work
			case "query":
				expect.True(t, g.Work == 0 && g.Rate == 0, s.Name, "queries are not a closed loop")
			}
			if rate := g.Rate * float64(g.RowsPerOp); strings.HasPrefix(s.Name, "q") && g.Name != "query" &&
				rate != map[string]float64{"qr100": 100, "qp1000": 1000}[s.Name] {
				t.Errorf("%s: %s has a rate of %v rows/s", s.Name, g.Name, rate)
			}
		}
		expect.Equal(t, got, w, s.Name, "batches")
	}
}

func TestTimeBound(t *testing.T) {
	for _, s := range mustRun(t, "quick", map[string]any{"bound": "time"}).Steps() {
		expect.True(t, !strings.HasPrefix(s.Name, "q") || s.Seconds == 3, s.Name, "takes", s.Seconds, "s")
		for _, g := range s.Groups {
			expect.True(t, !strings.HasPrefix(s.Name, "q") || g.Work == 0,
				s.Name, "group", g.Name, "has both work and time")
		}
	}
}

// The indexes of both eras, and the queries that they cover.
func TestSchemas(t *testing.T) {
	want := map[string][][]string{
		schema2023:    {{"productid", "customerid", "price"}, {"cashregisterid", "customerid", "price"}, {"price", "dateandtime", "customerid"}},
		schemaClassic: {{"price", "customerid"}, {"cashregisterid", "price", "customerid"}, {"price", "dateandtime", "customerid"}},
	}
	for era, indexes := range want {
		r := mustRun(t, "", map[string]any{"schema": era})
		table := r.Schema().Tables[0]
		for i, ix := range table.Indexes {
			expect.True(t, slices.Equal(ix.Columns, indexes[i]) && !ix.Unique, era, "index", i, "is", ix)
		}
		for _, q := range r.rangeQueries() {
			ix, err := table.Index("pi1_" + q.index)
			expect.NoError(t, err)
			for _, c := range q.columns {
				expect.True(t, slices.Contains(ix.Columns, c),
					era, "query", q.name, "selects", c, "which", ix.Name, "does not hold")
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, given := range map[string]map[string]any{
		"data_min":  {"data_min": int64(30)},
		"one_table": {"one_table": true, "clients": int64(2)},
		"rows":      {"rows": int64(10)},
		"steps":     {"steps": []string{"qr7"}},
	} {
		_, err := newRun("", given)
		var p *workload.ParamError
		expect.True(t, errors.As(err, &p) && p.Param == name && p.Hint() != "", given, err)
	}
}

// Inserts and deletes of a table are at most eight batches apart.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{run: &run{}, plan: &plan{roles: []role{writer, deleter}}, tables: []*table{{}}}
		s.couple()
		tb := s.tables[0]
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		alone := func(own, other chan struct{}) (n int) {
			var held bool
			for n = 0; ; n++ {
				blocked := make(chan struct{})
				go func() {
					defer close(blocked)
					_ = take(ctx, own, &held)
				}()
				synctest.Wait()
				select {
				case <-blocked:
					give(other, &held)
				default:
					return n
				}
			}
		}
		expect.Equal(t, alone(tb.inserts, tb.deletes), lead, "inserts lead by", "batches")
		cancel()
	})
}

// User bytes are those of rows, and of the columns and key of index entries.
func TestLiveBytes(t *testing.T) {
	r := mustRun(t, "", nil)
	expect.Equal(t, r.live(1000, false).Bytes, 1000*(8+8+4*4+15), "bytes without indexes")
	expect.Equal(t, r.live(1000, true).Bytes, 1000*(8+8+4*4+15+20+20+24), "bytes with indexes")
}
