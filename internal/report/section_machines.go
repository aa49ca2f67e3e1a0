package report

import (
	"cmp"
	"fmt"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// machineColumn is a figure of machines: how it is shown, and what is shown of several trials.
type machineColumn struct {
	metric string
	show   func(float64) string
	sum    func([]float64) float64
}

// machineTable has a row for each machine of clients, or of servers, that a target had in a step.
func machineTable(v *campaign, clients bool, columns []machineColumn) page.Table {
	head := []string{"step", "target", "machine", "per"}
	for _, c := range columns {
		head = append(head, metric.Label(c.metric))
	}
	t := page.WordTable(head)
	for _, s := range v.steps {
		machines := machinesIn(s, clients, columns)
		for _, tg := range v.Targets {
			for _, machine := range machines {
				if words := machineWords(s, tg, machine, columns); words != nil {
					t.AddWords(append([]string{s.Name, tg.Name, machine}, words...)...)
				}
			}
		}
	}
	return t
}

// machinesIn returns the machines of a step that have one of the figures. Only those of clients have clocks
// that matter.
func machinesIn(s *step, clients bool, columns []machineColumn) (names []string) {
	clocks := compare.Parts(s.Step, metric.ClockErrorMS)
	for _, c := range columns {
		for _, k := range compare.Parts(s.Step, c.metric) {
			m := k.Labels.Machine
			isClient := slices.ContainsFunc(clocks, func(k key) bool { return k.Labels.Machine == m })
			if m != "" && isClient == clients {
				names = compare.AppendNew(names, m)
			}
		}
	}
	return names
}

// machineWords returns the unit that costs are per, and the figures of a machine; nil: the target has none of it.
func machineWords(s *step, t *target, machine string, columns []machineColumn) []string {
	per, found := "", false
	var words []string
	for _, c := range columns {
		text := quantity.Unknown
		for _, k := range compare.Parts(s.Step, c.metric) {
			if n := s.number(t, k); k.Labels.Machine == machine && n.Missing == "" {
				text, per, found = c.show(c.sum(n.Values())), cmp.Or(per, k.Per), true
			}
		}
		words = append(words, text)
	}
	if !found {
		return nil
	}
	return append([]string{per}, words...)
}

func roundPercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func wholeMicros(us float64) string { return quantity.Digits(us) + " µs" }

func wholeMillis(ms float64) string { return fmt.Sprintf("%.2g ms", ms) }

// clientMachines shows what each machine of clients did, if they were on machines of their own.
func clientMachines(v *campaign) []page.Section {
	t := machineTable(v, true, []machineColumn{
		{metric.OpsPerS, quantity.Amount, stat.Mean}, {metric.ClientCPUUS, quantity.Digits, stat.Mean},
		{metric.ServiceP50US, wholeMicros, stat.Mean},
		{metric.ServiceP99US, wholeMicros, stat.Mean}, {metric.ProcessorsBusy, roundPercent, stat.Mean},
		{metric.RoundTripMinUS, wholeMicros, slices.Min[[]float64]},
		{metric.SegmentsResent, quantity.Amount, slices.Max[[]float64]},
		{metric.ClockErrorMS, wholeMillis, slices.Max[[]float64]},
	})
	t.Note = "Of the machines that the clients were on: their operations and service times, the share of their " +
		"processors that was busy, the least round trip to the server that their kernels measured (no operation can take " +
		"less), and the bound of the error of their clocks. Of several trials: means, the least trip, and the greatest bound."
	return folded(page.Section{ID: "machines", Title: "Machines of the clients", Nav: "Machines"}, t)
}

// serverMachines shows what each machine of a cluster's servers had to do.
func serverMachines(v *campaign) []page.Section {
	t := machineTable(v, false, []machineColumn{
		{metric.Sessions, quantity.Whole, slices.Max[[]float64]}, {metric.ServerCPUUS, quantity.Digits, stat.Mean},
		{metric.ReadKB, quantity.Digits, stat.Mean}, {metric.WriteKB, quantity.Digits, stat.Mean},
		{metric.NetworkSentKB, quantity.Digits, stat.Mean}, {metric.NetworkReceivedKB, quantity.Digits, stat.Mean},
		{metric.ProcessorsBusy, roundPercent, stat.Mean},
		{metric.ServerMemoryBytes, func(v float64) string { return quantity.Bytes(int64(v)) }, slices.Max[[]float64]},
		{metric.CountedApartMS, wholeMillis, slices.Max[[]float64]},
	})
	t.Note = "Of the machines that the servers were on: the sessions of clients that each was dealt, and what one " +
		"unit of the step cost it, whichever server the unit was sent to. The CPU time is that of the server, reads " +
		"and writes are those of the device under its data, and what was sent and received is that of all network " +
		"interfaces but the machine's to itself: to clients and to the other servers. The rows add up to the server's CPU " +
		"time and the device's reads and writes of the step. Of several trials: means, the highest memory, and the " +
		"greatest time between the counts of a machine and those of the first. A trial in which a machine's counts are " +
		"unknown is left out."
	return folded(page.Section{ID: "servers", Title: "Machines of the servers", Nav: "Servers"}, t)
}
