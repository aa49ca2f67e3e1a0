package verdict

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// differences are those for which a calibration shows the number of trials needed, in
// addition to the difference that the question is about.
var differences = []float64{0.03, 0.10}

// Calibration writes the result of trials of a target against itself for the
// machine: the smallest difference that this many trials detect, and the number
// of trials that given differences need.
func Calibration(w io.Writer, trials []*result.Trial) error {
	c := compare.New(trials)
	if len(c.Targets) != 2 {
		return fmt.Errorf("a calibration has two targets, not %d", len(c.Targets))
	}
	j := c.Judge(c.Targets[0], c.Targets[1])
	blocks := calibration(j)
	for _, w := range MachinesApart(c) {
		blocks = append(blocks, page.Banner(w.Text))
	}
	return page.Text(w, blocks, page.TextStyle{})
}

func calibration(j *compare.Judgement) []page.Block {
	u := unitOf(j)
	heads := []string{"number", "ratio", "noise", "smallest difference"}
	sought := sought(j)
	for _, d := range sought {
		heads = append(heads, u.name+"s for "+quantity.Share(d))
	}
	t := page.Table{Head: "step", Columns: page.Columns(heads...), Groups: []page.Group{{}}}
	var low, high float64
	alarms := 0
	for i := range j.Items {
		it := &j.Items[i]
		if !it.Asked || it.Verdict == "" {
			continue
		}
		if it.Sure() {
			alarms++
		}
		d := it.Detectable()
		if it.Metric() == metric.RowsPerS && !math.IsNaN(d) {
			low, high = min(cmp.Or(low, d), d), max(high, d)
		}
		t.Add(calibrationRow(it, d, sought))
	}
	out := []page.Block{
		page.Prose("", fmt.Sprintf("A/A: %s and %s are the same. What differs is %s noise.", j.Base.Name,
			j.New.Name, u.owner)), t,
		page.Prose("", fmt.Sprintf("Noise: standard deviation of %s. A difference of the size shown is found by "+
			"as many %ss as ran here in nine of ten campaigns, with the correction for all numbers shown.", u.noise, u.name)),
		page.Prose("", u.precision(low, high)),
	}
	if k := slices.IndexFunc(j.Items, func(it compare.Item) bool { return it.Asked && it.Verdict != "" }); k >= 0 {
		if text := byMachine(j, &j.Items[k].Effect); text != "" {
			out = append(out, page.Prose("", strings.TrimSpace(text)))
		}
	}
	if alarms > 0 {
		out = append(out, page.Banner(fmt.Sprintf("%d numbers are called different although nothing differs: something "+
			"here favors one of the two. Look for it before comparing anything.", alarms)))
	}
	return out
}

// sought returns the differences whose number of trials is shown.
func sought(j *compare.Judgement) []float64 {
	out := compare.AppendNew(slices.Clone(differences), j.Question.Smallest())
	slices.Sort(out)
	return out
}

// unit is what counts once in a calibration.
type unit struct {
	name, noise, owner string
	have               int    // of the units
	all                string // in words
}

func unitOf(j *compare.Judgement) unit {
	switch kind := compare.UnitOf(j.Base.Trials, j.New.Trials); kind {
	case compare.MachineUnit, compare.LoadUnit:
		n := kind.Count(j.Base.Trials, j.New.Trials)
		return unit{string(kind), fmt.Sprintf("the ratio between %ss", kind), fmt.Sprintf("these %ss'", kind), n,
			fmt.Sprintf("these %d %ss", n, kind)}
	}
	n := min(len(j.Base.Trials), len(j.New.Trials))
	return unit{"trial", "the ratio of two trials", "this machine's", n, fmt.Sprintf("%d trials of each target", n)}
}

// precision reports which differences in throughput these trials detect.
func (u *unit) precision(low, high float64) string {
	switch {
	case high == 0 && u.name != string(compare.TrialUnit):
		return fmt.Sprintf("%d %ss are too few to say which differences they can detect; at least %d are needed.",
			u.have, u.name, compare.LeastTrials)
	case high == 0:
		return fmt.Sprintf("%d trials of each target are too few to say which differences this machine can detect; at "+
			"least %d are needed.", u.have, compare.LeastTrials)
	case low == high:
		return fmt.Sprintf("With %s differences in throughput are detected from %s on.", u.all, DetectableText(high))
	}
	return fmt.Sprintf("With %s differences in throughput are detected from %s (in the quietest step) to %s (in the "+
		"noisiest).", u.all, DetectableText(low), DetectableText(high))
}

