package explain

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/observe/profile"
	"rumbench/internal/text/quantity"
)

// sampled is CPU time in µs per unit that is known by samples, and its standard error.
type sampled struct{ value, err float64 }

// subsystems returns the mean CPU time of each subsystem of the engine; nil unless it was sampled in all runs.
func (s *Side) subsystems() map[string]sampled {
	out := map[string]sampled{}
	n := float64(len(s.runs))
	for i := range s.runs {
		found := false
		for row := range s.runs[i].rows(metric.CPUUS) {
			name := row.Labels.Subsystem
			if name == "" || name == string(profile.Clients) {
				continue
			}
			found = true
			o := out[name]
			out[name] = sampled{o.value + row.Value/n, math.Hypot(o.err, row.Value/math.Sqrt(float64(max(1, row.N)))/n)}
		}
		if !found {
			return nil
		}
	}
	return out
}

// where names the subsystems in which the greatest parts of a difference of the engine's CPU time are, as far as
// samples can tell; "" if these are not known.
func where(s *Step, c *Cause) string {
	const named, part, errors = 3, 0.1, 2
	base, other := s.Base.subsystems(), s.New.subsystems()
	if base == nil || other == nil {
		return ""
	}
	grown := func(name string) float64 { return (other[name].value - base[name].value) / (c.New - c.Base) }
	names := slices.Collect(maps.Keys(other))
	for name := range base {
		if _, both := other[name]; !both {
			names = append(names, name)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		noise := errors * math.Hypot(base[name].err, other[name].err)
		return name == string(profile.Unknown) || grown(name) < part || math.Abs(other[name].value-base[name].value) < noise
	})
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(grown(b), grown(a)), cmp.Compare(a, b)) })
	return filled(": in %s", quantity.Joined(quantity.Texts(names[:min(named, len(names))], func(name string) string {
		return fmt.Sprintf("%s %s", name, instead(quantity.Micros, base[name].value, other[name].value))
	})))
}
