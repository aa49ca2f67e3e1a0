package tpcc

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// mixStage is a running step of transactions. It holds the state that its terminals
// share.
type mixStage struct {
	*run
	env       workload.Env
	constants constants
	checks    bool // the conditions are checked at the end
	checked   bool // all rows that transactions need exist
	waits     float64
	draws     gen.Stream
	clock     int64       // at the beginning, in ms since 1970
	start     totals      // the totals of the tables at the beginning
	terminals []*terminal // of this process
	number    int64       // of all terminals
	counted   *tally      // of the terminals of all processes; nil: this one has all
}

func (r *run) openMix(ctx context.Context, name string, terminals int64, env workload.Env, checks bool) (workload.Stage,
	error) {
	if !r.now.known {
		r.seed = env.DataSeed()
		r.now = state{totals: r.loaded(), whole: env.Results}
		if env.Results {
			if err := workload.InSession(ctx, env.DB, r.meet); err != nil {
				return nil, err
			}
		}
		r.now.known = true
	}
	return &mixStage{
		run: r, env: env, constants: newConstants(r.seed), checks: checks, checked: env.Results && r.now.whole,
		waits: r.p.Float("waits"), start: r.now.totals, number: terminals,
		draws: stream(env.Seed, name).Sub(uint64(r.now.orders)), // different from earlier steps
		clock: start + r.now.orders*1000,
	}, nil
}

// meet prepares for tables that another process has loaded.
func (r *run) meet(ctx context.Context, session engine.Session) error {
	want := r.constantsRow(newConstants(r.seed))
	stmt, err := session.Prepare(ctx, &model.Op{Kind: model.Get, Table: constantsTable, Columns: given(constantsTable)})
	if err != nil {
		return err
	}
	var got rows
	if err := stmt.Exec(ctx, []model.Value{integer(1)}, &engine.Result{Each: got.add}); err != nil {
		return err
	}
	for i, name := range given(constantsTable) {
		if got.n == 0 || got.at(0, i) != want[i].Int() {
			return hint.Errorf("load it with the sizes and the seed of this run", "the database was loaded with another %s",
				name)
		}
	}
	for table, n := range map[string]*int64{orders: &r.now.orders, newOrders: &r.now.undelivered, orderLine: &r.now.lines,
		history: &r.now.payments} {
		if *n, err = workload.CountRows(ctx, session, table); err != nil {
			return err
		}
	}
	return nil
}

func (s *mixStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	n := int64(seat.Client)
	t := &terminal{stage: s, clock: s.clock + n, user: s.newUser(n)}
	s.terminals = append(s.terminals, t)
	return t, t.prepare(ctx, seat.Session)
}

// newUser returns the user of terminal n: users of the same warehouse have different
// districts.
func (s *mixStage) newUser(n int64) user {
	return user{
		sizes: s.sizes, constants: s.constants, source: gen.NewSource(s.draws.Sub(uint64(n))),
		homeID: 1 + n%s.warehouses, districtID: 1 + n/s.warehouses%districts,
		anywhere: s.p.String("binding") == anyHome, weighted: s.p.String("mix") == weights,
	}
}

// tally adds up what the terminals of this process have counted.
func (s *mixStage) tally() *tally {
	total := &tally{}
	for _, t := range s.terminals {
		total.add(&t.tally)
	}
	return total
}

// Counts implements workload.Counting.
func (s *mixStage) Counts() []int64 { return workload.Values(s.tally().numbers()) }

// Count implements workload.Counting.
func (s *mixStage) Count(sums []int64) {
	s.counted = &tally{firstWrong: "an answer to a terminal of another process"}
	workload.AddTo(s.counted.numbers(), sums)
}

// Finish checks the tables against the conditions and against the commits of the
// terminals.
func (s *mixStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	total := s.counted
	if total == nil {
		total = s.tally()
	}
	want := s.start
	want.add(&total.changed)
	s.now.totals = want
	s.now.uncertain += total.uncertain
	f.Live = s.live(&want, true)
	f.Notes = s.notes(total)
	if total.wrong > 0 {
		f.Broken = append(f.Broken, fmt.Sprintf("%d answers were wrong; the first: %s", total.wrong, total.firstWrong))
	}
	if !s.checks || !s.checked || s.p.String("check") == checkNone {
		return f, nil
	}
	err = workload.InSession(ctx, s.env.DB, func(ctx context.Context, session engine.Session) error {
		return s.check(ctx, session, false, &f)
	})
	if err != nil {
		return f, err
	}
	if n := s.now.uncertain; n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("of %d commits it is unknown whether they were done, so the rows are not "+
			"compared with the commits", n))
		s.now.uncertain = 0
	} else if got := s.now.totals; got != want { // as counted by the check
		f.Broken = append(f.Broken, fmt.Sprintf("the tables hold %+v, but with what clients have committed it should be %+v",
			got, want))
	}
	return f, nil
}

// unaudited is the disclaimer of the results.
const unaudited = "derived from TPC-C; unaudited; not comparable with published TPC results"

// notes describes the mix.
func (s *mixStage) notes(total *tally) []string {
	var all, entered int64
	for _, n := range total.done {
		all += n
	}
	if entered = total.done[newOrder] + total.done[rolledBack]; all == 0 {
		return []string{unaudited}
	}
	share := func(n, whole int64) float64 { return 100 * float64(n) / float64(max(whole, 1)) }
	waits := "no keying or think times"
	if s.waits > 0 {
		waits = fmt.Sprintf("keying and think times × %.3g", s.waits)
	}
	out := []string{unaudited, fmt.Sprintf("%d warehouses, %d terminals (%.3g per warehouse), %s, style %s, binding "+
		"%s, no foreign keys",
		s.warehouses, s.number, float64(s.number)/float64(s.warehouses), waits, s.p.String("style"),
		s.p.String("binding"))}
	if s.sizes != (sizes{s.warehouses, standardCustomers, standardUndelivered, standardItems}) {
		out = append(out, fmt.Sprintf("not the sizes of TPC-C: %d items, and %d customers and %d new orders per district",
			s.items, s.customers, s.undelivered))
	}
	out = append(out, fmt.Sprintf("mix of %d transactions: %.2f %% New-Order, %.2f %% Payment, %.2f %% Order-Status, "+
		"%.2f %% Delivery, %.2f %% Stock-Level",
		all, share(entered, all), share(total.done[payment], all), share(total.done[orderStatus], all),
		share(total.done[delivery], all), share(total.done[stockLevel], all)))
	out = append(out, fmt.Sprintf("%.2f %% of the New-Orders were rolled back by their users (1 %% is expected); they "+
		"are not among new_order", share(total.done[rolledBack], entered)))
	if s.warehouses > 1 {
		out = append(out, fmt.Sprintf("%.2f %% of the order lines (1 %% is expected) and %.1f %% of the payments (15 %%) "+
			"were remote", share(total.remoteLines, total.changed.lines), share(total.remotePayments, total.done[payment])))
	}
	skipped := share(total.skipped, total.done[delivery]*districts)
	return append(out, fmt.Sprintf("deliveries skipped %.2f %% of the districts, as they had no undelivered order "+
		"(TPC-C allows 1 %%)", skipped))
}
