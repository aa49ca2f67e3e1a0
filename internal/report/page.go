package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// Page is the report, ready to be shown in any format.
type Page struct {
	Title     string
	Banners   []string // what a reader must know before any number
	Verdict   []Sentence
	Caution   string // how far the verdict can be trusted
	Facts     []Fact
	Targets   []Legend
	Base      string
	Layers    []Table
	LayerNote []Note
	Relative  Relative
	Sweeps    []Sweep
	Sections  []Section
	Published []Published
	PubNotes  []Note // of the figures measured here that stand beside the published ones
	Space     Table
	SLA       Table
	Client    Table
	Settings  Table
	Plans     Table
	Host      Table
	Glossary  []metric.Metric
	Plan      string
	Commands  []string
	Notes     []Note // of the tables behind the steps
	Rows      []metric.Row

	campaigns []*campaign // whose rows they are: the campaign's, and the client's own
}

// Fact is a line of the head.
type Fact struct{ Name, Value, Warning string }

// Legend tells a target by its marker.
type Legend struct {
	Name, Doc string
	Index     int
}

// Sentence is a statement about a step.
type Sentence struct{ Step, Link, Text string }

// Section is everything about one step.
type Section struct {
	ID, Name, Doc string
	Status        []string // what went wrong, per target
	Folded        bool     // one of very many
	Groups        Table
	Bars          []Bars
	Charts        *Charts
	Curves        []Plot
	MoreCurves    []Plot
	Waits         *Waits // nil where no target tells any
	Tables        []Table
	Notes         []Note
}

// newPage puts the report together. Without series there are no charts over time.
func newPage(in Input, c *campaign, series map[*step][]*track) (*Page, error) {
	if len(c.Targets) == 0 {
		return nil, fmt.Errorf("report %s: no trials", in.Title)
	}
	p := &Page{Title: in.Title, Plan: in.Plan, Commands: in.Commands, Glossary: metric.All(), Base: c.Targets[0].Name, Rows: c.rows, campaigns: []*campaign{c}}
	if p.Title == "" {
		p.Title = c.Targets[0].Trials[0].Campaign
	}
	p.Banners = banners(in, c)
	p.Verdict, p.Caution = c.verdict(), c.caution()
	p.Facts = c.facts()
	for _, t := range c.Targets {
		p.Targets = append(p.Targets, Legend{t.Name, describe(t), t.Index})
	}
	scores := &notes{section: "scorecard"}
	p.Layers = c.scorecard(scores)
	p.LayerNote = scores.list
	p.Relative = c.relative(in.Notes, in.PublishedColours)
	for _, w := range c.sweeps {
		p.Sweeps = append(p.Sweeps, w.section())
	}
	for _, s := range c.steps {
		p.Sections = append(p.Sections, c.section(s, series[s]))
	}
	beside := &notes{section: "published"}
	p.Published = c.published(in.Published, beside)
	p.PubNotes = beside.list
	rest := &notes{section: "end"}
	p.Space, p.SLA = c.spaceTable(rest), c.slaTable()
	p.Settings, p.Host = c.settingsTable(), c.hostTable()
	p.Plans = c.plansTable(in.Trials)
	if in.Client != nil {
		client := newCampaign([]Trial{{Trial: in.Client}}, len(p.Rows))
		p.Client = client.clientTable(rest)
		p.Rows = append(slices.Clip(p.Rows), client.rows...)
		p.campaigns = append(p.campaigns, client)
	}
	p.Notes = rest.list
	return p, nil
}

// banners are the things that a reader must know before any number.
func banners(in Input, c *campaign) []string {
	var out [][]any
	say := func(parts ...any) { out = append(out, parts) }
	if levels := c.Durability(); levels != "" {
		say(DurabilityDiffers(levels))
	}
	if caches := c.UnequalCaches(); caches != "" {
		say("Caches are not equal: " + caches + ". Reads, CPU and memory depend on it.")
	}
	for _, w := range slices.Concat(in.Warnings, c.otherWork()) {
		say(w)
	}
	if differ := c.hostsDiffer(); differ != "" {
		say(differ)
	}
	if apart := ranApart(c.Targets[0], c.Targets); apart != "" {
		say(apart)
	}
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			switch trial.Status {
			case result.Complete:
			case result.Running:
				say(t.Name, ", trial ", trial.Trial, " did not end: it still runs, or was killed. What was measured before is shown.")
			default:
				say(t.Name, ", trial ", trial.Trial, ": ", trial.Status, sentenceTail(trial.Reason, trial.Hint))
			}
			for _, w := range trial.Warnings {
				say(t.Name, ", trial ", trial.Trial, ": ", w)
			}
		}
	}
	return mergedTexts(out)
}

// DurabilityDiffers says that targets promise different things. What can be said
// of their ratios depends on it, so it stands before all else.
func DurabilityDiffers(levels string) string {
	return "Durability differs: " + levels + ". Ratios between them are those of different promises."
}

