package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Family is the runs that can be compared with each other: the runs with one plan
// name, workload and parameters, on machines of one kind.
type Family struct {
	Plan     string                `json:"plan"`
	Workload string                `json:"workload"`
	Params   map[string]any        `json:"params"`
	Machine  string                `json:"machine"`       // see machineOf
	Runs     []*Run                `json:"-"`             // in the order to show them in
	Odd      *Odd                  `json:"odd,omitempty"` // nil: no run is, or there is better evidence
	LeftOut  map[result.Status]int `json:"-"`
	Series   []*Series             `json:"-"`

	trials [][]*result.Trial // the complete ones, by run
	byName map[Name]*Series
}

// Name distinguishes a series from the others of its family.
type Name struct {
	Target string `json:"target"`
	Engine string `json:"engine"`
	Step   string `json:"step"`
	Group  string `json:"group,omitempty"`
	Op     string `json:"op,omitempty"`
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Per    string `json:"per,omitempty"`
	// Source is the source of the number, without the device's name.
	Source string `json:"source,omitempty"`
	// Durability is the level, "" if it is unknown.
	Durability string `json:"durability,omitempty"`
	// Offer is the work offered to the clients of the step, see [compare.Step.Offer].
	Offer string `json:"offer,omitempty"`
}

// Series is one number over the runs of a family.
type Series struct {
	Name
	Points []Point `json:"points"`
	// Disturbed counts the trials that are left out because other programs
	// may be in their number.
	Disturbed int      `json:"disturbed,omitempty"`
	Changes   []Change `json:"changes"`
	// Breaks are differences from earlier runs that no test of levels covers.
	Breaks []Change `json:"breaks,omitempty"`

	family *Family
	weight weight
	rate   bool // the main number of a step, and no latency
	// follows and ended: runs before, or later runs, have the number in another series.
	follows, ended bool
}

// weight sorts numbers for a reader: the lightest first. That of a step that only prepares
// others is one more.
type weight int

const (
	weightOfRate    weight = 2 * iota // the main number of a step
	weightOfLatency                   // and all below it
	weightOfCost
	weightOfRest
)

func weightOf(s *compare.Step, k compare.Key) (w weight) {
	goal, _ := compare.Goal(s)
	capacity, _ := compare.Capacity(s)
	switch {
	case k == goal, k == capacity:
		w = weightOfRate
	case metric.IsLatency(k.Metric):
		w = weightOfLatency
	case metric.IsCost(k.Metric):
		w = weightOfCost
	default:
		w = weightOfRest
	}
	if first := s.First(); first.Trial.Prepares(first.Step) {
		w++
	}
	return w
}

// Point is a number of one run.
type Point struct {
	Dir      string    `json:"dir"`
	Started  time.Time `json:"started"`
	Value    float64   `json:"value"`  // the median over the trials
	Trials   int       `json:"trials"` // the number of trials in the median
	Warnings []string  `json:"warnings,omitempty"`

	Remarks []metric.Warning `json:"-"` // the warnings
	trial   *result.Trial    // the first of them
	trials  []*result.Trial
	place   int // of the run in the order of runs
}

// Kind is the kind of a change.
type Kind string

// The kinds of changes.
const (
	Level Kind = "level" // the level changed, and that is hardly chance
	Split Kind = "split" // what was done or promised changed: numbers before and since are not compared
	Open  Kind = "open"  // a main number and a recorded fact changed, but it may be chance
)

// Change is a point of a series at which a new level begins.
type Change struct {
	Kind   Kind   `json:"kind"`
	At     int    `json:"at"`     // the first point on the new level
	Dir    string `json:"dir"`    // its run
	Before string `json:"before"` // the last run on the old level
	// Of a change of the level: the first and the last point at which it may begin, at
	// about 95 % confidence.
	First int     `json:"first,omitempty"`
	Last  int     `json:"last,omitempty"`
	From  float64 `json:"from"` // the old level: the median of its points
	To    float64 `json:"to"`   // the new level
	// Ratio is To ÷ From, nil if From is 0.
	Ratio *float64 `json:"ratio,omitempty"`
	// Verdict is compare.Better, compare.Worse, or "" if neither direction is better, or
	// nothing is proven.
	Verdict compare.Verdict `json:"verdict,omitempty"`
	// Speed is nil if the machine itself was as fast before as since.
	Speed *Speed `json:"machine_speed,omitempty"`
	// Facts are the other changes between the two runs.
	Facts []Fact `json:"facts"`
	Note  string `json:"note,omitempty"` // why it is acknowledged; "" if it is not
}

