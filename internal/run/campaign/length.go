package campaign

import (
	"fmt"
	"io"
	"strings"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/forecast"
	"rumbench/internal/text/quantity"
)

// describeLength prints how long the trials take, and the source of that
// forecast.
func describeLength(w io.Writer, p *plan.Plan, f *forecast.Forecast, entries []result.Entry) {
	if len(entries) == 0 {
		return
	}
	span := onMachines(p, f.Campaign(entries))
	if span == forecast.AtLeast(0) {
		fmt.Fprintf(w, "how long it takes is not known: no step has a fixed length, and no earlier run of this plan was "+
			"found\n")
		return
	}
	each := f.Trial(entries[0].Target, entries[0].Trial).Length()
	for _, e := range entries {
		t := f.Trial(e.Target, e.Trial).Length()
		each = forecast.Span{Least: min(each.Least, t.Least), Most: max(each.Most, t.Most)}
	}
	count := quantity.Count(len(entries), "trial")
	if n := len(p.Targets); len(entries) == n*p.Trials {
		count = fmt.Sprintf("%s × %s", quantity.Count(n, "target"), quantity.Count(p.Trials, "trial"))
	}
	fmt.Fprintf(w, "takes %v (%s of %s, %s)", span, count, strings.TrimPrefix(each.String(), "about "),
		basis(p, f.Earlier()))
	if suffix := beyond(p, f.Trial(entries[0].Target, entries[0].Trial)); f.Earlier() == nil && suffix != "" {
		fmt.Fprintf(w, "; %s", suffix)
	}
	fmt.Fprintln(w)
}

// onMachines returns how long trials take that are spread over machines.
func onMachines(p *plan.Plan, span forecast.Span) forecast.Span {
	machines := len(p.Fleet.Cells)
	if machines == 0 {
		return span
	}
	rounds := time.Duration((p.Trials + machines - 1) / machines)
	share := func(d time.Duration) time.Duration { return d / time.Duration(p.Trials) * rounds }
	span.Least = share(span.Least)
	if span.Bounded() {
		span.Most = share(span.Most)
	}
	return span
}

// basis names the source of a forecast.
func basis(p *plan.Plan, source *forecast.Earlier) string {
	if source == nil {
		return "measured steps only"
	}
	text := fmt.Sprintf("from %s of %s", source.Dir, source.Started.Format("2 January"))
	var unknown []string
	for _, t := range p.Targets {
		if !source.Has(t.Name) {
			unknown = append(unknown, t.Name)
		}
	}
	if len(unknown) > 0 {
		text += ", which has no trial of " + quantity.Joined(unknown)
	}
	return text
}

// beyond returns the parts that are missing in the least length of a trial.
func beyond(p *plan.Plan, t forecast.Trial) string {
	var unknown, out []string
	var extra time.Duration
	for _, part := range t.Parts {
		if !part.Length.Bounded() {
			unknown = append(unknown, part.Name)
		} else {
			extra += part.Length.Most - part.Length.Least
		}
	}
	switch {
	case extra > 0 && p.Until > 0:
		out = append(out, fmt.Sprintf("steps that are not steady take up to %s more per trial", quantity.Length(extra)))
	case extra > 0:
		out = append(out, fmt.Sprintf("probes take up to %s more per trial, and longer at low rates", quantity.Length(extra)))
	}
	switch {
	case len(unknown) > 4:
		out = append(out, fmt.Sprintf("%d steps take as long as the engine needs", len(unknown)))
	case len(unknown) > 1:
		out = append(out, quantity.Joined(unknown)+" take as long as the engine needs")
	case len(unknown) == 1:
		out = append(out, unknown[0]+" takes as long as the engine needs")
	}
	return strings.Join(out, "; ")
}
