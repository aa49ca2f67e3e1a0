package compare

import (
	"fmt"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Key names a number of a step, whatever the target and the trial.
type Key struct {
	Group, Op, Metric, Per string
	Labels                 metric.Labels // of a part of the step
}

// PerOf reports whether the number is per unit of an operation kind.
func (k Key) PerOf(op string) bool { return metric.PerOf(k.Per, op) }

// About reports whether the number belongs to an operation kind, or is per unit of it.
func (k Key) About(op string) bool { return op != "" && k.Op == op || k.PerOf(op) }

// KeyOf returns the key of a row.
func KeyOf(r *metric.Row) Key { return Key{r.Group, r.Op, r.Metric, r.Per, r.Labels} }

// Number is the trials' numbers of a target under a key: the median, and the
// rows that it was made of.
type Number struct {
	Key
	Value, Low, High float64 // the median, the least and the greatest of the trials
	Unit, Source     string
	Count            int64           // operations, intervals or units behind it, over all trials
	Rows             []*metric.Row   // one per trial that has it
	Trials           []*result.Trial // of the rows
	steps            []*result.Step  // of the rows
	Warnings         []metric.Warning
	Missing          string // why there is no number; "" if there is one
	// MaxOf is the number of samples if they are too few for the percentile: the number
	// is then the greatest of them. 0: the number matches its key.
	MaxOf int64
}

// Number returns the number under a key on a target.
func (s *stepRuns) Number(t *Target, k Key) Number { return *s.number(t, k) }

func (s *stepRuns) number(t *Target, k Key) *Number {
	numbers := s.seenOn(t).numbers
	n := numbers[k]
	if n == nil {
		n = &Number{Key: k, Missing: s.Absence(t, k)}
		numbers[k] = n
	}
	return n
}

// numbersOf makes all numbers of a target.
func numbersOf(used []Run) map[Key]*Number {
	out := map[Key]*Number{}
	for _, r := range used {
		for i := range r.Step.Rows {
			if row := &r.Step.Rows[i]; quantity.Finite(row.Value) {
				k := KeyOf(row)
				if out[k] == nil {
					out[k] = &Number{Key: k}
				}
				out[k].add(row, r)
			}
		}
	}
	for _, n := range out {
		values := n.Values()
		n.Value, n.Low, n.High = stat.Median(values), slices.Min(values), slices.Max(values)
	}
	for k, n := range out {
		if few := n.few(); few > 0 {
			greatest := k
			_, greatest.Metric, _ = metric.Percentile(k.Metric)
			n.become(out[greatest], few)
		}
	}
	return out
}

// few returns the least number of samples among the trials that have too few for the
// number's percentile; 0 if none has too few.
func (n *Number) few() (lowest int64) {
	for _, r := range n.Rows {
		if r.Few() && (lowest == 0 || r.N < lowest) {
			lowest = r.N
		}
	}
	return lowest
}

// become replaces a percentile of too few samples by the greatest of them, in all
// trials: the trials' numbers must be of one kind.
func (n *Number) become(greatest *Number, few int64) {
	key := n.Key
	if greatest == nil {
		*n = Number{Key: key, Missing: fmt.Sprintf("%d samples, and %s", few, metric.Needs(key.Metric))}
		return
	}
	*n = *greatest
	n.Key, n.MaxOf = key, few
}

// known reports whether the number matches its key: a percentile of too few
// samples does not.
func (n *Number) known() bool { return n.Missing == "" && n.MaxOf == 0 }

// Few returns the remark that the number is the maximum of few samples; "" if it is not.
func (n *Number) Few() string {
	if n.MaxOf == 0 {
		return ""
	}
	return fmt.Sprintf("max of %d", n.MaxOf)
}

// add adds a trial's row. A second one of the same trial is left out.
func (n *Number) add(row *metric.Row, r Run) {
	if len(n.Trials) > 0 && n.Trials[len(n.Trials)-1] == r.Trial {
		return
	}
	n.Rows, n.Trials, n.steps = append(n.Rows, row), append(n.Trials, r.Trial), append(n.steps, r.Step)
	n.Unit, n.Source = row.Unit, row.Source
	n.Count += row.N
	n.Warnings = metric.AppendNew(n.Warnings, row.Warnings...)
}

// Values returns the trials' values.
func (n Number) Values() []float64 {
	return stat.Values(n.Rows, func(r *metric.Row) float64 { return r.Value })
}

// Disturbed reports whether the number may include other programs' activity: then
// it is shown with its warning, but not compared.
func (n Number) Disturbed() bool {
	return slices.ContainsFunc(n.Rows, func(r *metric.Row) bool { return r.Disturbed })
}

// AtLeast reports whether the number is only a lower bound.
func (n Number) AtLeast() bool {
	return slices.ContainsFunc(n.Rows, func(r *metric.Row) bool { return r.AtLeast })
}

// little reports whether each trial read or wrote too little in all.
func (n *Number) little() bool {
	m := metric.ByName(n.Metric)
	return m.Family == metric.Storage && m.Unit == "KB" && !slices.ContainsFunc(n.Rows, func(r *metric.Row) bool {
		return r.N == 0 || r.Value*float64(r.N) > metric.LittleIO
	})
}

// Over returns n ÷ base; ok is false if it has no meaning.
func (n Number) Over(base Number) (ratio float64, ok bool) {
	if n.Missing != "" || base.Missing != "" || base.Value == 0 || n.MaxOf+base.MaxOf > 0 || n.Disturbed() ||
		base.Disturbed() || n.unlike(base) != "" {
		return 0, false
	}
	ratio = n.Value / base.Value
	return ratio, quantity.Finite(ratio) // to next to nothing there is none
}

// unlike returns the reason if the number has a different meaning than base, "" if it
// has the same.
func (n Number) unlike(base Number) string {
	if n.Metric == metric.SpaceAmplification {
		return n.unlikeSpace(base)
	}
	return n.unlikeSplit(base)
}

// unlikeSpace compares the kinds of space counted. A source that was not recorded
// matches any other.
func (n Number) unlikeSpace(base Number) string {
	for _, r := range n.Rows {
		for _, b := range base.Rows {
			found := r.Source != "" && b.Source != ""
			complete := metric.WholeSpace(r.Source) && metric.WholeSpace(b.Source)
			if found && !complete && r.Source != b.Source {
				return fmt.Sprintf("%s is measured differently on the two sides: %s; and %s", n.Metric, b.Source, r.Source)
			}
		}
	}
	return ""
}

// unlikeSplit compares the parts measured for the engine apart from its clients: that is
// possible only if they are separate processes.
func (n Number) unlikeSplit(base Number) string {
	if m := metric.ByName(n.Metric); m == nil || !m.Split || len(n.Trials) == 0 || len(base.Trials) == 0 {
		return ""
	}
	if n.Trials[0].Hosting == base.Trials[0].Hosting {
		return ""
	}
	return n.Metric + " of an embedded engine, which shares a process with its clients, and of a server cannot be " +
		"compared: compare cpu_us"
}

// Absence returns why a target has no number under a key.
func (s *stepRuns) Absence(t *Target, k Key) string {
	if len(s.Runs[t]) == 0 {
		if s.Copied(t.Trials[0]) {
			return t.Name + ": its data had been loaded before"
		}
		reason := "it did not reach this step"
		for _, trial := range t.Trials {
			if trial.Reason != "" {
				reason += ": " + trial.Reason
				break
			}
		}
		return t.Name + ": " + reason
	}
	if f := metric.FamilyOf(k.Metric); f == metric.Response || f == metric.Lateness {
		return fmt.Sprintf("no rate was promised here (closed loop), so there is no %s time", f)
	}
	return "not measured here"
}