// Speed is a change of the machine's own speed at the place of a change of a number.
type Speed struct {
	compare.Pace
	// Explains reports that the number is one of time, and changed no more than the machine did.
	Explains bool `json:"explains"`
}

// Odd is the run of a family whose rates are farthest from those of the other runs of its kind on the same
// level. It is a guess: one run proves nothing.
type Odd struct {
	Dir    string `json:"dir"`
	Target string `json:"target"`
	Others int    `json:"others"` // the number of other runs
	// Ratio is the geometric mean of the ratios of the rates.
	Ratio float64   `json:"ratio"`
	Rates []OddRate `json:"rates"` // the one that is farthest in the direction of the mean comes first
	// Speed is how the machine itself differed before the run's trials; nil if it did not.
	Speed *compare.Pace `json:"machine_speed,omitempty"`
}

// OddRate is the main rate of a step in an odd run.
type OddRate struct {
	Name
	Value  float64 `json:"value"`
	Median float64 `json:"median"` // over the other runs
	Ratio  float64 `json:"ratio"`  // of the two
}

// Fact is a fact that differed in the run before.
type Fact struct {
	Kind string `json:"kind"` // see below
	Name string `json:"name"`
	From string `json:"from"` // "" if it was not there
	To   string `json:"to"`   // "" if it is no longer there
}

// The kinds of facts.
const (
	Version  = "version" // of the engine, the server, rumbench or Go
	PlanKey  = "plan"    // a key of the plan that is neither a knob nor a parameter
	Knob     = "knob"    // as the plan asks for
	Setting  = "setting" // as read back from the engine
	HostFact = "host"    // the facts found about the machine
	Work     = "work"    // the workload, a parameter, or the work offered to the clients
	Source   = "source"  // where a number was read
)

// Pick selects the numbers to line up; an empty list picks everything, but an empty
// list of metrics picks the headline numbers of each step.
type Pick struct{ Plans, Targets, Steps, Metrics []string }

