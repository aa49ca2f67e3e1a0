package divided

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/run/drive"
)

// running is a load that runs in the parts.
type running struct {
	*Conductor
	began   time.Time
	join    *drive.Joiner
	done    []*Outcome // of each part; nil: it runs
	heard   []time.Time
	seen    []time.Duration // the end of the last interval of each part
	ticks   []int           // how many intervals each had
	uses    [][]use         // of each part, in whole intervals
	shown   []Use           // of the parts since the last interval that was passed on
	led     []bool          // no client that the load waits for is at work in a part
	missing int
	ended   error // why the load ended early, by the part that did so first; nil: it did not
	ending  bool  // the parts have been asked to end
}

// run begins a load, and returns when it has ended in all parts and the head has its outcome, or the start is to be
// tried again.
func (c *Conductor) run(ctx context.Context) error {
	began, err := c.arm(ctx)
	if err != nil || began.IsZero() {
		return err
	}
	n := len(c.Parts)
	r := &running{Conductor: c, began: began, join: drive.NewJoiner(n, c.load.Interval), done: make([]*Outcome, n),
		heard: make([]time.Time, n), seen: make([]time.Duration, n), uses: make([][]use, n), shown: make([]Use, n),
		led: make([]bool, n), ticks: make([]int, n), missing: n}
	for i := range r.heard {
		r.heard[i] = r.began
		r.shown[i].Machine = c.Parts[i].Machine
	}
	clocks := time.NewTicker(clockEvery)
	defer clocks.Stop()
	measured := make(chan []Offset, 1)
	for r.missing > 0 {
		over, cancel := context.WithTimeout(ctx, time.Second)
		e, err := c.next(over)
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case over.Err() != nil && err != nil && e.Kind == "" && !e.gone: // nothing has come
			err = nil
		case err == nil && e.peer == head:
			r.end()
		case err == nil:
			err = c.wrong(e.peer, r.take(&e))
		}
		if err != nil {
			return c.lost(err, fmt.Sprintf(" %.1f s into the load", max(0, time.Since(r.began).Seconds())))
		}
		if err := r.silent(); err != nil {
			return err
		}
		select {
		case <-clocks.C:
			go func() {
				if o, err := c.offsets(ctx, shortTrips); err == nil { // else the next may succeed
					select {
					case measured <- o:
					default:
					}
				}
			}()
		case o := <-measured:
			c.drift(o)
		default:
		}
	}
	return r.finish(ctx)
}

// take takes a message of a part, or returns why it cannot be true.
func (r *running) take(e *event) (wrong doubt) {
	i, passed := e.peer, time.Since(r.began)
	longest := passed + passed/500 + clockSlack + 2*r.clocks[i].Bound
	switch {
	case e.Kind == Tick && r.done[i] == nil:
		if wrong = r.load.interval(e.Interval, r.seen[i], longest); wrong != "" {
			return wrong
		}
		if r.ticks[i]++; r.ticks[i] > int(longest/r.load.Interval)+2 {
			return doubt(fmt.Sprintf("it had %d intervals in %v", r.ticks[i], passed))
		}
		r.heard[i], r.seen[i] = time.Now(), e.Interval.To
		r.note(i, e.Interval)
		r.pass(r.join.Add(i, &e.Interval.Interval))
	case e.Kind == Led && !r.led[i]:
		r.heard[i] = time.Now()
		if r.led[i] = true; !slices.Contains(r.led, false) {
			r.broadcast(Message{Kind: Stop})
		}
	case e.Kind == Done && r.done[i] == nil:
		if wrong = r.load.outcome(e.Outcome, longest); wrong != "" {
			return wrong
		}
		r.done[i] = e.Outcome
		r.missing--
		r.pass(r.join.End(i))
		if ended := e.Outcome.Result.Ended; ended != nil {
			r.ended = cmp.Or(r.ended, engine.Classify(engine.ClassOf(ended), errors.New(line(ended.Error()))))
			r.end()
		}
	}
	return ""
}

// note keeps what an interval cost the machine.
func (r *running) note(i int, iv *Interval) {
	u := iv.Machines[0]
	var ops int64
	for g := range iv.Groups {
		for _, n := range iv.Groups[g].Clients {
			ops += n
		}
	}
	if iv.To-iv.From >= r.load.Interval/2 {
		r.uses[i] = append(r.uses[i], use{u.Use, ops, iv.To - iv.From})
	}
	r.shown[i].CPU += u.CPU
	r.shown[i].Queue += u.Queue
	r.shown[i].Busy, r.shown[i].Net = u.Busy, u.Net
}

// pass passes intervals on that are complete.
func (r *running) pass(intervals []*drive.Interval) {
	for _, iv := range intervals {
		r.Head.Line.Say(Message{Kind: Tick, Interval: &Interval{Interval: *iv, Machines: append([]Use{}, r.shown...)}})
		for i := range r.shown {
			r.shown[i].Use = observe.Use{}
		}
	}
}

// end has all parts end the load.
func (r *running) end() {
	if !r.ending {
		r.ending = true
		r.broadcast(Message{Kind: Abandon})
	}
}

// silent returns an error if a part says nothing: it was to report an interval.
func (r *running) silent() error {
	for i, heard := range r.heard {
		if passed := time.Since(heard); r.done[i] == nil && passed > r.Silence+r.load.Interval {
			return r.lost(&LostError{r.Parts[i].Machine, fmt.Sprintf("it has reported nothing for %.1f s", passed.Seconds())},
				fmt.Sprintf(" %.1f s into the load", heard.Sub(r.began).Seconds()))
		}
	}
	return nil
}

// finish adds up what the parts have done.
func (r *running) finish(ctx context.Context) error {
	r.Head.Line.Say(Message{Kind: Ended}) // first: its counts are those of the load
	if last, err := r.offsets(ctx, fullTrips); err == nil {
		r.drift(last)
	}
	out := &Outcome{Counts: make([]int64, len(r.done[0].Counts))}
	var results []*drive.Result
	for i, d := range r.done {
		results = append(results, d.Result)
		out.Reports = append(out.Reports, Report{UseTotal: d.Reports[0].UseTotal, Machine: r.Parts[i].Machine,
			Clock: r.clocks[i]})
		if len(d.Counts) != len(out.Counts) {
			return &LostError{Text: "the machines of clients counted different things: the operations are unknown"}
		}
		out.Lag = max(out.Lag, d.Lag)
		for k, n := range d.Counts {
			out.Counts[k] += n
		}
	}
	ceilings := make([]float64, len(r.Parts))
	for i, p := range r.Parts {
		if p.Ceiling != nil {
			ceilings[i] = p.Ceiling(r.task.Step)
		}
	}
	judge(r.load, results, out, r.uses, ceilings, r.clocks[len(r.Parts)].Bound)
	out.Result = drive.Merge(results, r.load.Interval)
	out.Result.Ended = r.ended
	r.Head.Line.Say(Message{Kind: Done, Outcome: out})
	return nil
}

// drift widens the bounds of clocks by what they have run apart since the start.
func (c *Conductor) drift(now []Offset) {
	for i := range now {
		c.clocks[i].Bound = max(c.clocks[i].Bound, (now[i].Ahead-c.clocks[i].Ahead).Abs()+now[i].Bound)
	}
}
