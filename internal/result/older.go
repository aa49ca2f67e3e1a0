package result

import "rumbench/internal/metric"

// readOlder makes what an older build wrote what this one would have written.
func (t *Trial) readOlder() {
	typed := map[string]metric.Warning{} // the same texts recur
	read := func(list []metric.Warning) {
		for i := range list {
			text := list[i].Text
			if list[i].Code != "" {
				continue
			}
			if _, known := typed[text]; !known {
				typed[text] = metric.Read(text)
			}
			list[i] = typed[text]
		}
	}
	read(t.Warnings)
	for i := range t.Steps {
		s := &t.Steps[i]
		read(s.Warnings)
		read(s.Notes)
		for k := range s.Rows {
			r := &s.Rows[k]
			r.Metric = metric.CurrentName(r.Metric)
			read(r.Warnings)
			r.Mark()
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
