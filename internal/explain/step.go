package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Step is the explanation of a step. Its sums are in the order of their differences.
type Step struct {
	Of        *compare.Step
	Base, New Side
	Notes     []Note // that go before the sums
	Sums      []*Sum
	Predicted []Prediction    // the costs that the structures should have
	Rate      *compare.Effect // of the throughput; nil if it was not compared
	Writes    *compare.Effect // of the KB written; nil if they were not
	Why       string          // the reason if throughput is not explained; "" if it is

	differ []compare.Difference // as in Explanation
	single bool                 // by design only one thing differs
	design stat.Design
	moves  []move // the counts that differ
}

// Side is the common data of a step's runs on a target.
type Side struct {
	Target *compare.Target
	Limit  Limit

	step *Step
	runs []run
}

func newSide(step *Step, t *compare.Target, runs []compare.Run) Side {
	s := Side{Target: t, step: step}
	for _, r := range runs {
		s.runs = append(s.runs, run{r.Step, r.Trial, account.UnitsDone(r.Step.Rows, r.Step.Primary, r.Step.Seconds)})
	}
	s.Limit = limitOf(s.runs)
	return s
}

func (s *Step) sides() []*Side { return []*Side{&s.Base, &s.New} }

// describe returns a text about each side that satisfies so, joined.
func (s *Step) describe(so func(*Side) bool, say func(*Side) string) string {
	var texts []string
	for _, side := range s.sides() {
		if so(side) {
			texts = append(texts, say(side))
		}
	}
	return quantity.Joined(texts)
}

// shared returns the greater share of the processors that other programs used beside a side.
func (s *Step) shared() float64 { return max(s.Base.shared(), s.New.shared()) }

// mostShared is the share of the processors that other programs may have had.
const mostShared = 0.10

// asked reports whether the question is about the step.
func (s *Step) asked() bool { return len(s.Of.Asked()) > 0 }

// shapesDiffer reports whether the structures of the sides differ in kind.
func (s *Step) shapesDiffer() bool {
	a, b := s.Base.shape(), s.New.shape()
	return a != b && a != "" && b != ""
}

// unit returns the name of a unit of the step's work: “insert row”.
func (s *Step) unit() string {
	k, _ := s.Of.Own(metric.CPUUS)
	return cmp.Or(k.Per, s.Of.Primary)
}

const throughput = metric.RowsPerS

// effect returns the difference of a number of the step; nil if it was not judged.
func (s *Step) effect(name string) *compare.Effect {
	var own *compare.Effect
	switch name {
	case throughput:
		own = s.Rate
	case metric.WriteKB:
		own = s.Writes
	}
	if sum := s.sumOf(name); own == nil && sum != nil {
		own = sum.Effect
	}
	if own == nil || own.Verdict == "" {
		return nil
	}
	return own
}

// rate returns the step's sum of throughput; nil if it is not explained.
func (s *Step) rate() *Sum { return s.find((*Sum).throughput) }

func (s *Step) sumOf(name string) *Sum {
	return s.find(func(sum *Sum) bool { return sum.Metric == name })
}

// find returns the first sum with a property; nil if there is none.
func (s *Step) find(has func(*Sum) bool) *Sum {
	if i := slices.IndexFunc(s.Sums, has); i >= 0 {
		return s.Sums[i]
	}
	return nil
}

// mean is a mean over the runs of a side; NaN if it is unknown in one.
func (s *Side) mean(value func(*run) float64) (sum float64) {
	for i := range s.runs {
		sum += value(&s.runs[i]) / float64(len(s.runs))
	}
	return sum
}

// per returns the mean of a metric's rows, per the unit of the key; NaN if a run has none, or one that other
// programs disturbed.
func (s *Side) per(name, op string, like compare.Key) float64 {
	return s.mean(func(r *run) float64 {
		if row := metric.Find(r.Rows, name, op, like.Per); row != nil && !row.Disturbed {
			return row.Value
		}
		return math.NaN()
	})
}

// perUnit returns a metric per the unit that CPU is reported per.
func (s *Side) perUnit(name string) float64 {
	k, _ := s.step.Of.Own(metric.CPUUS)
	return s.per(name, "", k)
}

// metric returns the mean of a number of the whole step; NaN if a run has none.
func (s *Side) metric(name string) float64 {
	return s.mean(func(r *run) float64 { return r.whole(name) })
}

// start returns the mean of a gauge before the step: at the end of the one before it in each trial.
func (s *Side) start(name string) float64 {
	return s.mean(func(r *run) float64 { return gauge(r.previous(), name) })
}

// seconds returns the mean length of the step.
func (s *Side) seconds() float64 { return s.mean(func(r *run) float64 { return r.Seconds }) }

// clients returns the number of clients in closed loops of each run.
func (s *Side) clients() []float64 {
	return stat.Values(s.runs, func(r run) float64 { return float64(r.clients()) })
}

// shared returns the share of the processors that other programs used; 0 if it is unknown.
func (s *Side) shared() float64 {
	return s.mean(func(r *run) float64 { return orZero(othersShare(r)) })
}

// processors returns the number of processors, by their time.
func (s *Side) processors() float64 {
	return s.mean(func(r *run) float64 { return r.processors().total() * r.units / (r.Seconds * 1e6) })
}

func (s *Side) embedded() bool { return s.runs[0].trial.Hosting == result.Embedded }

// shape returns the shape of a target's tables.
func (s *Side) shape() engine.Shape { return s.runs[0].Structure.Shape }

func name(s *Side) string { return s.Target.Name }

const (
	// tolerance is the greatest difference of two states, as a share, to be called alike.
	tolerance = 0.10
	// littleKB is an amount per unit that is negligible.
	littleKB = 0.05
)

// filled fills the gap of a format; "" without a text.
func filled(format, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}

// rangeOver returns the range of a number over the steps in which it is known: “low–high”; "" if that is in none.
func rangeOver(steps []*Step, between string, value func(*Step) float64, format func(float64) string) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range steps {
		if v := value(s); !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	switch a, b := format(low), format(high); {
	case math.IsInf(low, 0):
		return ""
	case a == b:
		return a
	default:
		return a + between + b
	}
}

// Note is a remark that a reader of a step needs in addition to its causes.
type Note struct {
	Rule     Rule
	Sentence string
}

// First reports whether the note limits the conclusions about causes.
func (n Note) First() bool {
	return slices.Contains([]Rule{RuleOthers, RuleClient, RuleSerial, RuleStarts, RuleServers}, n.Rule)
}

// Prediction is a cost that a structure must have by a model, next to the measured cost.
// It is evidence for no cause: it shows which costs belong to the structure, and which
// need another explanation.
type Prediction struct {
	Side      *Side
	Metric    string
	Per       string
	Predicted float64 // KB per unit
	Measured  float64
}

// Fits reports whether the structure accounts for the measured cost.
func (p Prediction) Fits() bool {
	r := p.Measured / p.Predicted
	return r >= 0.8 && r <= 1.25
}

func (p Prediction) sentence() string {
	text := fmt.Sprintf("predicted from the structure of %s, %s: %s, measured: %s",
		p.Side.Target.Name, metric.Label(p.Metric)+" per "+p.Per, quantity.Digits(p.Predicted), quantity.Digits(p.Measured))
	if p.Fits() {
		return text + ", as expected"
	}
	return text + fmt.Sprintf(", which is %s× the prediction and not explained", quantity.Digits(p.Measured/p.Predicted))
}
