package tpcc

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/engine/null"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
	"rumbench/workload/workloadtest"
)

// small is a run of few rows, with some that change it.
func small(t *testing.T, more map[string]any) *run {
	t.Helper()
	p := map[string]any{
		"warehouses": int64(2), "items": int64(60), "customers_per_district": int64(12), "new_orders_per_district": int64(4), "clients": []int64{3},
		"transactions": int64(100), "load_clients": int64(3), "load_batch": int64(50), "retry_max": int64(0), "settle_floor": time.Duration(0),
	}
	maps.Copy(p, more)
	r, err := workload.NewRun(Workload{}, "", p)
	expect.NoError(t, err)
	return r.(*run)
}

func open(t *testing.T, e engine.Engine, r workload.Run) engine.DB {
	t.Helper()
	return workloadtest.Open(t, e, r.Schema())
}

// The constants obey the rule for last names, whatever the seed, and all that it
// allows occur.
func TestConstants(t *testing.T) {
	apart := map[int64]bool{}
	for seed := range uint64(20_000) {
		c := newConstants(seed)
		d := max(c.nameRun-c.nameLoad, c.nameLoad-c.nameRun)
		apart[d] = true
		expect.Must(t, d >= 65 && d <= 119 && d != 96 && d != 112,
			"seed", seed, "the constants of last names differ by", d)
		expect.Must(t, min(c.nameLoad, c.nameRun, c.id, c.item) >= 0 && max(c.nameLoad, c.nameRun) <= 255 && c.id <= 1023 && c.item <= 8191, seed, c)
	}
	expect.Equal(t, len(apart), 119-65+1-2, "differences occur")
}

// NURand has the distribution of its formula, computed by all pairs of draws.
func TestNURand(t *testing.T) {
	const a, c, x, y, draws = 63, 17, 1, 200, 400_000
	want := make([]float64, y+1)
	for i := range int64(a + 1) {
		for j := int64(x); j <= y; j++ {
			want[((i|j)+c)%(y-x+1)+x] += 1.0 / (a + 1) / (y - x + 1)
		}
	}
	got := make([]float64, y+1)
	s := gen.NewSource(gen.NewStream(1))
	for range draws {
		got[nurand(s, a, c, x, y)] += 1.0 / draws
	}
	for n := range got {
		expect.True(t, math.Abs(got[n]-want[n]) <= 5*math.Sqrt(want[n]/draws), n, got[n], want[n])
	}
	expect.True(t, got[0] <= 0, "0 is drawn")
}

func TestLastNames(t *testing.T) {
	for n, want := range map[int64]string{0: "BARBARBAR", 371: "PRICALLYOUGHT", 40: "BARPRESBAR", 999: "EINGEINGEING"} {
		expect.Equal(t, string(appendLastName(nil, n)), want, n)
	}
}

// loadedRows returns the rows of a table after the load.
func loadedRows(t *testing.T, db engine.DB, table string) (out [][]model.Value) {
	t.Helper()
	session, err := db.Session(t.Context())
	expect.NoError(t, err)
	defer session.Close()
	stmt, err := session.Prepare(t.Context(), &model.Op{Kind: model.Scan, Table: table, Columns: tableOf(table).ColumnNames()})
	expect.NoError(t, err)
	if err := stmt.Exec(t.Context(), nil, &engine.Result{Each: func(row []model.Value) {
		clone := make([]model.Value, len(row))
		for i := range row {
			clone[i] = row[i].Clone()
		}
		out = append(out, clone)
	}}); err != nil {
		t.Fatal(err)
	}
	return out
}

func column(t *testing.T, table string, row []model.Value, name string) model.Value {
	t.Helper()
	return row[tableOf(table).Column(name)]
}

