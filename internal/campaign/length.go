package campaign

import (
	"fmt"
	"io"
	"strings"

	"rumbench/internal/forecast"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
)

// describeLength prints how long the trials take, and from what that is known.
func describeLength(w io.Writer, c Config, entries []result.Entry) {
	if len(entries) == 0 {
		return
	}
	f := c.Forecast
	if f == nil {
		f = forecast.New(c.Plan, nil)
	}
	all := f.Campaign(entries)
	if all == forecast.AtLeast(0) {
		fmt.Fprintf(w, "how long it takes is not known: no step has a fixed length, and no earlier run of this plan was found\n")
		return
	}
	each := f.Trial(entries[0].Target).Length()
	for _, e := range entries {
		t := f.Trial(e.Target).Length()
		each = forecast.Span{Least: min(each.Least, t.Least), Most: max(each.Most, t.Most)}
	}
	count := quantity.Count(len(entries), "trial")
	if n := len(c.Plan.Targets); len(entries) == n*c.Plan.Trials {
		count = fmt.Sprintf("%s × %s", quantity.Count(n, "target"), quantity.Count(c.Plan.Trials, "trial"))
	}
	fmt.Fprintf(w, "takes %v (%s of %s, %s)\n", all, count, strings.TrimPrefix(each.String(), "about "), basis(f, c, each))
}

// basis names what a forecast is made of.
func basis(f *forecast.Forecast, c Config, each forecast.Span) string {
	from := f.Earlier()
	if from == nil {
		if each.Bounded() {
			return "by the plan's parameters"
		}
		return "steps of a fixed length only; the others take as long as the engine needs"
	}
	text := fmt.Sprintf("from %s of %s", from.Dir, from.Started.Format("2 January"))
	var unknown []string
	for _, t := range c.Plan.Targets {
		if !from.Has(t.Name) {
			unknown = append(unknown, t.Name)
		}
	}
	if len(unknown) > 0 {
		text += ", which has no trial of " + quantity.Joined(unknown)
	}
	return text
}
