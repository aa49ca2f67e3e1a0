package result

import (
	"slices"
	"strings"

	"rumbench/internal/metric"
)

// disturbed is in the warning of a number that an older build took to hold what
// other programs did.
const disturbed = "somebody else used"

// putOff begins the warning of a number that an older build took for a lower bound.
const putOff = "lower bound: "

// markWarned marks the numbers that an older build warned of in words only.
func (t *Trial) markWarned() {
	for i := range t.Steps {
		for k := range t.Steps[i].Rows {
			r := &t.Steps[i].Rows[k]
			r.Disturbed = r.Disturbed || slices.ContainsFunc(r.Warnings, func(w metric.Warning) bool { return strings.Contains(w.Text, disturbed) })
			r.AtLeast = r.AtLeast || slices.ContainsFunc(r.Warnings, func(w metric.Warning) bool { return strings.HasPrefix(w.Text, putOff) })
		}
	}
}

// rename gives metrics that an older build called otherwise their names.
func (t *Trial) rename() {
	for i := range t.Steps {
		for k := range t.Steps[i].Rows {
			r := &t.Steps[i].Rows[k]
			r.Metric = metric.CurrentName(r.Metric)
		}
	}
}

// addHosting adds to a trial of an older build where its engine was.
func (t *Trial) addHosting() {
	if t.Hosting != "" {
		return
	}
	for i := range t.Steps {
		if r := t.Steps[i].Find("server_cpu_us", "", ""); r != nil {
			t.Hosting = map[string]Hosting{metric.OfServer: Server, metric.OfProcess: Embedded}[r.Source]
			return
		}
	}
}

// addCPU adds cpu_us to the steps of an older build, which wrote its parts only.
func (t *Trial) addCPU() {
	if t.Hosting == "" {
		return
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Find("cpu_us", "", "") != nil {
			continue
		}
		for _, r := range s.Rows { // what is appended meanwhile is not seen
			if r.Metric != "server_cpu_us" {
				continue
			}
			if t.Hosting == Server {
				client := s.Find("client_cpu_us", "", r.Per)
				if client == nil || client.Source != metric.OfClient {
					continue
				}
				r.Value, r.Source = r.Value+client.Value, metric.OfAll
			}
			r.Metric = "cpu_us"
			s.Rows = append(s.Rows, r)
		}
	}
}
