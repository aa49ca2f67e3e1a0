package tpcc

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// terminal performs transactions. Their inputs are drawn before they begin, and kept
// until the transactions are completed or given up.
type terminal struct {
	stage *mixStage
	clock int64 // in ms since 1970; it ticks with each transaction
	user
	drawn bool
	statements
	tally
	attempt totals // by the attempt
	data    []byte // memory for a customer's data, and for that of a payment
}

// tally counts the results of a terminal's completed transactions.
type tally struct {
	changed        totals
	done           [kinds + 1]int64
	remoteLines    int64
	remotePayments int64
	skipped        int64 // districts without an order to deliver
	uncertain      int64 // commits with an unknown outcome
	wrong          int64
	firstWrong     string
}

func (t *tally) add(o *tally) {
	if t.wrong == 0 {
		t.firstWrong = o.firstWrong
	}
	workload.AddTo(t.numbers(), workload.Values(o.numbers()))
}

// numbers lists all counts.
func (t *tally) numbers() []*int64 {
	c := &t.changed
	out := []*int64{&c.orders, &c.undelivered, &c.lines, &c.payments, &t.remoteLines, &t.remotePayments, &t.skipped,
		&t.uncertain, &t.wrong}
	for k := range t.done {
		out = append(out, &t.done[k])
	}
	return out
}

// Ready waits for the terminal's user, who thinks and then enters the inputs.
func (t *terminal) Ready(ctx context.Context) error {
	if t.drawn {
		return nil
	}
	thinks := think[t.kind] // after the previous transaction
	t.clock += t.stage.number
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
	t.ctx, t.out, t.attempt, t.counts = ctx, out, totals{}, t.kind == orderStatus || t.kind == stockLevel
	previousTally := t.tally
	if t.err = t.Begin(ctx, out); t.err == nil {
		perform[t.kind](t)
	}
	if t.err == nil {
		if t.err = t.Commit(ctx, out); t.err != nil {
			previousTally.noteCommit(t.err)
		}
	}
	if t.err != nil {
		undone := t.Rollback(ctx, t.err, out)
		if t.err != errRollback || undone != nil {
			t.tally = previousTally
			return errors.Join(t.err, undone)
		}
		out.Kind, out.Bytes, t.attempt = int(rolledBack), 0, totals{}
	}
	t.changed.add(&t.attempt)
	t.done[out.Kind]++
	out.Rows = 1
	t.drawn = false
	return nil
}

var perform = [kinds]func(*terminal){(*terminal).enter, (*terminal).receive, (*terminal).status,
	(*terminal).deliverAll, (*terminal).countLow}

// fail ends the transaction with an error, unless it has failed before.
func (t *terminal) fail(err error) { t.err = cmp.Or(t.err, err) }

// one reads a row that no transaction deletes.
func (t *terminal) one(subject string, stmt statement, args ...model.Value) {
	t.read(stmt, args...)
	t.need(t.got.n == 1, subject)
}

// noteCommit counts a commit if its outcome is unknown.
func (t *tally) noteCommit(err error) {
	if class := engine.ClassOf(err); !class.Yields() && class != engine.Duplicate {
		t.uncertain++
	}
}

// need records a missing row that no transaction deletes.
func (t *terminal) need(found bool, subject string) {
	if found || t.err != nil || !t.stage.checked {
		return
	}
	if t.wrong++; t.wrong == 1 {
		t.firstWrong = kindNames[t.kind] + ": " + subject + " is missing"
	}
}

// now returns the time of the transaction.
func (t *terminal) now() model.Value { return at(t.clock) }