// population rules that a column's values obey.
var rules = []struct {
	table, column string
	lowest, limit int64 // of the number, or of the text's length
}{
	{warehouse, "w_tax", 0, 2000}, {warehouse, "w_name", 6, 10}, {warehouse, "w_zip", 9, 9}, {warehouse, "w_ytd", 12_000_00, 12_000_00},
	{district, "d_tax", 0, 2000}, {district, "d_ytd", 1200_00, 1200_00}, {district, "d_next_o_id", 121, 121}, {district, "d_street_1", 10, 20},
	{customer, "c_first", 8, 16}, {customer, "c_phone", 16, 16}, {customer, "c_middle", 2, 2}, {customer, "c_credit_lim", 5_000_000, 5_000_000},
	{customer, "c_discount", 0, 5000}, {customer, "c_balance", -1000, -1000}, {customer, "c_ytd_payment", 1000, 1000}, {customer, "c_payment_cnt", 1, 1},
	{customer, "c_delivery_cnt", 0, 0}, {customer, "c_data", 300, 500},
	{history, "h_amount", 1000, 1000}, {history, "h_data", 12, 24},
	{orders, "o_ol_cnt", 5, 15}, {orders, "o_all_local", 1, 1}, {orders, "o_c_id", 1, 120},
	{newOrders, "no_o_id", 85, 120},
	{orderLine, "ol_quantity", 5, 5}, {orderLine, "ol_i_id", 1, 500}, {orderLine, "ol_dist_info", 24, 24}, {orderLine, "ol_amount", 0, 999_999},
	{item, "i_im_id", 1, 10_000}, {item, "i_name", 14, 24}, {item, "i_price", 100, 10_000}, {item, "i_data", 26, 50},
	{stock, "s_quantity", 10, 100}, {stock, "s_dist_10", 24, 24}, {stock, "s_data", 26, 50}, {stock, "s_ytd", 0, 0}, {stock, "s_remote_cnt", 0, 0},
}

// The load follows the population rules, and the bytes of a row are those by which
// live data are counted.
func TestPopulation(t *testing.T) {
	r := small(t, map[string]any{"warehouses": int64(1), "items": int64(500), "customers_per_district": int64(120), "new_orders_per_district": int64(36)})
	db := open(t, memory.Engine{}, r)
	steps := r.steps
	r.steps = steps[:2] // load and index
	workloadtest.Lockstep(t, r, db, 5)
	all := map[string][][]model.Value{}
	for i := range tables {
		name := tables[i].Name
		all[name] = loadedRows(t, db, name)
		var bytes float64
		for _, row := range all[name] {
			for c, v := range row {
				switch column := &tables[i].Columns[c]; {
				case column.Width == 4 && column.Type == model.Int && !v.IsNull():
					bytes += 4
				default:
					bytes += float64(v.Size())
				}
			}
		}
		if mean := bytes / float64(len(all[name])); len(all[name]) > 100 && math.Abs(mean-float64(bytesOf[name])) > 0.03*mean {
			t.Errorf("%s: %.1f bytes per row, counted as %d", name, mean, bytesOf[name])
		}
	}
	for _, rule := range rules {
		for _, row := range all[rule.table] {
			v := column(t, rule.table, row, rule.column)
			n := v.Int()
			if v.Type() == model.String {
				n = int64(len(v.Buf()))
			}
			if v.IsNull() || n < rule.lowest || n > rule.limit {
				t.Errorf("%s: %v, want %d to %d", rule.column, v, rule.lowest, rule.limit)
				break
			}
		}
	}
	bad := 0
	for i, row := range all[customer] {
		if want := string(appendLastName(nil, int64(i%120))); string(column(t, customer, row, "c_last").Buf()) != want {
			t.Errorf("customer %v is not called %s", row[2], want)
		}
		if string(column(t, customer, row, "c_credit").Buf()) == badCredit {
			bad++
		}
	}
	expect.True(t, bad >= 80 && bad <= 160, bad, len(all[customer]))
	marked := 0
	for _, row := range all[stock] {
		if bytes.Contains(column(t, stock, row, "s_data").Buf(), []byte(original)) {
			marked++
		}
	}
	expect.True(t, marked >= 25 && marked <= 80, marked, "of 500 stocks are original, want a tenth")
	buyers := map[int64]bool{}
	var sorted int
	for i, row := range all[orders] {
		id, buyer := row[2].Int(), row[3].Int()
		buyers[row[1].Int()<<32|buyer] = true
		if id == buyer {
			sorted++
		}
		if delivered := id <= 84; column(t, orders, row, "o_carrier_id").IsNull() == delivered {
			t.Errorf("order %d of %d: carrier %v", id, i, column(t, orders, row, "o_carrier_id"))
		}
	}
	expect.True(t, len(buyers) == 1200 && sorted <= 60,
		len(buyers), "customers have an order", sorted, "that of their number")
	for _, row := range all[orderLine] {
		delivered, amount := row[2].Int() <= 84, column(t, orderLine, row, "ol_amount").Int()
		expect.Must(t, column(t, orderLine, row, "ol_delivery_d").IsNull() != delivered && (amount == 0) == delivered,
			"line", row)
	}
}

