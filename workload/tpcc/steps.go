package tpcc

import (
	"context"
	"fmt"
	"time"

	"rumbench/workload"
)

// kind is a kind of transaction.
type kind int

// The kinds. rolledBack is a New-Order that its user rolls back.
const (
	newOrder kind = iota
	payment
	orderStatus
	delivery
	stockLevel
	kinds
	rolledBack = kinds
)

var kindNames = [kinds + 1]string{"new_order", "payment", "order_status", "delivery", "stock_level",
	"new_order rolled back"}

// cards is the number of cards of each kind in a deck, and so the mix in percent.
var cards = [kinds]int64{45, 43, 4, 4, 4}

const deckSize = 100

// The keying times, the mean think times, and the limits of the 90th percentile of
// response times (TPC-C 5.2.5.7).
var (
	keying = [kinds]time.Duration{18 * time.Second, 3 * time.Second, 2 * time.Second, 2 * time.Second, 2 * time.Second}
	think  = [kinds]time.Duration{12 * time.Second, 12 * time.Second, 10 * time.Second, 5 * time.Second, 5 * time.Second}
	limits = [kinds]time.Duration{5 * time.Second, 5 * time.Second, 5 * time.Second, 5 * time.Second, 20 * time.Second}
)

// mostPerMinute returns the maximum number of New-Orders per minute of a terminal with
// the standard's waits: 1.286; the ten terminals of a warehouse reach 12.86.
func mostPerMinute() float64 {
	var cycle float64 // seconds
	for k := range kinds {
		cycle += float64(cards[k]) / deckSize * (keying[k] + think[k]).Seconds()
	}
	return 60 / cycle * float64(cards[newOrder]) / deckSize
}

// opRow is the unit of rates and costs of the load.
const opRow = "row"

func (r *run) build() {
	if r.p.Bool("load") {
		t := r.loaded()
		r.steps = append(r.steps, r.load(), r.index(),
			workload.SettleStep("settle", r.p.Duration("settle_floor"), r.live(&t, false).Rows, " before the mix"))
	}
	r.steps = append(r.steps, workload.ClientSteps(r.p, "mix", "M", r.mix)...)
}

func (r *run) load() workload.Step {
	return workload.Step{
		Name: "load", Creates: true, Divides: true, Primary: opRow, WritesPer: opRow, Access: workload.WriteAccess,
		Doc: "How fast are the nine tables loaded, without secondary indexes?",
		Groups: []workload.Group{
			{Name: "load", Clients: int(r.p.Int("load_clients")), Work: r.batches(),
				Ops: []workload.OpKind{{Name: opRow, Unit: opRow}}},
		},
		Open: func(_ context.Context, env workload.Env) (workload.Stage, error) { return r.openLoad(env) },
	}
}

func (r *run) index() workload.Step {
	return workload.IndexStep("How fast are the indexes on customers' names and on customers' orders built? The "+
		"consistency of the load is checked after it.", 2,
		func(_ context.Context, env workload.Env) (workload.Stage, error) {
			return &indexStage{run: r, env: env}, nil
		})
}

func (r *run) mix(name string, clients int64, _ bool) workload.Step {
	s := workload.Step{
		Name: name, Primary: kindNames[newOrder], WritesPer: kindNames[newOrder], Access: workload.MixedAccess,
		Seconds: r.p.Float("seconds"), Grows: true, Divides: true,
		Doc: fmt.Sprintf("How many orders are entered with the other transactions of the mix, and how fast, by %d "+
			"terminals?", clients),
	}
	g := workload.Group{
		Name: "terminals", Clients: int(clients), RowsPerOp: 1,
		Retry: workload.Retry{Max: int(r.p.Int("retry_max")), Backoff: r.p.Duration("retry_backoff")},
	}
	for k, name := range kindNames {
		reads := kind(k) == orderStatus || kind(k) == stockLevel
		op := workload.OpKind{Name: name, Unit: "transaction", Returns: reads}
		if k < int(kinds) {
			op.Rules = &workload.Rules{P90: limits[k]}
		}
		g.Ops = append(g.Ops, op)
	}
	if waits := r.p.Float("waits"); waits > 0 {
		g.Ops[newOrder].Rules.MostPerMinute = float64(clients) * mostPerMinute() / waits
	}
	if n := r.p.Int("transactions"); n > 0 {
		g.Work, s.Seconds = n, 0
	}
	s.Groups = []workload.Group{g}
	s.Open = func(ctx context.Context, env workload.Env) (workload.Stage, error) {
		return r.openMix(ctx, name, clients, env, name != workload.Warmup)
	}
	return s
}
