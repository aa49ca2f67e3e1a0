package report

import (
	"fmt"
	"strings"

	"rumbench/internal/observe"
)

// mostDifferences is how many facts a warning names; the table has all.
const mostDifferences = 5

// hostsDiffer warns when trials ran under facts of the host that differ: then
// a difference between their numbers may come from there. "" says they did not.
func (c *campaign) hostsDiffer() string {
	var names []string
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			for _, f := range trial.Host {
				names = appendNew(names, f.Name)
			}
		}
	}
	var parts []string
	for _, name := range names {
		if !lasting(name) {
			continue
		}
		if text := c.factDiffers(name); text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	more := "."
	if n := len(parts) - mostDifferences; n > 0 {
		parts = parts[:mostDifferences]
		more = fmt.Sprintf("; and %d more, see “Machine and versions”.", n)
	}
	return "Trials ran on hosts that differ: " + strings.Join(parts, "; ") + more
}

// lasting tells whether a fact says something of the host that can change its
// numbers: not what changes from minute to minute, where the data lay, or what
// may be looked at.
func lasting(name string) bool {
	switch name {
	case "load average", "mount point", "kernel.perf_event_paranoid", "hardware counters":
		return false
	}
	return true
}

// factDiffers says which trials have which value of a fact, "" if those that
// have it agree: unknown is not different.
func (c *campaign) factDiffers(name string) string {
	var values []string
	who := map[string][]string{}
	for _, t := range c.Targets {
		var own []string
		trials := map[string][]string{}
		for _, trial := range t.Trials {
			if v := hostValue(trial.Host, name); v != "" {
				own = appendNew(own, v)
				trials[v] = append(trials[v], fmt.Sprint(trial.Trial))
			}
		}
		values = appendNew(values, own...)
		for _, v := range own {
			label := t.Name
			if len(own) > 1 {
				label += " (trial " + joined(trials[v]) + ")"
			}
			who[v] = append(who[v], label)
		}
	}
	if len(values) < 2 {
		return ""
	}
	var parts []string
	for _, v := range values {
		parts = append(parts, v+" for "+joined(who[v]))
	}
	return name + " is " + strings.Join(parts, ", ")
}

// hostValue is a fact in a form that can be compared; "" is unknown.
func hostValue(facts []observe.Fact, name string) string {
	v := factValue(facts, name)
	switch {
	case v == "" && len(facts) > 0 && (name == "cpu quota" || name == "memory limit"):
		return "none" // only limits that are set are told
	case strings.HasPrefix(v, observe.ErrNoDevice.Error()):
		return observe.ErrNoDevice.Error() // the reason names the directory
	}
	return v
}