// loaded returns a database after the steps of a run.
func loaded(t *testing.T, r *run, seed uint64) engine.DB {
	t.Helper()
	db := open(t, memory.Engine{}, r)
	workloadtest.Lockstep(t, r, db, seed)
	return db
}

// brokenBy returns what a check finds after an operation.
func brokenBy(t *testing.T, op *model.Op, args ...model.Value) []string {
	t.Helper()
	r := small(t, nil)
	r.steps = r.steps[:2]
	db := loaded(t, r, 3)
	session, err := db.Session(t.Context())
	expect.NoError(t, err)
	defer session.Close()
	if op != nil {
		stmt, err := session.Prepare(t.Context(), op)
		expect.NoError(t, err)
		var result engine.Result
		if err := stmt.Exec(t.Context(), args, &result); err != nil || result.Rows == 0 {
			t.Fatalf("%s changed %d rows: %v", op.Label(), result.Rows, err)
		}
	}
	var f workload.Finding
	expect.NoError(t, r.check(context.Background(), session, false, &f))
	return f.Broken
}

// Deliberate corruptions are found by the conditions that name them, and by no other.
func TestCorruptions(t *testing.T) {
	one := integer(1)
	change := func(table string, columns ...string) *model.Op {
		op := update(table, columns...)
		return &op
	}
	remove := func(table string) *model.Op { return &model.Op{Kind: model.Delete, Table: table} }
	extra := insert(newOrders, 1)
	paid := insert(history, 1)
	for name, c := range map[string]struct {
		op   *model.Op
		args []model.Value
		by   []string // conditions
	}{
		"nothing":                                 {},
		"a payment is lost in the warehouse":      {change(warehouse, "+w_ytd"), []model.Value{integer(-500), one}, []string{"1", "8"}},
		"a payment is lost in the district":       {change(district, "+d_ytd"), []model.Value{integer(-500), one, one}, []string{"1", "9"}},
		"an order number is skipped":              {change(district, "+d_next_o_id"), []model.Value{one, one, one}, []string{"2"}},
		"a new order is missing":                  {remove(newOrders), []model.Value{one, integer(2), integer(11)}, []string{"3", "5"}},
		"a new order has no order":                {&extra, []model.Value{one, one, integer(1_000_000)}, []string{"2", "3", "5"}},
		"a line is missing":                       {remove(orderLine), []model.Value{one, one, integer(12), one}, []string{"4", "6"}},
		"all lines but the count say so":          {change(orders, "+o_ol_cnt"), []model.Value{one, one, one, integer(2)}, []string{"4", "6"}},
		"a delivered order has no carrier":        {change(orders, "o_carrier_id"), []model.Value{{}, one, one, one}, []string{"5", "7"}},
		"a line of a delivered order has no date": {change(orderLine, "ol_delivery_d", "ol_amount"), []model.Value{{}, integer(0), one, one, one, one}, []string{"7"}},
		"a customer's balance is wrong":           {change(customer, "+c_balance"), []model.Value{one, one, one, integer(3)}, []string{"10", "12"}},
		"a customer's payments are wrong":         {change(customer, "+c_ytd_payment"), []model.Value{one, one, one, integer(3)}, []string{"12"}},
		"a payment is not in history": {&paid, []model.Value{one, one, one, one, one, at(start), integer(100), model.StringValue([]byte("x"))},
			[]string{"8", "9", "10", "counts"}},
		"a payment is not counted":       {change(customer, "+c_payment_cnt"), []model.Value{integer(-1), one, one, integer(3)}, []string{"counts"}},
		"a delivery is counted twice":    {change(customer, "+c_delivery_cnt"), []model.Value{one, one, one, integer(3)}, []string{"counts"}},
		"an order of a stock is lost":    {change(stock, "+s_quantity"), []model.Value{integer(5), one, one}, []string{"stocks"}},
		"an order of a stock is double":  {change(stock, "+s_ytd"), []model.Value{integer(5), one, integer(60)}, []string{"stocks"}},
		"an order of a stock is no line": {change(stock, "+s_quantity", "+s_ytd"), []model.Value{integer(81), integer(10), one, one}, []string{"stocks"}},
		"a stock is filled up":           {change(stock, "+s_quantity"), []model.Value{integer(91), one, one}, nil},
		"a line is not counted":          {change(stock, "+s_order_cnt"), []model.Value{integer(-1), one, one}, []string{"counts"}},
		"a line counts as remote":        {change(stock, "+s_remote_cnt"), []model.Value{one, one, one}, []string{"counts"}},
		"a customer is missing":          {remove(customer), []model.Value{one, one, one}, []string{"10"}},
	} {
		t.Run(name, func(t *testing.T) {
			var by []string
			broken := brokenBy(t, c.op, c.args...)
			for _, b := range broken {
				by = append(by, strings.Fields(b)[2])
			}
			expect.True(t, slices.Equal(by, c.by), "found by", by, "want", c.by, broken)
		})
	}
}

