package report

import (
	"fmt"
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// clientMachines shows what each machine of clients did, if they were on machines of their own.
func clientMachines(v *composer) []page.Section {
	t := page.WordTable([]string{"step", "target", "machine", "operations", "p50", "p99", "processors", "network at least",
		"clock within", "remarks"})
	t.Note = "Of the machines that the clients were on: the share of the operations, percentiles of service times, the " +
		"share of their processors that was busy, the least round trip to the server that their kernels measured (no " +
		"operation can take less), and the bound of the error of their clocks. Of several trials: means, the least trip, " +
		"and the greatest bound."
	addMachines(&t, v, machinesIn)
	return folded(page.Section{ID: "machines", Title: "Machines of the clients", Nav: "Machines"}, t)
}

// addMachines adds a row for each machine that the trials of a target had in a step.
func addMachines[M interface{ words() []string }](t *page.Table, v *composer,
	machines func(trials []*result.Trial, step string) []M) {
	for _, s := range v.Steps {
		for _, target := range v.Targets {
			for _, m := range machines(target.Trials, s.Name) {
				t.AddWords(append([]string{s.Name, target.Name}, m.words()...)...)
			}
		}
	}
}

// meanText returns the mean of what is known, as show writes it.
func meanText(all []float64, show func(float64) string) string {
	if len(all) == 0 {
		return quantity.Unknown
	}
	return show(stat.Mean(all))
}

func roundPercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// clientMachine is a machine of clients in the trials of a target.
type clientMachine struct {
	name                     string
	shares, p50s, p99s, busy []float64
	trip, bound              float64 // trip is 0 if it is unknown
	remarks                  []string
}

// machinesIn returns the machines that were in a step, in the order of the first trial.
func machinesIn(trials []*result.Trial, step string) (out []*clientMachine) {
	for _, t := range trials {
		for i := range t.Steps {
			s := &t.Steps[i]
			if s.Name != step {
				continue
			}
			var all int64
			for _, c := range s.Clients {
				all += c.Ops
			}
			for k := range s.Clients {
				out = addMachine(out, &s.Clients[k], all)
			}
		}
	}
	return out
}

func addMachine(list []*clientMachine, c *result.ClientMachine, all int64) []*clientMachine {
	var m *clientMachine
	for _, known := range list {
		if known.name == c.Name {
			m = known
		}
	}
	if m == nil {
		m = &clientMachine{name: c.Name}
		list = append(list, m)
	}
	if all > 0 {
		m.shares = append(m.shares, float64(c.Ops)/float64(all))
	}
	if c.Ops > 0 {
		m.p50s, m.p99s = append(m.p50s, c.P50), append(m.p99s, c.P99)
	}
	m.busy = append(m.busy, c.Busy)
	if c.MinTrip > 0 && (m.trip == 0 || c.MinTrip < m.trip) {
		m.trip = c.MinTrip
	}
	m.bound = math.Max(m.bound, c.ClockBound)
	for _, text := range c.Saturated {
		m.remark(text)
	}
	if c.Straggler {
		m.remark("its p99 is over twice that of the others")
	}
	if c.Resent > 0 {
		m.remark(quantity.Count(int(c.Resent), "segment") + " sent again")
	}
	return list
}

func (m *clientMachine) remark(text string) {
	m.remarks = compare.AppendNew(m.remarks, text)
}

func (m *clientMachine) words() []string {
	micros := func(v float64) string { return quantity.Digits(v) + " µs" }
	trip := quantity.Unknown
	if m.trip > 0 {
		trip = micros(m.trip)
	}
	return []string{m.name, meanText(m.shares, roundPercent), meanText(m.p50s, micros), meanText(m.p99s, micros),
		meanText(m.busy, roundPercent), trip, fmt.Sprintf("%.2g ms", m.bound), strings.Join(m.remarks, ", ")}
}
