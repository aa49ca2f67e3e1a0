// Package doctor judges whether this machine is fit to measure on: settings,
// limits and what else runs, why each matters and how to fix it, and which
// packages are missing. It changes nothing but by Install, and measures no engine.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// Status is how good what was found is.
type Status string

// The statuses. What a machine does not show is Unknown, never OK.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // measurements are possible, but blurred, hard to explain or not like those of other hosts
	Bad     Status = "bad"     // measurements would be worthless, or break off
	Unknown Status = "unknown" // it could not be determined
)

// Finding is what one check has found.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	Wanted string `json:"wanted"`
	Why    string `json:"why"`           // it matters
	Fix    string `json:"fix,omitempty"` // commands or an action, one a line; of what is OK none
}

// Report is what all checks have found.
type Report struct {
	Host     string // the machine and the place of the data, in a line
	Findings []Finding
}

// Bad names the checks that found the machine unfit.
func (r *Report) Bad() []string {
	var names []string
	for _, f := range r.findings(Bad) {
		names = append(names, f.Name)
	}
	return names
}

func (r *Report) findings(status Status) []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Status != status })
}

// Options say what to look at.
type Options struct {
	Dir    string        // where data will lie: an existing directory
	Period time.Duration // how long to watch what else runs
	Lock   string        // the file that a running campaign holds locked
}

// Look does all checks. It takes a little longer than the period.
func Look(ctx context.Context, o Options) (*Report, error) {
	m, err := thisMachine(o)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", o.Dir, err)
	}
	m.before = m.sample()
	select {
	case <-time.After(o.Period):
	case <-ctx.Done():
		return nil, fmt.Errorf("watch this host: %w", ctx.Err())
	}
	m.after = m.sample()
	return m.report(), nil
}

// check is one thing to look at.
type check struct {
	name, wanted string
	look         func(*machine) Finding
	reason       string // it matters
}

func checks() []check {
	return slices.Concat(loadChecks(), cpuChecks(), memoryChecks(), storageChecks(), rightChecks())
}

// finding returns what a check finds; its name, and what is wanted and why, are added to it.
func finding(status Status, found, fix string) Finding {
	return Finding{Status: status, Found: found, Fix: fix}
}

func ok(found string) Finding           { return finding(OK, found, "") }
func warn(found, fix string) Finding    { return finding(Warn, found, fix) }
func bad(found, fix string) Finding     { return finding(Bad, found, fix) }
func unknown(found, fix string) Finding { return finding(Unknown, found, fix) }
func notShown(fix string) Finding       { return unknown("the kernel does not show it", fix) }

// graded returns the answer for something that may be bad, or only worth a warning.
func graded(isBad, isWarn bool, found, fix string) Finding {
	switch {
	case isBad:
		return bad(found, fix)
	case isWarn:
		return warn(found, fix)
	}
	return ok(found)
}

// setting returns a check of a fact that has one of some good values, if it is
// shown, with what to do otherwise.
func setting(fact, whereShown string, fix func(*machine) string, good ...string) func(*machine) Finding {
	return func(m *machine) Finding {
		switch found := m.facts.Value(fact); {
		case found == "":
			return notShown(whereShown)
		case slices.Contains(good, found):
			return ok(found)
		default:
			return warn(found, fix(m))
		}
	}
}

func (m *machine) report() *Report {
	r := &Report{Host: m.headline()}
	for _, c := range checks() {
		f := c.look(m)
		f.Name, f.Wanted, f.Why = c.name, c.wanted, c.reason
		r.Findings = append(r.Findings, f)
	}
	return r
}

// headline returns which machine was looked at.
func (m *machine) headline() string {
	s := m.factOr("hostname", "this host") + ": " + m.factOr("cpu", "CPU unknown")
	for _, f := range []struct{ before, name, after string }{
		{"", "cpus online", " CPUs"}, {"", "memory", ""}, {"", "distribution", ""}, {"kernel ", "kernel", ""},
		{"", "virtualization", ""},
	} {
		if v := m.facts.Value(f.name); v != "" {
			s += ", " + f.before + v + f.after
		}
	}
	s += fmt.Sprintf("; data in %s: %s", m.dir, m.factOr("filesystem", "filesystem unknown"))
	if m.device.Name != "" {
		s += " on " + m.device.Name
	}
	return s
}

// factOr returns what a trial's result would record of this machine, or otherwise if that is unknown.
func (m *machine) factOr(name, otherwise string) string {
	return cmp.Or(m.facts.Value(name), otherwise)
}
