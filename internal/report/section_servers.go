package report

import (
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// serverMachines shows what each machine of a cluster's servers had to do.
func serverMachines(v *view) []page.Section {
	t := page.WordTable([]string{"step", "target", "machine", "sessions", "CPU µs", "read KB", "write KB", "sent KB",
		"received KB", "counted within"})
	t.Note = "Of the machines that the servers were on: the sessions of clients that each was dealt, and what one " +
		"unit of the step cost it, whichever server the unit was sent to. The CPU time is that of the server, reads " +
		"and writes are those of the device under its data, and what was sent and received is that of all network " +
		"interfaces: to clients and to the other servers. The rows add up to the costs of the step. Of several trials: " +
		"means, and the greatest time between the counts of a machine and those of the first."
	for _, s := range v.Steps {
		for _, target := range v.Targets {
			for _, m := range serversIn(target.Trials, s.Name) {
				t.Add(m.row(s.Name, target.Name))
			}
		}
	}
	return folded(page.Section{ID: "servers", Title: "Machines of the servers", Nav: "Servers"}, t)
}

// serverMachine is a machine of a server in the trials of a target: figures per unit, of each trial.
type serverMachine struct {
	name     string
	sessions int
	skew     float64
	figures  [5][]float64
}

// serversIn returns the machines that were in a step, in the order of the first trial.
func serversIn(trials []*result.Trial, step string) (out []*serverMachine) {
	for _, t := range trials {
		for i := range t.Steps {
			s := &t.Steps[i]
			units := 1.0 // of a step without operations
			if rows := s.Find(metric.Rows, s.Primary, ""); rows != nil {
				units = rows.Value
			}
			for k := range s.Servers {
				if s.Name != step || units <= 0 {
					continue
				}
				if k == len(out) {
					out = append(out, &serverMachine{name: s.Servers[k].Name})
				}
				out[k].add(&s.Servers[k], units)
			}
		}
	}
	return out
}

func (m *serverMachine) add(s *result.ServerMachine, units float64) {
	m.sessions, m.skew = s.Sessions, max(m.skew, s.Skew)
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

func (m *serverMachine) row(step, target string) page.Row {
	words := []string{target, m.name, quantity.Whole(float64(m.sessions))}
	for _, all := range m.figures {
		text := quantity.Unknown
		if len(all) > 0 {
			text = quantity.Digits(stat.Mean(all))
		}
		words = append(words, text)
	}
	skew := "–"
	if m.skew > 0 {
		skew = quantity.Digits(m.skew) + " ms"
	}
	row := page.Row{Head: step}
	for _, text := range append(words, skew) {
		row.Cells = append(row.Cells, page.Words(text))
	}
	return row
}