// Condition 11 is judged after the load, and finds a load that has delivered too much.
func TestLoadIsJudged(t *testing.T) {
	r := small(t, nil)
	r.steps = r.steps[:2]
	db := loaded(t, r, 1)
	err := workload.InSession(t.Context(), db, func(ctx context.Context, session engine.Session) error {
		stmt, err := session.Prepare(t.Context(), &model.Op{Kind: model.Delete, Table: newOrders})
		if err != nil {
			return err
		}
		if err := stmt.Exec(t.Context(), []model.Value{integer(1), integer(1), integer(9)}, &engine.Result{}); err != nil {
			return err
		}
		var f workload.Finding
		if err := r.check(t.Context(), session, true, &f); err != nil {
			return err
		}
		expect.True(t, len(f.Broken) == 2 && strings.Contains(f.Broken[1], "condition 11"), f.Broken)
		return nil
	})
	expect.NoError(t, err)
}

// A database of an earlier load is used if it has the same seed and sizes, and
// refused otherwise.
func TestKeptData(t *testing.T) {
	db := loaded(t, small(t, nil), 3)
	for _, c := range []struct {
		more map[string]any
		seed uint64
		want string
	}{
		{nil, 3, ""}, {nil, 4, "another seed"}, {map[string]any{"warehouses": int64(3)}, 3, "another warehouses"}, {map[string]any{"items": int64(61)}, 3, "another items"},
	} {
		more := map[string]any{"load": false}
		maps.Copy(more, c.more)
		r := small(t, more)
		_, err := r.steps[0].Open(t.Context(), workload.Env{DB: db, Seed: c.seed, Results: true})
		expect.True(t, (c.want != "" || err == nil) && (c.want == "" || err != nil && strings.Contains(err.Error(), c.want)), c.more, c.seed, err)
	}
	r := small(t, map[string]any{"load": false})
	workloadtest.Lockstep(t, r, db, 3) // its conditions hold
}

// A row that is lost while the mix runs makes the step wrong, even if no condition
// shows it.
func TestLostOrder(t *testing.T) {
	r := small(t, nil)
	db := loaded(t, r, 3)
	step := &r.steps[len(r.steps)-1]
	stage, err := step.Open(t.Context(), workload.Env{DB: db, Seed: 3, Results: true})
	expect.NoError(t, err)
	stage.(*mixStage).start.payments++ // as if a payment had vanished
	f, err := stage.Finish(t.Context(), nil)
	expect.True(t, err == nil && len(f.Broken) == 1 && strings.Contains(f.Broken[0], "the tables hold"), f.Broken, err)
}

// Ten terminals with the standard's waits enter at most 12.86 orders a minute.
func TestMostPerMinute(t *testing.T) {
	if n := 10 * mostPerMinute(); math.Abs(n-12.86) > 0.005 {
		t.Error(n)
	}
	s := small(t, map[string]any{"waits": 2.0, "clients": []int64{10}}).steps
	if r := s[len(s)-1].Groups[0].Ops[newOrder].Rules; math.Abs(r.MostPerMinute-6.43) > 0.005 || r.P90 != 5*time.Second {
		t.Errorf("%+v", r)
	}
}

