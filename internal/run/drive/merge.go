package drive

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/stat/hist"
)

// Merge returns the result of a step whose clients were in several processes, each with the whole step and
// its own part. No percentile is averaged: distributions are added up.
func Merge(parts []*Result, interval time.Duration) *Result {
	out := &Result{}
	for _, p := range parts {
		out.Window = max(out.Window, p.Window) // to the last operation anywhere
		out.Late = max(out.Late, p.Late)
		if out.Ended == nil {
			out.Ended = p.Ended
		}
	}
	for g := range parts[0].Groups {
		var list []*hist.Group
		for _, p := range parts {
			list = append(list, &p.Groups[g])
		}
		out.Groups = append(out.Groups, hist.Merged(list, interval.Seconds()))
	}
	return out
}

// Joiner adds up the intervals of several processes that run one step. All have begun at one instant and
// count the same intervals; one that has missed a tick has a longer interval, which joins those of the others.
type Joiner struct {
	interval time.Duration
	waiting  [][]*Interval // of each process
	ended    []bool
	last     time.Duration // the end of what was joined
}

// NewJoiner returns a joiner for as many processes.
func NewJoiner(processes int, interval time.Duration) *Joiner {
	return &Joiner{interval: interval, waiting: make([][]*Interval, processes), ended: make([]bool, processes)}
}

// Add adds an interval of a process, and returns those that are complete.
func (j *Joiner) Add(process int, iv *Interval) []*Interval {
	j.waiting[process] = append(j.waiting[process], iv)
	return j.complete()
}

// End says that a process has no more intervals, and returns those that are complete.
func (j *Joiner) End(process int) []*Interval {
	j.ended[process] = true
	return j.complete()
}

// tick returns the number of the tick at which an interval ends. The rest after the last tick ends with the
// one that was to follow.
func (j *Joiner) tick(iv *Interval) int64 {
	round := func(d time.Duration) int64 { return int64((d + j.interval/2) / j.interval) }
	return max(round(iv.To), round(iv.From)+1)
}

func (j *Joiner) complete() (out []*Interval) {
	for {
		instant, found := j.next()
		if !found {
			return out
		}
		var joined *Interval
		for i := range j.waiting {
			var interval *Interval
			for len(j.waiting[i]) > 0 && j.tick(j.waiting[i][0]) <= instant {
				interval = interval.join(j.waiting[i][0], true)
				j.waiting[i] = j.waiting[i][1:]
			}
			if interval != nil {
				joined = joined.join(interval, false)
			}
		}
		joined.From, joined.To = j.last, max(joined.To, j.last+1)
		j.last = joined.To
		out = append(out, joined)
	}
}

// next returns the first tick at which all processes that have not ended have an interval that ends.
func (j *Joiner) next() (instant int64, found bool) {
	var ticks []int64
	for _, list := range j.waiting {
		for _, iv := range list {
			ticks = append(ticks, j.tick(iv))
		}
	}
	slices.Sort(ticks)
	for _, place := range ticks {
		shared := true
		for i, list := range j.waiting {
			shared = shared && (j.ended[i] || slices.ContainsFunc(list, func(iv *Interval) bool { return j.tick(iv) == place }))
		}
		if shared {
			return place, true
		}
	}
	return 0, false
}

// join adds an interval of another process, or one that follows in the same.
func (iv *Interval) join(o *Interval, follows bool) *Interval {
	if iv == nil {
		return o
	}
	iv.To = max(iv.To, o.To)
	for g := range iv.Groups {
		a, b := &iv.Groups[g], &o.Groups[g]
		a.Merge(&b.Totals)
		for i, n := range b.Clients {
			a.Clients[i] += n
		}
		a.Errors += b.Errors
		if follows {
			a.Oldest = 0
		}
		a.Oldest = max(a.Oldest, b.Oldest)
		if q := a.Queue; q != nil && b.Queue != nil {
			if follows {
				q.Waiting = 0
			}
			*q = hist.Queue{Offered: q.Offered + b.Queue.Offered, Started: q.Started + b.Queue.Started,
				Shed: q.Shed + b.Queue.Shed, Waiting: q.Waiting + b.Queue.Waiting}
		}
	}
	return iv
}

// resultJSON is a result on its way to another process.
type resultJSON struct {
	Window time.Duration `json:"window"`
	Late   time.Duration `json:"late"`
	Groups []hist.Group  `json:"groups"`
	Ended  string        `json:"ended,omitempty"`
	Class  engine.Class  `json:"class,omitempty"` // of Ended
}

// MarshalJSON encodes the result; of Ended it keeps the text and the class.
func (r *Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{Window: r.Window, Late: r.Late, Groups: r.Groups}
	if r.Ended != nil {
		out.Ended, out.Class = r.Ended.Error(), engine.ClassOf(r.Ended)
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes what MarshalJSON has encoded.
func (r *Result) UnmarshalJSON(b []byte) error {
	var in resultJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = Result{Window: in.Window, Late: in.Late, Groups: in.Groups}
	if in.Ended != "" {
		r.Ended = engine.Classify(in.Class, errors.New(in.Ended))
	}
	return nil
}
