package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"rumbench/internal/quantity"
)

// JSON writes a line for each series, with all points and changes.
func JSON(w io.Writer, families []*Family) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, f := range families {
		for _, s := range f.Series {
			line := struct {
				Plan     string         `json:"plan"`
				Workload string         `json:"workload"`
				Params   map[string]any `json:"params"`
				Machine  string         `json:"machine"`
				*Series
				TooFew bool `json:"too_few,omitempty"` // points to distinguish a change from chance
			}{f.Plan, f.Workload, f.Params, f.Machine, s, len(s.Points) < MinRuns}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// View says what of the series to print.
type View struct {
	Least float64 // changes of the level by at least so many percent
	All   bool    // series without such a change too
}

// Text writes for people what Detect found, tested being what it returned.
func Text(w io.Writer, families []*Family, tested int, v View) error {
	var b strings.Builder
	for i, f := range families {
		if i > 0 {
			b.WriteString("\n")
		}
		v.family(&b, f, families)
	}
	if tested > 0 {
		fmt.Fprintf(&b, "\nSeries looked at: %d; of those said to have changed, %.0f %% at most are expected to be chance.\n", tested, 100*FalseShare)
		if n := longest(families); together(n, tested) > 1 {
			fmt.Fprintf(&b, "With %d runs, a change of fewer than %d of them can hardly be distinguished from chance: "+
				"make more runs, or choose fewer series with --target, --step or --metric.\n", n, together(n, tested))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (v View) family(b *strings.Builder, f *Family, all []*Family) {
	first, last := f.Runs[0].Campaign.Started, f.Runs[len(f.Runs)-1].Campaign.Started
	fmt.Fprintf(b, "%s (%s): %s, %s to %s\n", f.Plan, f.Workload, quantity.Count(len(f.Runs), "run"), minute(first), minute(last))
	fmt.Fprintf(b, "  machine: %s\n", cmp.Or(f.Machine, quantity.Unknown))
	if text := f.apart(all); text != "" {
		fmt.Fprintf(b, "  kept apart from other runs of %s by %s\n", f.Plan, text)
	}
	for _, s := range slices.Sorted(maps.Keys(f.LeftOut)) {
		fmt.Fprintf(b, "  left out: %s\n", quantity.Count(f.LeftOut[s], string(s)+" trial"))
	}
	var few, small, quiet int
	for _, s := range f.Series {
		shown := s.notable(v.Least / 100)
		switch {
		case len(s.Points) < MinRuns:
			few++
		case len(s.Changes) == 0:
			quiet++
		case len(shown) == 0:
			small++
		}
		if len(shown) > 0 || v.All {
			s.text(b, shown, s.apart(f.Series))
		}
	}
	if few+small+quiet > 0 {
		b.WriteString("\n")
	}
	if quiet > 0 {
		fmt.Fprintf(b, "  %d series without a change that can be distinguished from chance\n", quiet)
	}
	if small > 0 {
		fmt.Fprintf(b, "  %d series with changes below %g %% only\n", small, v.Least)
	}
	if few > 0 {
		fmt.Fprintf(b, "  %d series with too few runs: %d are needed\n", few, MinRuns)
	}
}

// apart says in what a family differs from the others of its plan.
func (f *Family) apart(all []*Family) string {
	names := map[string]bool{}
	machine := false
	for _, o := range all {
		if o.Plan != f.Plan || o.Workload != f.Workload {
			continue
		}
		machine = machine || o.Machine != f.Machine
		for _, params := range []map[string]any{f.Params, o.Params} {
			for name := range params {
				if jsonOf(f.Params[name]) != jsonOf(o.Params[name]) {
					names[name] = true
				}
			}
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if _, ok := f.Params[name]; ok {
			parts = append(parts, name+"="+jsonOf(f.Params[name]))
		} else {
			parts = append(parts, "no "+name)
		}
	}
	if machine {
		parts = append(parts, "the machine")
	}
	return strings.Join(parts, ", ")
}

// notable are the changes by at least a share of the level.
func (s *Series) notable(share float64) (out []Change) {
	for _, c := range s.Changes {
		if c.moves(share) {
			out = append(out, c)
		}
	}
	return out
}

// apart says what keeps a series apart from others of its family with its name:
// other promises, or other work.
func (s *Series) apart(all []*Series) string {
	var levels, offers bool
	for _, o := range all {
		if o.String() == s.String() {
			levels = levels || o.Durability != s.Durability
			offers = offers || o.Offer != s.Offer
		}
	}
	var parts []string
	if levels {
		parts = append(parts, "durability "+cmp.Or(s.Durability, quantity.Unknown))
	}
	if offers {
		parts = append(parts, "offered "+cmp.Or(s.Offer, quantity.Unknown))
	}
	return strings.Join(parts, "; ")
}

func (s *Series) text(b *strings.Builder, shown []Change, apart string) {
	fmt.Fprintf(b, "\n  %s\n", s)
	if apart != "" {
		fmt.Fprintf(b, "    only runs with %s\n", apart)
	}
	values := s.Values()
	fmt.Fprintf(b, "    %s", quantity.Count(len(values), "run"))
	if n := len(values); n > 0 {
		fmt.Fprintf(b, "  %s  %s … %s, last %s%s", sparkline(values), number(slices.Min(values)), number(slices.Max(values)), number(values[n-1]), s.unit())
	}
	b.WriteString("\n")
	for _, c := range shown {
		s.change(b, c)
	}
	if s.Disturbed > 0 {
		fmt.Fprintf(b, "    left out: %s that other programs disturbed\n", quantity.Count(s.Disturbed, "number"))
	}
	for _, text := range s.warnings() {
		fmt.Fprintf(b, "    ! %s\n", text)
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

func (s *Series) change(b *strings.Builder, c Change) {
	before, after := s.Points[c.At-1], s.Points[c.At]
	fmt.Fprintf(b, "    %s → %s%s", number(c.From), number(c.To), s.unit())
	if c.Ratio != nil {
		fmt.Fprintf(b, ", ×%s", ratio(*c.Ratio))
	}
	if c.Verdict != "" {
		fmt.Fprintf(b, ", %s", c.Verdict)
	}
	fmt.Fprintf(b, "\n      between %s (%s) and %s (%s)\n", before.Dir, minute(before.Started), after.Dir, minute(after.Started))
	if len(c.Facts) == 0 {
		b.WriteString("      no recorded version, setting or fact of the host changed there\n")
	}
	const most = 8
	for i, f := range c.Facts {
		if i == most {
			fmt.Fprintf(b, "      … and %d more: see --json\n", len(c.Facts)-most)
			break
		}
		fmt.Fprintf(b, "      %s %s: %s → %s\n", f.Kind, f.Name, cmp.Or(f.From, quantity.Unknown), cmp.Or(f.To, quantity.Unknown))
	}
}

// warnings are the different warnings on the points, with how many bear each.
// Those that differ in figures only are written once.
func (s *Series) warnings() []string {
	type kind struct {
		example string
		n       int
		alike   bool
	}
	kinds := map[string]*kind{}
	for _, p := range s.Points {
		for _, text := range p.Warnings {
			key := strings.Map(func(r rune) rune {
				if unicode.IsDigit(r) || r == '.' {
					return -1
				}
				return r
			}, text)
			k := kinds[key]
			if k == nil {
				k = &kind{example: text}
				kinds[key] = k
			}
			k.n++
			k.alike = k.alike || k.example != text
		}
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[key]
		text := quantity.Count(k.n, "run") + ": " + k.example
		if k.alike {
			text += ", or alike"
		}
		out = append(out, text)
	}
	return out
}

// longest is the number of points of the longest series.
func longest(families []*Family) (n int) {
	for _, f := range families {
		for _, s := range f.Series {
			n = max(n, len(s.Points))
		}
	}
	return n
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// number writes four significant digits, and all before the point.
func number(v float64) string {
	if math.Abs(v) < 1000 && v != math.Trunc(v) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return quantity.Whole(v)
}

// ratio writes two digits behind the point, or two significant ones if it is small;
// more where it would seem to be 1 and is not.
func ratio(r float64) string {
	switch {
	case r < 0.095:
		return strconv.FormatFloat(r, 'g', 2, 64)
	case math.Abs(r-1) < 0.005:
		return strconv.FormatFloat(r, 'f', 4, 64)
	}
	return strconv.FormatFloat(r, 'f', 2, 64)
}

// unit is what stands behind the series' numbers; of a ratio it is nothing.
func (s *Series) unit() string {
	if s.Unit == "ratio" {
		return ""
	}
	return " " + s.Unit
}