// A deck has exactly the mix; orders and payments have the shares of the standard.
func TestMix(t *testing.T) {
	r := small(t, map[string]any{"warehouses": int64(10), "items": int64(100_000), "customers_per_district": int64(3000)})
	term := &user{sizes: r.sizes, constants: newConstants(1), source: gen.NewSource(gen.NewStream(2)), homeID: 3, districtID: 4}
	var done [kinds]int64
	var lines, remote, rolled, far, named, local float64
	const draws = 100_000
	for range draws {
		term.draw()
		done[term.kind]++
		switch term.kind {
		case newOrder:
			lines += float64(len(term.lines))
			if term.rollsBack {
				rolled++
				lines++
			}
			for i := range term.lines {
				l := &term.lines[i]
				if l.supplier != 3 {
					remote++
				}
				expect.Must(t, i <= 0 || l.supplier >= term.lines[i-1].supplier && (l.supplier != term.lines[i-1].supplier || l.item >= term.lines[i-1].item), term.lines)
			}
			if term.allLocal {
				local++
			}
		case payment:
			if term.cw != 3 {
				far++
			}
			if term.c == 0 {
				named++
			}
		}
		expect.Must(t, term.w == 3 && (term.kind != stockLevel || term.d == 4), "warehouse", term.w, "district", term.d)
	}
	for k, n := range done {
		expect.True(t, n == cards[k]*draws/deckSize, kindNames[k], n, draws)
	}
	entered, paid := float64(done[newOrder]), float64(done[payment])
	for subject, c := range map[string][3]float64{
		"lines of an order": {lines / entered, 10, 0.1}, "remote lines": {remote / lines, 0.01, 0.001}, "rolled back": {rolled / entered, 0.01, 0.0025},
		"remote payments": {far / paid, 0.15, 0.009}, "by last name": {named / paid, 0.6, 0.012},
	} {
		expect.True(t, math.Abs(c[0]-c[1]) <= c[2], subject, c[0], c[1])
	}
	expect.True(t, local != 0 && local != entered, local, "of", entered, "orders are local")
}

// Stocks never fall below ten after an order, and lines of one item add up.
func TestTake(t *testing.T) {
	r := small(t, map[string]any{"warehouses": int64(1), "items": int64(20), "style": batch, "transactions": int64(600)})
	db := loaded(t, r, 8)
	ordered := map[int64]int64{}
	for _, row := range loadedRows(t, db, orderLine) {
		if row[2].Int() > 12 { // entered by the mix
			ordered[row[4].Int()] += column(t, orderLine, row, "ol_quantity").Int()
		}
	}
	for _, row := range loadedRows(t, db, stock) {
		id, pieces, sold := row[1].Int(), row[2].Int(), column(t, stock, row, "s_ytd").Int()
		expect.True(t, sold == ordered[id] && pieces >= 10, id, pieces, sold, ordered[id])
	}
}

// A customer of bad credit has the payment in front of the data.
func TestBadCredit(t *testing.T) {
	db := loaded(t, small(t, nil), 3)
	seen := 0
	for _, row := range loadedRows(t, db, customer) {
		data := column(t, customer, row, "c_data").Buf()
		at := bytes.IndexByte(data, '|')
		bad := string(column(t, customer, row, "c_credit").Buf()) == badCredit
		if paidAgain := column(t, customer, row, "c_payment_cnt").Int() > 1; (at > 0) != (bad && paidAgain) {
			t.Errorf("customer %v: %q", row[:3], data)
		}
		if at > 0 {
			seen++
			if fields := strings.Fields(string(data[:at])); len(fields) != 6 || fields[0] != row[2].String() {
				t.Errorf("customer %v: %q", row[:3], data[:at])
			}
		}
	}
	expect.True(t, seen != 0, "no customer of bad credit has paid")
}

func TestMoney(t *testing.T) {
	for cents, want := range map[int64]string{100: "1.00", 500_000: "5000.00", 1234: "12.34", 5: "0.05"} {
		expect.Equal(t, string(appendMoney(nil, cents)), want, cents)
	}
	term := &inputs{lines: []line{{amount: 1000}, {amount: 2500}}}
	if got := term.charge(1500, 1000); got != 3622 { // 35.00 × 0.9 × 1.15
		t.Errorf("an order costs %d", got)
	}
}

// A transaction allocates nothing once its statements are prepared.
func TestNoAllocation(t *testing.T) {
	r := small(t, map[string]any{"warehouses": int64(3)})
	db := open(t, null.Engine{}, r)
	stage, err := r.openMix(t.Context(), "mix", 1, workload.Env{DB: db}, false)
	expect.NoError(t, err)
	c := workloadtest.Alone(t, db, stage, 0)
	ctx, ready := t.Context(), c.(workload.Readier)
	var out workload.Outcome
	once := func() {
		out = workload.Outcome{}
		expect.NoError(t, cmp.Or(ready.Ready(ctx), c.Do(ctx, &out)))
	}
	for range 2000 {
		once()
	}
	if n := testing.AllocsPerRun(1000, once); n > 0 {
		t.Errorf("%v allocations per transaction", n)
	}
}
