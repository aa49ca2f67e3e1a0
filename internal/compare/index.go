package compare

import (
	"slices"

	"rumbench/internal/metric"
)

// seen holds the values derived once from a step's runs on a target.
type seen struct {
	used     []Run
	refusals []Refusal
	offers   []offer
	numbers  map[Key]*Number
}

// seenOn returns the derived values of a target in the step. They are computed on
// first use.
func (s *stepRuns) seenOn(t *Target) *seen {
	if o := s.on[t]; o != nil {
		return o
	}
	used := usedOf(s.Runs[t])
	o := &seen{used: used, refusals: reasonsOf(used), offers: offersOf(used), numbers: numbersOf(used)}
	s.on[t] = o
	return o
}

// keyIndex are the keys of a step's rows on all targets, each once.
type keyIndex struct {
	all      []Key            // of what is compared, in the order of the rows
	byMetric map[string][]Key // the keys of the whole step by metric
	parts    map[string][]Key // the keys of its parts, which have labels, by metric
	asked    int              // how many of the headline the question is about; they come first
	headline []Key            // the numbers asked about, then the other numbers that describe the step
	judged   []Key            // those of the headline, then all others
	at       map[Key]int      // places in judged
}

// index returns the key index, which it makes on the first call.
func (s *Step) index() *keyIndex {
	if s.keys != nil {
		return s.keys
	}
	x := &keyIndex{byMetric: map[string][]Key{}, parts: map[string][]Key{}, at: map[Key]int{}}
	s.keys = x
	known := map[Key]bool{}
	for _, r := range s.runsInOrder() {
		for i := range r.Step.Rows {
			row := &r.Step.Rows[i]
			k := KeyOf(row)
			if known[k] {
				continue
			}
			known[k] = true
			if !row.Whole() {
				x.parts[k.Metric] = append(x.parts[k.Metric], k)
				continue
			}
			x.byMetric[k.Metric] = append(x.byMetric[k.Metric], k)
			if m := metric.ByName(k.Metric); m == nil || !m.Uncompared {
				x.all = append(x.all, k)
			}
		}
	}
	x.headline = s.asked()
	x.asked = len(x.headline)
	x.headline = AppendNew(x.headline, s.headline()...)
	for _, k := range slices.Concat(x.headline, x.all) {
		if _, twice := x.at[k]; !twice {
			x.at[k] = len(x.judged)
			x.judged = append(x.judged, k)
		}
	}
	return x
}

// Keys returns the different keys with one of the metrics, in the order of the
// metrics, then of the rows.
func (s *Step) Keys(metrics ...string) []Key {
	var out []Key
	for _, m := range metrics {
		out = append(out, s.index().byMetric[m]...)
	}
	return out
}

// Parts returns the different keys of a metric's numbers of parts of the step, in the order of the rows.
func Parts(s *Step, name string) []Key { return s.index().parts[name] }

// AllKeys returns the different keys of all rows, in the order of the rows.
func (s *Step) AllKeys() []Key { return slices.Clip(s.index().all) }

// Find returns the first key with the metric that fits, on any target; numbers
// of the whole step come before those of a group.
func (s *Step) Find(metric string, fits func(Key) bool) (k Key, ok bool) {
	for _, own := range s.index().byMetric[metric] {
		switch {
		case ok && own.Group != "" || !fits(own):
		case own.Group == "":
			return own, true
		default:
			k, ok = own, true
		}
	}
	return k, ok
}