// otherWork says which targets are not compared with the first one, and in which
// steps, as their work or their promises differ.
func (c *campaign) otherWork() (out []string) {
	base := c.Targets[0]
	for _, t := range c.Targets[1:] {
		steps, all := map[string][]string{}, 0
		var order []string
		for _, s := range c.steps {
			if s.Primary == "" {
				continue
			}
			all++
			if why := s.Unlike(base, t); why != "" {
				order = appendNew(order, why)
				steps[why] = append(steps[why], s.Name)
			}
		}
		for _, why := range order {
			in := ""
			if len(steps[why]) < all {
				in = " in " + joined(steps[why])
			}
			out = append(out, fmt.Sprintf("%s is not compared with %s%s: %s.", t.Name, base.Name, in, why))
		}
	}
	return out
}

func sentenceTail(reason, hint string) string {
	s := "."
	if reason != "" {
		s = ": " + strings.TrimSuffix(reason, ".") + "."
	}
	if hint != "" {
		s += " Hint: " + hint
	}
	return s
}

func describe(t *target) string {
	first := t.Trials[0]
	parts := []string{}
	if first.Engine != "" && first.Engine != t.Name {
		parts = append(parts, first.Engine)
	}
	if first.Structure != "" {
		parts = append(parts, first.Structure)
	}
	var own, server string
	for _, v := range first.Versions {
		switch v.Name {
		case first.Engine, "engine":
			own = v.Value
		case "server":
			server = "server " + v.Value // the engine's own version is its driver's
		}
	}
	if v := cmp.Or(server, own); v != "" {
		parts = append(parts, v)
	}
	return strings.Join(parts, ", ")
}

// facts are the first line: under what the numbers were made.
func (c *campaign) facts() []Fact {
	var list []Fact
	add := func(name string, of func(*result.Trial) string) {
		list = append(list, c.fact(name, of))
	}
	add("workload", func(t *result.Trial) string { return t.Workload })
	add("preset", func(t *result.Trial) string { return t.Preset })
	list = append(list, c.durability())
	add("cache", (*result.Trial).Cache)
	add("seed", func(t *result.Trial) string {
		if t.Imported != nil {
			return "" // not known
		}
		return fmt.Sprint(t.Seed)
	})
	add("interval", func(t *result.Trial) string {
		if t.Interval == 0 {
			return ""
		}
		return seconds(t.Interval)
	})
	add("imported from", func(t *result.Trial) string {
		if t.Imported == nil {
			return ""
		}
		return t.Imported.Tool + ", " + t.Imported.Mode
	})
	add("parameters", func(t *result.Trial) string { return params(t.Params) })
	count := Fact{Name: "trials", Value: fmt.Sprint(len(c.Targets[0].Trials)) + " each"}
	for _, t := range c.Targets {
		if len(t.Trials) != len(c.Targets[0].Trials) {
			count.Value = c.each(func(t *target) string { return fmt.Sprint(len(t.Trials)) })
		}
	}
	list = append(list, count)
	if first := c.began(); !first.IsZero() {
		list = append(list, Fact{Name: "started", Value: first.UTC().Format("2006-01-02 15:04 UTC")})
	}
	return slices.DeleteFunc(list, func(f Fact) bool { return f.Value == "" })
}

// durability is the level with what it means, and of which targets where they
// differ in one of the two.
func (c *campaign) durability() Fact {
	f := c.fact("durability", func(t *result.Trial) string { return t.Durability })
	var texts []string
	of := map[string][]string{}
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			text := trial.DurabilityText()
			texts = appendNew(texts, text)
			of[text] = appendNew(of[text], t.Name)
		}
	}
	if len(texts) > 1 {
		for i, text := range texts {
			texts[i] = strings.Join(of[text], ", ") + ": " + text
		}
	}
	f.Value = strings.Join(texts, "; ")
	return f
}

// began is when the first trial that knows it began.
func (c *campaign) began() (first time.Time) {
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			if at := trial.Started; !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first
}

// fact is a value that all trials should share; it warns when they do not.
func (c *campaign) fact(name string, of func(*result.Trial) string) Fact {
	differ := false
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			differ = differ || of(trial) != of(c.Targets[0].Trials[0])
		}
	}
	if !differ {
		return Fact{Name: name, Value: of(c.Targets[0].Trials[0])}
	}
	value := c.each(func(t *target) string {
		var values []string
		for _, trial := range t.Trials {
			values = appendNew(values, of(trial))
		}
		return strings.Join(values, " or ")
	})
	return Fact{Name: name, Value: value, Warning: "differs between trials: compare with care"}
}

func (c *campaign) each(of func(*target) string) string {
	var parts []string
	for _, t := range c.Targets {
		v := of(t)
		if v == "" {
			v = "not set"
		}
		parts = append(parts, t.Name+": "+v)
	}
	return strings.Join(parts, ", ")
}

func params(p map[string]any) string {
	var parts []string
	for _, name := range sortedKeys(p) {
		parts = append(parts, name+" "+plainValue(p[name]))
	}
	return strings.Join(parts, ", ")
}

// plainValue shows a value of a plan. Numbers read from JSON are floats, and a
// million must not become 1e+06.
func plainValue(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return amount(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
