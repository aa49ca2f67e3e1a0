package importer

import (
	"maps"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// summed makes one run of those whose files differ only in the number of the client process: its rates are over the
// time of the longest. What cannot be added, such as percentiles, is left out.
func summed(runs []*run, ps *hint.Problems) (out []*run) {
	type test struct {
		target, base, pk string
		trial            int
	}
	tests, clients := groups(runs, func(r *run) test {
		if r.client == 0 {
			return test{} // each stays
		}
		return test{r.target, r.base, r.pk, r.trial}
	})
	for _, t := range tests {
		same := clients[t]
		if t == (test{}) || len(same) == 1 {
			out = append(out, same...)
			continue
		}
		first := same[0]
		seen := map[int]bool{}
		for _, r := range same {
			if seen[r.client] || r.workload != first.workload || r.step.Primary != first.step.Primary ||
				!slices.Equal(asked(r), asked(first)) {
				ps.Add(r.file.path, 0, "number the clients of one run, and give other runs other names",
					"it is no other client of the run of %s", first.file.path)
				return runs
			}
			seen[r.client] = true
		}
		numbers := slices.Sorted(maps.Keys(seen))
		low, high := numbers[0]-1, numbers[len(numbers)-1]-1
		if missing := high - low + 1 - len(numbers); missing > 0 {
			ps.Add(first.file.path, 0,
				"add the others; if these are no client processes of one run, give them other names",
				"%d client processes have no log here: there are %d, with numbers from %d to %d",
				missing, len(numbers), low, high)
			return runs
		}
		join(first, same[1:])
		out = append(out, first)
	}
	return out
}

// asked returns what a client was asked to do, which all clients of a run share.
func asked(r *run) (out []string) {
	for _, p := range r.plan {
		if p.name != "clients" && p.name != "target" && p.name != "rate" { // they share these out
			out = append(out, p.name+" "+p.value)
		}
	}
	slices.Sort(out)
	return out
}

// How a metric of all clients follows from those of each.
const (
	added    = iota + 1
	weighted // by the share of the time that the client ran
	greatest
)

var additive = map[string]int{
	metric.OpsPerS: weighted, metric.RowsPerS: weighted, metric.QueriesPerS: weighted,
	metric.Rows: added, metric.Errors: added, metric.Retries: added, metric.SLATarget: added,
	metric.DurationS: greatest, metric.ServiceMaxUS: greatest,
}

// join adds to a run those of other clients.
func join(r *run, peers []*run) {
	clients := append([]*run{r}, peers...)
	shortest, longest := r.step.Seconds, r.step.Seconds
	for _, o := range peers {
		shortest, longest = min(shortest, o.step.Seconds), max(longest, o.step.Seconds)
	}
	r.warnIf(shortest < longest*0.9,
		"its client processes ran for %.4g to %.4g s, and the rate is over the longest time", shortest, longest)
	r.step.Rows = addedRows(clients, longest)
	r.step.Seconds, r.costs, r.step.Curves, r.step.Stalls, r.series = longest, nil, nil, nil, section{}
	for _, o := range peers {
		r.clients += o.clients
		r.files, r.companions = append(r.files, o.files...), append(r.companions, o.companions...)
		r.step.Warnings = metric.AppendNew(r.step.Warnings, o.step.Warnings...)
		if o.step.Status != result.Complete {
			r.step.Status, r.reason = o.step.Status, o.reason
		}
		for g := range min(len(r.step.Groups), len(o.step.Groups)) {
			r.step.Groups[g].Clients += o.step.Groups[g].Clients
		}
	}
	r.processes = len(clients)
	r.drop("what is not of all client processes together: percentiles, means, intervals, costs")
}

// addedRows returns the rows of all clients together, of which the longest ran for a time in seconds.
func addedRows(clients []*run, longest float64) (rows []metric.Row) {
	for _, o := range clients {
		for _, row := range o.step.Rows {
			how := additive[row.Metric]
			sameRow := func(x metric.Row) bool {
				return x.Metric == row.Metric && x.Group == row.Group &&
					x.Op == row.Op
			}
			if how == 0 || row.Per != "" || slices.ContainsFunc(rows, sameRow) {
				continue
			}
			found := 0
			row.N, row.Value = 0, 0
			for _, p := range clients {
				k := slices.IndexFunc(p.step.Rows, sameRow)
				done := p.step.Find(metric.RowsPerS, p.step.Primary, "")
				switch {
				case k < 0 && done != nil && row.Op == "":
					row.N += done.N // without errors it counts none
				case k < 0:
				case how == greatest:
					row.Value = max(row.Value, p.step.Rows[k].Value)
				case how == weighted && p.step.Seconds > 0: // else no time is known
					row.Value += p.step.Rows[k].Value * (p.step.Seconds / longest)
				default:
					row.Value += p.step.Rows[k].Value
				}
				if k >= 0 {
					found++
					row.N += p.step.Rows[k].N
				}
			}
			// what was asked of some is not what was asked of all
			if row.Metric != metric.SLATarget || found == len(clients) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}
