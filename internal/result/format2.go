package result

import (
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// Format2Step are the lists of a step that have been rows since format 3. They are empty once a file is read.
// As they are promoted, their names tell that they are old.
type Format2Step struct {
	OldCredit *float64      `json:"credit,omitempty"`
	OldSizes  []engine.Size `json:"sizes,omitempty"`
	OldWaits  []struct {
		State, Role, Event string
		Seen               int64
		Share              float64
	} `json:"waits,omitempty"`
	OldClients  []account.ClientMachine `json:"clients,omitempty"`
	OldServers  []account.ServerMachine `json:"servers,omitempty"`
	OldGateways []int                   `json:"gateways,omitempty"` // sessions of each server
}

// Format2Group is how a group held its promise, which rows say since format 3.
type Format2Group struct {
	OldSLA *metric.SLA `json:"sla,omitempty"`
}

// upgrade makes rows of the lists of a step of format 2.
func (t *Trial) upgrade(s *Step) {
	var b account.Builder
	b.All = metric.Row{Target: t.Target, Trial: t.Trial, Step: s.Name}
	for i := range s.Groups {
		g := &s.Groups[i]
		if g.OldSLA != nil {
			b.Promise(g.Name, g.OldSLA)
		}
		g.OldSLA = nil
	}
	for _, w := range s.OldWaits {
		b.Put(metric.WaitShare, w.Share, account.Of("", w.Role), account.Count(w.Seen),
			account.Labelled(metric.Labels{Event: w.Event, State: w.State}))
	}
	for _, z := range s.OldSizes {
		b.ObjectSize(z)
	}
	if s.OldCredit != nil {
		b.Put(metric.DebtGrowthShare, *s.OldCredit)
	}
	for i, n := range s.OldGateways {
		if i == len(s.OldServers) { // on unknown machines
			s.OldServers = append(s.OldServers, account.ServerMachine{Name: fmt.Sprintf("server %d", i+1)})
		}
		s.OldServers[i].Sessions = n
	}
	by := s.unitOfMachines()
	b.ServerMachines(s.OldServers, by)
	b.ClientMachines(s.OldClients, s.Seconds, by)
	for _, row := range b.Rows {
		there := func(o metric.Row) bool {
			return o.Metric == row.Metric && o.Group == row.Group && o.Labels == row.Labels
		}
		if !row.Whole() || !slices.ContainsFunc(s.Rows, there) {
			s.Rows = append(s.Rows, row)
		}
	}
	s.Format2Step = Format2Step{}
}

// unitOfMachines returns what the costs of machines are divided by: the units of the primary operation.
func (s *Step) unitOfMachines() account.Denominator {
	rows := s.Find(metric.Rows, s.Primary, "")
	if rows == nil {
		return account.Denominator{Per: "step", Units: 1}
	}
	by := account.Denominator{Per: s.Primary, Units: rows.Value, N: rows.N}
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Metric == metric.HostCPUUS && metric.PerOf(r.Per, s.Primary) {
			by.Per = r.Per
			break
		}
	}
	return by
}
