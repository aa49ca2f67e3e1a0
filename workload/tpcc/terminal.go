package tpcc

import (
	"context"
	"errors"
	"math"
	"time"

	"rumbench/engine"
	"rumbench/internal/gen"
	"rumbench/model"
	"rumbench/workload"
)

// terminal performs transactions. Their inputs are drawn before they begin, and kept
// until they are completed or given up.
type terminal struct {
	stage      *mixStage
	source     *gen.Source
	clock      int64 // in ms since 1970; it ticks with each transaction
	homeID     int64 // its warehouse
	districtID int64 // its district, for Stock-Level
	deck       [deckSize]kind
	played     int // cards of the deck
	drawn      bool
	inputs
	statements
	tally
	did  totals // by the attempt
	data []byte // memory for a customer's data, and for that of a payment
}

// inputs are what a terminal's user enters. They have many fields, of which each
// transaction uses some.
type inputs struct {
	kind      kind
	w, d      int64 // of the terminal
	cw, cd, c int64 // the customer; c 0: by last name
	lastName  []byte
	amount    int64 // of a payment, in cents
	carrier   int64
	threshold int64
	lines     []line // of a New-Order, in the order of their stocks
	rollsBack bool   // a last line has an unused item; it is not in lines
	allLocal  bool
	total     int64   // what the terminal shows in the end: cents, or low stocks
	recent    []int64 // items of the last orders, for Stock-Level
}

// tally is what a terminal's completed transactions have done.
type tally struct {
	totals
	done           [kinds + 1]int64
	remoteLines    int64
	remotePayments int64
	skipped        int64 // districts without an order to deliver
	uncertain      int64 // commits of which it is unknown whether they were done
	wrong          int64
	firstWrong     string
}

func (t *tally) add(o *tally) {
	t.totals.add(&o.totals)
	for k, n := range o.done {
		t.done[k] += n
	}
	t.remoteLines += o.remoteLines
	t.remotePayments += o.remotePayments
	t.skipped += o.skipped
	t.uncertain += o.uncertain
	if t.wrong == 0 {
		t.firstWrong = o.firstWrong
	}
	t.wrong += o.wrong
}

// Ready waits for the terminal's user, who thinks and then enters the inputs.
func (t *terminal) Ready(ctx context.Context) error {
	if t.drawn {
		return nil
	}
	thinks := think[t.kind] // of the transaction before
	t.draw()
	t.drawn = true
	if t.stage.waits == 0 {
		return nil
	}
	seconds := t.stage.waits * (keying[t.kind].Seconds() + thinks.Seconds()*min(-math.Log(1-t.source.Unit()), 10))
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Abandon drops the inputs.
func (t *terminal) Abandon() { t.drawn = false }

func (t *terminal) draw() {
	t.clock += int64(len(t.stage.terminals))
	t.kind = t.drawKind()
	t.w, t.d = t.homeID, between(t.source, 1, districts)
	if t.stage.p.String("binding") == anyHome {
		t.w = between(t.source, 1, t.stage.warehouses)
	}
	switch t.kind {
	case newOrder:
		t.drawNewOrder()
	case payment:
		t.drawPayment()
	case orderStatus:
		t.cw, t.cd = t.w, t.d
		t.drawCustomer()
	case delivery:
		t.carrier = between(t.source, 1, 10)
	case stockLevel:
		t.d, t.threshold = t.districtID, between(t.source, 10, 20)
	}
}

// drawKind draws a card; a deck that is used up is shuffled again.
func (t *terminal) drawKind() kind {
	if t.stage.p.String("mix") == weights {
		n := t.source.Uniform(deckSize)
		for k := kind(0); ; k++ {
			if n -= cards[k]; n < 0 {
				return k
			}
		}
	}
	if t.played %= deckSize; t.played == 0 {
		t.shuffle()
	}
	t.played++
	return t.deck[t.played-1]
}

func (t *terminal) shuffle() {
	n := 0
	for k, count := range cards {
		for range count {
			t.deck[n] = kind(k)
			n++
		}
	}
	for i := deckSize - 1; i > 0; i-- {
		j := t.source.Uniform(int64(i) + 1)
		t.deck[i], t.deck[j] = t.deck[j], t.deck[i]
	}
}

// drawCustomer draws a customer of the warehouse and district: 60 % by last name.
func (t *terminal) drawCustomer() {
	t.c, t.lastName = 0, t.lastName[:0]
	if chance(t.source, 60) {
		names := min(t.stage.customers, lastNames)
		t.lastName = appendLastName(t.lastName, nurand(t.source, nurandName, t.stage.constants.nameRun, 0, names-1))
		return
	}
	t.c = t.drawID()
}

func (t *terminal) drawID() int64 {
	return nurand(t.source, nurandID, t.stage.constants.id, 1, t.stage.customers)
}

// errRollback ends a New-Order that its user rolls back.
var errRollback = errors.New("the user rolls back")

// Do performs the transaction, in one transaction of the database.
func (t *terminal) Do(ctx context.Context, out *workload.Outcome) error {
	out.Kind = int(t.kind)
	t.did, t.counts = totals{}, t.kind == orderStatus || t.kind == stockLevel
	before := t.tally
	err := t.Begin(ctx, out)
	if err == nil {
		err = t.perform(ctx, out)
	}
	if err == nil {
		if err = t.Commit(ctx, out); err != nil {
			before.noteCommit(err)
		}
	}
	if err != nil {
		undone := t.Rollback(ctx, err, out)
		if err != errRollback || undone != nil {
			t.tally = before
			return errors.Join(err, undone)
		}
		out.Kind, out.Bytes = int(rolledBack), 0
		t.did = totals{}
	}
	t.totals.add(&t.did)
	t.done[out.Kind]++
	out.Rows = 1
	t.drawn = false
	return nil
}

func (t *terminal) perform(ctx context.Context, out *workload.Outcome) error {
	switch t.kind {
	case newOrder:
		return t.enter(ctx, out)
	case payment:
		return t.receive(ctx, out)
	case orderStatus:
		return t.status(ctx, out)
	case delivery:
		return t.deliverAll(ctx, out)
	}
	return t.countLow(ctx, out)
}

// noteCommit notes a commit of which it is unknown whether it was done.
func (t *tally) noteCommit(err error) {
	if class := engine.ClassOf(err); !class.Yields() && class != engine.Duplicate {
		t.uncertain++
	}
}

// need notes a row that is missing, and that nobody deletes.
func (t *terminal) need(found bool, what string) {
	if found || !t.stage.checked {
		return
	}
	if t.wrong++; t.wrong == 1 {
		t.firstWrong = kindNames[t.kind] + ": " + what + " is missing"
	}
}

// now returns the time of the transaction.
func (t *terminal) now() model.Value { return at(t.clock) }