func calibrationRow(it *compare.Item, detectable float64, sought []float64) page.Row {
	row := view.Named(it.Step.Name)
	row.Cells = []page.Cell{page.Words(Name(it.New.Key))}
	add := func(text string, found bool) {
		if !found {
			text = quantity.Unknown
		}
		row.Cells = append(row.Cells, page.Cell{Text: text, Number: true})
	}
	add(effectRatio(it.Ratio), true)
	add(quantity.RoughShare(it.Noise()), !math.IsNaN(it.Noise()))
	add(DetectableText(detectable), !math.IsNaN(detectable))
	for _, d := range sought {
		text, needed := fmt.Sprintf("over %d", compare.MostTrials), it.Needed(d)
		if needed > 0 {
			text = quantity.Whole(float64(needed))
		}
		add(text, needed > 0 || it.Noise() > 0)
	}
	return row
}

// DetectableText formats a relative difference: a share, or a factor if it exceeds 2.
func DetectableText(d float64) string {
	if d > 1 {
		return "a factor of " + quantity.Digits(1+d)
	}
	return quantity.RoughShare(d)
}

// Passage is whether a gate lets a comparison pass.
type Passage int

// The passages, the worst last.
const (
	Passed    Passage = iota
	Undecided         // something cannot be judged
	Stopped           // a regression
)

// Gate is the result of a gate on the question of a judgement.
type Gate struct {
	Passage
	Text  string   // the answer
	Lines []string // a number each
}

// GateOf judges the question of a judgement as a gate. A strict gate also stops numbers
// that do not exclude a regression.
func GateOf(j *compare.Judgement, strict bool) (g Gate) {
	found := j.Outcome()
	list := func(finding string, items []*compare.Item, text func(*compare.Item) string) {
		for _, it := range items {
			g.Lines = append(g.Lines, fmt.Sprintf("%s: %s in %s", finding, Pair(j.Base, j.New), text(it)))
		}
	}
	list("regression", found.Worse, Guess)
	if strict {
		list("not excluded", found.Open, Guess)
	}
	list("not judged", found.Blind, func(it *compare.Item) string { return Subject(it) + ": " + it.Why })
	matters := 100 * compare.Matters(&j.Question)
	if !strict {
		list("not judged", found.Weak, func(it *compare.Item) string {
			return fmt.Sprintf("%s: %.3g %% matters, and that would not be seen", Guess(it), matters) + limit(it.Detectable())
		})
	}
	switch {
	case len(found.Worse) > 0:
		g.Passage, g.Text = Stopped, "a regression is proven in "+quantity.Count(len(found.Worse), "number")
	case strict && len(found.Open) > 0:
		g.Passage, g.Text = Stopped, "a regression is not excluded in "+quantity.Count(len(found.Open), "number")
	case len(found.Blind)+len(found.Weak) > 0:
		g.Passage, g.Text = Undecided, quantity.Count(len(found.Blind)+len(found.Weak), "number")+" cannot be judged"
	case found.Judged == 0:
		g.Passage, g.Text = Undecided, "nothing that is asked about was measured"
	case strict:
		g.Text = fmt.Sprintf("a regression of %g %% is excluded in all numbers asked about", matters)
	default:
		g.Text = "no regression is proven"
	}
	return g
}

// limit says what trials could see at least.
func limit(detectable float64) string {
	if math.IsNaN(detectable) {
		return ""
	}
	return ", as differences below " + DetectableText(detectable) + " may stay unseen"
}

// Conditions judges conditions on comparisons as a gate, in the named steps or in all.
func Conditions(conditions []*compare.Gate, list []*compare.Judgement, steps []string) (g Gate, err error) {
	var holds, blind []string
	for _, one := range conditions {
		if err := one.Check(list...); err != nil {
			return g, err
		}
		judged, previous := 0, len(blind)
		for _, c := range list {
			found, err := one.Find(c, steps)
			if err != nil {
				return g, err
			}
			judged += found.Judged
			place := fmt.Sprintf("%s: %s in ", one, Pair(c.Base, c.New))
			for i := range found.True {
				holds = append(holds, place+FindingText(&found.True[i]))
			}
			for _, text := range found.Blind {
				blind = append(blind, place+text)
			}
		}
		if judged == 0 && len(blind) == previous {
			blind = append(blind, fmt.Sprintf("%s: its metrics are not known on both sides of any step", one))
		}
	}
	g.Lines = slices.Concat(holds, blind)
	switch {
	case len(holds) > 0:
		g.Passage, g.Text = Stopped, "a condition holds in "+quantity.Count(len(holds), "place")
	case len(blind) > 0:
		g.Passage, g.Text = Undecided, "a condition cannot be judged in "+quantity.Count(len(blind), "place")
	}
	return g, nil
}
