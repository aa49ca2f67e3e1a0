package tpcc

import (
	"context"
	"errors"
	"math"
	"time"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// terminal performs transactions. Their inputs are drawn before they begin, and kept
// until they are completed or given up.
type terminal struct {
	stage *mixStage
	clock int64 // in ms since 1970; it ticks with each transaction
	user
	drawn bool
	statements
	tally
	did  totals // by the attempt
	data []byte // memory for a customer's data, and for that of a payment
}

// tally is what a terminal's completed transactions have done.
type tally struct {
	changed        totals
	done           [kinds + 1]int64
	remoteLines    int64
	remotePayments int64
	skipped        int64 // districts without an order to deliver
	uncertain      int64 // commits of which it is unknown whether they were done
	wrong          int64
	firstWrong     string
}

func (t *tally) add(o *tally) {
	t.changed.add(&o.changed)
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
	t.clock += int64(len(t.stage.terminals))
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
	t.changed.add(&t.did)
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
