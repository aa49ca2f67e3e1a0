package report

import (
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// serverMachines shows what each machine of a cluster's servers had to do.
func serverMachines(v *composer) []page.Section {
	t := page.WordTable([]string{"step", "target", "machine", "sessions", "per", "server CPU µs", "read KB",
		"write KB", "sent KB", "received KB", "processors busy", "memory", "counted within"})
	t.Note = "Of the machines that the servers were on: the sessions of clients that each was dealt, and what one " +
		"unit of the step cost it, whichever server the unit was sent to. The CPU time is that of the server, reads " +
		"and writes are those of the device under its data, and what was sent and received is that of all network " +
		"interfaces but the machine's to itself: to clients and to the other servers. The rows add up to the server's CPU " +
		"time and the device's reads and writes of the step. Of several trials: means, the highest memory, and the " +
		"greatest time between the counts of a machine and those of the first. A trial in which a machine's counts are " +
		"unknown is left out."
	addMachines(&t, v, serversIn)
	return folded(page.Section{ID: "servers", Title: "Machines of the servers", Nav: "Servers"}, t)
}

// serverMachine is a machine of a server in the trials of a target: figures per unit, of each trial.
type serverMachine struct {
	name     string
	sessions int
	per      string
	skew     float64
	memory   int64
	busy     []float64
	figures  [5][]float64
}

// serversIn returns the machines that were in a step, in the order of the first trial.
func serversIn(trials []*result.Trial, step string) (out []*serverMachine) {
	for _, t := range trials {
		for i := range t.Steps {
			s := &t.Steps[i]
			units, per := 1.0, "step" // without operations
			if rows := s.Find(metric.Rows, s.Primary, ""); rows != nil {
				units, per = rows.Value, unitOf(s)
			}
			for k := range s.Servers {
				if s.Name != step || units <= 0 {
					continue
				}
				if k == len(out) {
					out = append(out, &serverMachine{name: s.Servers[k].Name})
				}
				if out[k].per = per; k < len(s.Gateways) {
					out[k].sessions = s.Gateways[k]
				}
				out[k].add(&s.Servers[k], s.Servers, units)
			}
		}
	}
	return out
}

// unitOf names the unit of a step's primary operation, as its costs do.
func unitOf(s *result.Step) string {
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Metric == metric.HostCPUUS && metric.PerOf(r.Per, s.Primary) {
			return r.Per
		}
	}
	return s.Primary
}

// add adds what a machine had to do in a trial, if that is known of all machines: rows must add up.
func (m *serverMachine) add(s *result.ServerMachine, all []result.ServerMachine, units float64) {
	m.skew, m.memory = max(m.skew, s.Skew), max(m.memory, s.Memory)
	if slices.ContainsFunc(all, func(o result.ServerMachine) bool { return o.Busy == nil }) {
		return
	}
	m.busy = append(m.busy, *s.Busy)
	const nanos, bytes = 1e3, 1024
	for i, f := range []struct {
		value *float64
		unit  float64
	}{{s.CPU, nanos}, {s.Read, bytes}, {s.Written, bytes}, {s.Sent, bytes}, {s.Got, bytes}} {
		if f.value != nil {
			m.figures[i] = append(m.figures[i], *f.value/f.unit/units)
		}
	}
}

func (m *serverMachine) words() []string {
	words := []string{m.name, quantity.Whole(float64(m.sessions)), m.per}
	for _, all := range m.figures {
		words = append(words, meanText(all, quantity.Digits))
	}
	memory, skew := quantity.Unknown, "–"
	if m.memory > 0 {
		memory = quantity.Bytes(m.memory)
	}
	if m.skew > 0 {
		skew = quantity.Digits(m.skew) + " ms"
	}
	return append(words, meanText(m.busy, roundPercent), memory, skew)
}
