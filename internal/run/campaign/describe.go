package campaign

import (
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"rumbench/engine/fsize"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/ratesearch"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// Describe prints the course of a campaign without running it.
func Describe(w io.Writer, c Config) error {
	entries, err := remaining(c)
	if err != nil {
		return err
	}
	p := c.Plan
	fmt.Fprintf(w, "campaign %s: workload %s", p.Name, p.Workload)
	if p.Preset != "" {
		fmt.Fprintf(w, ", preset %s", p.Preset)
	}
	fmt.Fprintf(w, "\n\n")
	live := describeSteps(w, p)
	peak, need := Need(c)
	fmt.Fprintf(w, "\nat most %d rows, %s of user data with index entries\n", live.Rows, quantity.Bytes(live.Bytes))
	f := c.Forecast
	if f == nil {
		f = forecast.New(c.Plan, nil)
	}
	describeLength(w, c.Plan, f, entries)
	describeStart(w, p)
	describeTargets(w, p.Targets)
	fmt.Fprintf(w, "\n%s\n", heading(c))
	for _, e := range entries {
		for i, t := range p.Targets {
			if t.Name == e.Target {
				size := "up to " + quantity.Bytes(need[i]) + " on disk"
				if t.Config.Server.DSN != "" {
					size = "its size on the server's disk is unknown"
				}
				fmt.Fprintf(w, "  %-20s engine %-8s %s%s\n", e.Dir, t.Engine, size, profiledText(c.Plan, e))
			}
		}
	}
	if len(c.Programs) > 0 {
		fmt.Fprintf(w, "\nservers' programs, which were asked what they are\n")
	}
	for _, f := range c.Programs {
		fmt.Fprintf(w, "  %s %s  %s\n", f.Kind, f.Version, f.Place())
	}
	describeBuilds(w, c.Builds)
	describeStop(w, p.Stop)
	fmt.Fprint(w, betweenText(p.Between))
	describeHooks(w, "before", p.Before)
	describeHooks(w, "after", p.After)
	describeExpected(w, c, f)
	if c.Plan.Fleet.Any() {
		return nil // whose disks are looked at when the campaign begins
	}
	attached := func(t plan.Target) bool { return t.Config.Server.DSN != "" }
	if len(slices.DeleteFunc(slices.Clone(p.Targets), attached)) == 0 {
		return nil
	}
	free, err := fsize.Free(fsize.Existing(c.Dir))
	if err == nil {
		fmt.Fprintf(w, "\ndisk: up to %s needed at a time, %s free under %s\n", quantity.Bytes(peak), quantity.Bytes(free),
			fsize.Existing(c.Dir))
	}
	return nil
}

// describeSteps prints the steps, also those of targets whose parameters change them,
// and returns the size of the largest data of a target.
func describeSteps(w io.Writer, p *plan.Plan) (largest workload.Live) {
	byName := map[string][]string{} // the targets with these steps
	for _, t := range p.Targets {
		ownPlan := p.For(&t)
		text, live := stepsText(ownPlan), ownPlan.Run.Estimate(ownPlan.Steps())
		byName[text] = append(byName[text], t.Name)
		largest = workload.Live{Rows: max(largest.Rows, live.Rows), Bytes: max(largest.Bytes, live.Bytes)}
	}
	fmt.Fprintf(w, "steps\n%s", stepsText(p))
	delete(byName, stepsText(p))
	for _, text := range slices.Sorted(maps.Keys(byName)) {
		fmt.Fprintf(w, "\nsteps of %s\n%s", quantity.Joined(byName[text]), text)
	}
	return largest
}

// stepsText returns the steps of a plan, one a line.
func stepsText(p *plan.Plan) string {
	var w strings.Builder
	for _, s := range p.Steps() {
		describeStep(&w, &s)
		if p.Find != nil && plan.OpenGroup(&s) >= 0 {
			describeFind(&w, p.Find, &s)
		}
	}
	return w.String()
}

// describeStart prints how trials come by data that they do not load.
func describeStart(w io.Writer, p *plan.Plan) {
	switch s := p.Start; {
	case s.Loaded():
		fmt.Fprintf(w, "each trial begins after %s with a copy of the data, none of it in the page cache; each target is "+
			"loaded %s%s\n", s.Copy, quantity.Count(s.Loads, "time"), unlimited(p.Targets))
		if s.Bases != "" {
			fmt.Fprintf(w, "loaded data are kept in %s, and not loaded if they are there\n", s.Bases)
		}
	case s.Any():
		fmt.Fprintf(w, "each trial begins with a copy of its target's data, none of it in the page cache\n")
	}
}

// unlimited says that targets are loaded without limits, and which are loaded together.
func unlimited(targets []plan.Target) (text string) {
	if slices.ContainsFunc(targets, func(t plan.Target) bool { return t.Machine.Limited() }) {
		text = ", with all memory and CPUs"
	}
	if slices.ContainsFunc(targets, func(t plan.Target) bool { return t.Loader != "" }) {
		text += "; its levels share the data"
	}
	return text
}

// describeHooks prints the plan's commands at one end.
func describeHooks(w io.Writer, end string, h plan.Hooks) {
	for _, c := range [][2]string{{"the campaign", h.Campaign}, {"each trial", h.Trial}, {"each step", h.Step}} {
		if c[1] != "" {
			fmt.Fprintf(w, "\n%s %s, if --hooks is given: %s\n", end, c[0], c[1])
		}
	}
}

// describeBuilds prints the programs that run the trials, if there are several
// or it is not this one.
func describeBuilds(w io.Writer, builds result.Builds) {
	if self, err := os.Executable(); len(builds) == 1 && err == nil && builds[0].Path == self {
		return
	}
	for i, b := range builds {
		if i == 0 {
			fmt.Fprintf(w, "\nprograms that run the trials\n")
		}
		fmt.Fprintf(w, "  %s  for %s\n", b.Path, strings.Join(b.Targets, ", "))
	}
}

// describeTargets prints the plan's settings for each target, sizes in one
// form.
func describeTargets(w io.Writer, targets []plan.Target) {
	fmt.Fprintf(w, "\ntargets\n")
	for _, t := range targets {
		fmt.Fprintf(w, "  %-18s engine %s", t.Name, t.Engine)
		for _, knob := range slices.Sorted(maps.Keys(t.Knobs)) {
			fmt.Fprintf(w, ", %s %s", knob, t.Knobs[knob])
		}
		for _, name := range t.Own {
			fmt.Fprintf(w, ", params.%s %v", name, t.Params[name])
		}
		fmt.Fprintln(w)
	}
}

// remaining returns the trials that a campaign would run: those of a campaign that
// is resumed without the complete ones, unless their partner in a duet is not.
func remaining(c Config) (out []result.Entry, err error) {
	if !c.Resume {
		return append(Entries(c.Plan), profiledEntries(c.Plan)...), nil
	}
	state, err := result.ReadCampaign(c.Dir)
	if err != nil {
		return nil, err
	}
	for _, block := range blocks(state.Trials) {
		for _, e := range block {
			if e.Status != result.Complete || c.Plan.Order == plan.Duet && !complete(block) {
				out = append(out, e)
			}
		}
	}
	return append(out, slices.DeleteFunc(slices.Clone(state.Profiled),
		func(e result.Entry) bool { return e.Status == result.Complete })...), nil
}

// heading returns how the trials that are listed below it are run.
func heading(c Config) string {
	switch {
	case len(c.Plan.Fleet.Cells) == 1:
		return "trials, in this order, " + c.Plan.Fleet.Cells[0].String()
	case c.Plan.Fleet.Divided():
		cells := quantity.Texts(c.Plan.Fleet.Cells, func(c plan.Cell) string { return c.String() })
		return "trials, in this order, those of one number in one place: " + strings.Join(cells, "; ")
	case c.Plan.Fleet.Any():
		return "trials, in this order, those of one number on one of the machines " + strings.Join(c.Plan.Fleet.Names(), ", ")
	case c.Plan.Order != plan.Duet:
		return "trials, in this order"
	}
	h, err := halves()
	if err != nil {
		return "trials, two at the same time" // Fits returns why they cannot be
	}
	return fmt.Sprintf("trials, two at the same time: the first on processors %v, the second on %v", h.First, h.Second)
}

func describeStop(w io.Writer, s plan.Stop) {
	if s.Precision > 0 {
		fmt.Fprintf(w, "they end early, from %d trials of each target on, when these compare to within ±%g %%\n",
			s.MinTrials, 100*s.Precision)
	}
	if s.Budget > 0 {
		fmt.Fprintf(w, "no block begins that is not expected to end within %v\n", s.Budget)
	}
}

// describeArrivals returns how operations arrive at the clients of a group.
func describeArrivals(a *pace.Arrivals) string {
	const limit = 8 // that can be read
	var rates []string
	segments := a.Segments
	if len(segments) > limit {
		low, greatest := math.Inf(1), 0.0
		for _, g := range segments {
			low, greatest = min(low, g.From, g.To), max(greatest, g.From, g.To)
		}
		segments = nil
		rates = append(rates, fmt.Sprintf("a curve from %.4g to %.4g", low, greatest))
	}
	for _, g := range segments {
		rate := fmt.Sprintf("%.10g", g.From)
		if g.To != g.From {
			rate += fmt.Sprintf(" to %.10g", g.To)
		}
		rates = append(rates, rate)
	}
	text := fmt.Sprintf(", %s arrivals at %s/s", a.Kind, strings.Join(rates, ", "))
	if a.Queue > 0 {
		text += fmt.Sprintf(", at most %d waiting", a.Queue)
	}
	return text
}

// describeFind prints which probes follow a step. How many there will be is not
// known before.
func describeFind(w io.Writer, f *plan.Find, s *workload.Step) {
	text := fmt.Sprintf("search for the highest rate with %s: up to %d probes of %g s", f.Words(), ratesearch.Most,
		f.Length(math.Inf(1), s.Seconds))
	if f.Like.LeadIn > 0 {
		text += fmt.Sprintf(" after %g s of lead-in", f.Like.LeadIn)
	}
	if held := f.Holds(s.Seconds); held > 0 {
		text += fmt.Sprintf("; the answer is held for %g s", held)
	}
	if f.Percentile < 100 {
		text += fmt.Sprintf("; longer below %.0f/s", math.Ceil(f.LeastRate(s.Seconds)*10))
	}
	fmt.Fprintf(w, "  %-8s %s\n", s.Name+"@…", text)
}

func describeStep(w io.Writer, s *workload.Step) {
	if s.Restart != nil {
		fmt.Fprintf(w, "  %-8s restart, caches %s\n", s.Name, s.Restart.Caches)
		return
	}
	if s.Settle != nil {
		fmt.Fprintf(w, "  %-8s settle, at least %v\n", s.Name, s.Settle.Floor)
		return
	}
	var parts []string
	for _, g := range s.Groups {
		part := fmt.Sprintf("%d × %s", g.Clients, g.Name)
		if g.Work > 0 {
			part += ", " + quantity.Count(int(g.Work), "operation")
			if g.RowsPerOp > 1 {
				part += fmt.Sprintf(" of %d rows", g.RowsPerOp)
			}
			part += " each"
		}
		if g.Rate > 0 {
			part += fmt.Sprintf(" at %.6g/s", g.Rate*float64(g.Clients))
			if g.Clients > 1 {
				part += " in all"
			}
		}
		if g.Arrivals != nil {
			part += describeArrivals(g.Arrivals)
		}
		parts = append(parts, part)
	}
	if s.Seconds > 0 {
		parts = append(parts, quantity.AsDuration(s.Seconds).String())
	}
	fmt.Fprintf(w, "  %-8s %s\n", s.Name, strings.Join(parts, "; "))
}