func among(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

// Families sorts runs, in the order to show them in, into families with their series.
// Trials that are not complete are left out and counted; copies of a run and
// unreadable parts are left out.
func Families(runs []*Run, pick Pick) []*Family {
	var out []*Family
	byKey := map[string]*Family{}
	for i, r := range runs {
		r.place = i
		if r.CopyOf != "" || r.Campaign == nil || !among(pick.Plans, r.Campaign.Name) {
			continue
		}
		for _, t := range r.Trials {
			machine := machineOf(t.Host)
			key := strings.Join([]string{r.Campaign.Name, t.Workload, ParamText(t.Params), machine}, "\x00")
			f := byKey[key]
			if f == nil {
				f = &Family{Plan: r.Campaign.Name, Workload: t.Workload, Params: t.Params, Machine: machine,
					LeftOut: map[result.Status]int{}, byName: map[Name]*Series{}}
				byKey[key] = f
				out = append(out, f)
			}
			f.take(r, t.Trial)
		}
	}
	for _, f := range out {
		f.fill(pick)
	}
	slices.SortStableFunc(out, func(a, b *Family) int { return cmp.Compare(a.Plan, b.Plan) })
	return out
}

// ParamText formats parameters as in a file, the names in order. They were read from
// a file, so there can be no error.
func ParamText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// take adds a trial of a run; all trials of a run come one after the other.
func (f *Family) take(r *Run, t *result.Trial) {
	if n := len(f.Runs); n == 0 || f.Runs[n-1] != r {
		f.Runs = append(f.Runs, r)
		f.trials = append(f.trials, nil)
	}
	if t.Status != result.Complete {
		f.LeftOut[t.Status]++
		return
	}
	last := &f.trials[len(f.trials)-1]
	*last = append(*last, t)
}

// fill makes the series from the trials.
func (f *Family) fill(pick Pick) {
	for i, r := range f.Runs {
		all := compare.New(f.trials[i])
		for _, target := range all.Targets {
			for _, step := range all.Steps {
				if among(pick.Targets, target.Name) && among(pick.Steps, step.Name) {
					f.addStep(r, target, step, pick.Metrics)
				}
			}
		}
	}
}

func (f *Family) addStep(r *Run, target *compare.Target, step *compare.Step, metrics []string) {
	unfinished := func(run compare.Run) bool { return run.Step.Status != result.Complete }
	if slices.ContainsFunc(step.Used(target), unfinished) {
		return // a step of a complete trial that is not complete: its numbers do not count
	}
	keys := Headline(step)
	if len(metrics) > 0 {
		keys = step.Keys(metrics...)
	}
	for _, k := range keys {
		if n := step.Number(target, k); n.Missing == "" && n.MaxOf == 0 {
			f.addPoint(r, target, step, n)
		}
	}
}

func (f *Family) addPoint(r *Run, target *compare.Target, step *compare.Step, n compare.Number) {
	name := Name{Target: target.Name, Engine: n.Trials[0].Engine, Step: step.Name, Group: n.Group, Op: n.Op,
		Metric: n.Metric, Unit: n.Unit, Per: n.Per,
		Source: sourceKind(n.Source), Durability: compare.Durability(target), Offer: step.Offer(target, n.Key)}
	s := f.byName[name]
	if s == nil {
		s = &Series{Name: name, Points: []Point{}, Changes: []Change{}, family: f, weight: weightOf(step, n.Key)}
		goal, _ := compare.Goal(step)
		s.rate = n.Key == goal && !metric.IsLatency(n.Metric)
		f.byName[name] = s
		f.Series = append(f.Series, s)
	}
	p := Point{Dir: r.Dir, Started: r.Campaign.Started, place: r.place, Remarks: metric.UntypedAll(step.Refusals(target))}
	var values []float64
	for i, row := range n.Rows {
		if row.Disturbed {
			s.Disturbed++
			continue
		}
		if p.trial == nil {
			p.trial = n.Trials[i]
		}
		values, p.trials = append(values, row.Value), append(p.trials, n.Trials[i])
		p.Remarks = metric.AppendNew(p.Remarks, row.Warnings...)
	}
	if p.Trials = len(values); p.Trials > 0 {
		p.Value, p.Warnings = stat.Median(values), metric.Texts(p.Remarks)
		s.Points = append(s.Points, p)
	}
}

// String names the series for people.
func (s *Series) String() string {
	parts := []string{s.Target, s.Step, s.Metric}
	if s.Engine != s.Target {
		parts[0] += " (" + s.Engine + ")"
	}
	name := strings.Join(parts, " · ")
	switch {
	case s.Op != "" && s.Group != s.Op && s.Group != "":
		name += " of " + s.Op + ", group " + s.Group
	case s.Op != "":
		name += " of " + s.Op
	case s.Group != "":
		name += " of group " + s.Group
	}
	if s.Per != "" {
		name += " per " + s.Per
	}
	return name
}

// IsRate reports whether the series is the main number of a step, and no latency.
func (s *Series) IsRate() bool { return s.rate }

// Siblings returns all series of the family.
func (s *Series) Siblings() []*Series { return s.family.Series }

// Values returns the series' values.
func (s *Series) Values() []float64 {
	return stat.Values(s.Points, func(p Point) float64 { return p.Value })
}

// level returns the median from one point up to, but not including, another.
func (s *Series) level(start, end int) float64 { return stat.Median(s.Values()[start:end]) }

// sourceKind returns a source without the name of the device, which may be different
// after the next start of the machine.
func sourceKind(source string) string {
	if strings.HasPrefix(source, "device ") {
		return "device"
	}
	return source
}

// Headline returns the numbers that a step is judged by: throughput and p99 of its
// primary operation, CPU time, KB read and written per unit, the space taken, and
// the stalled seconds.
func Headline(s *compare.Step) []compare.Key {
	keys := s.Headline()
	if k, ok := s.Own(metric.StallS); ok && !slices.Contains(keys, k) {
		keys = append(keys, k)
	}
	return keys
}

// HeadlineRows returns a function that reports whether a row of a trial is one of
// the headline numbers of its step.
func HeadlineRows(t *result.Trial) func(*result.Step, *metric.Row) bool {
	keys := map[string][]compare.Key{}
	for _, s := range compare.New([]*result.Trial{t}).Steps {
		keys[s.Name] = Headline(s)
	}
	return func(s *result.Step, r *metric.Row) bool {
		return slices.Contains(keys[s.Name], compare.KeyOf(r)) && !r.Few()
	}
}

// machineOf returns a line on the kind of machine that a trial ran on. Memory is
// rounded up to whole GiB: the amount that a kernel reserves differs from one
// release to the next.
func machineOf(host observe.Facts) string {
	var parts []string
	for _, name := range observe.FactsThat(observe.SetsKind) {
		v := host.Value(name)
		switch {
		case v == "":
			continue
		case name == "memory":
			v = wholeGiB(v)
		case name != "virtualization" && name != "cpu" && name != "filesystem":
			v = name + " " + v
		}
		parts = append(parts, v)
	}
	return strings.Join(parts, ", ")
}

// wholeGiB rounds a size such as "23.54 GiB" up; a size that it cannot parse is
// returned unchanged.
func wholeGiB(size string) string {
	bytes, err := quantity.RoundSize(size)
	if err != nil || bytes < 1<<20 {
		return size
	}
	return fmt.Sprintf("%.0f GiB", math.Ceil(bytes/(1<<30)))
}
