package watch

import (
	"encoding/json"
	"io"
)

// panel is a chart of the dashboard.
type panel struct {
	title   string
	unit    string // as Grafana calls it
	queries []query
}

// query is a line of a chart, or several with their labels in the legend.
type query struct{ expr, legend string }

func perSecond(metric, legend string) query {
	return query{"rate(" + metric + "[$__rate_interval])", legend}
}

// of selects the servers that the dashboard shows.
const of = `{target=~"$target"}`

// panels are the charts of the dashboard, what matters most first.
var panels = []panel{
	{"Queries and commits", "ops", []query{
		perSecond("rumbench_engine_queries_total"+of, "{{target}} queries"), perSecond("rumbench_engine_commits_total"+of, "{{target}} commits"),
	}},
	{"Sessions", "short", []query{
		{"rumbench_engine_sessions" + of, "{{target}} open"}, {"rumbench_engine_sessions_active" + of, "{{target}} active"},
		{"rumbench_engine_sessions_blocked" + of, "{{target}} blocked {{storage}}"},
	}},
	{"Lock waits", "ops", []query{perSecond("rumbench_engine_lock_waits_total"+of, "{{target}} {{storage}}")}},
	{"Cache hits", "percentunit", []query{{"rumbench_engine_cache_hit_ratio" + of, "{{target}} {{storage}}"}}},
	{"Read and written, as the engines count", "Bps", []query{
		perSecond("rumbench_engine_read_bytes_total"+of, "{{target}} read {{storage}}"),
		perSecond("rumbench_engine_written_bytes_total"+of, "{{target}} written {{storage}}"),
		perSecond("rumbench_engine_log_bytes_total"+of, "{{target}} log {{storage}}"),
	}},
	{"Still to be written", "bytes", []query{
		{"rumbench_engine_dirty_bytes" + of, "{{target}} dirty {{storage}}"},
		{"rumbench_engine_checkpoint_bytes" + of, "{{target}} log since checkpoint {{storage}}"},
		{"rumbench_engine_compaction_debt_bytes" + of, "{{target}} compaction debt {{storage}}"},
	}},
	{"CPU of the servers (1 is one core)", "short", []query{perSecond("rumbench_process_cpu_seconds_total"+of, "{{target}}")}},
	{"Memory of the servers", "bytes", []query{{"rumbench_process_rss_bytes" + of, "{{target}}"}}},
	{"Devices: bytes", "Bps", []query{
		perSecond("rumbench_device_read_bytes_total", "{{dev}} read"), perSecond("rumbench_device_write_bytes_total", "{{dev}} written"),
	}},
	{"Devices: time of a request", "s", []query{
		{"rumbench_device_read_await_seconds", "{{dev}} read"}, {"rumbench_device_write_await_seconds", "{{dev}} write"},
	}},
	{"Host CPU", "percentunit", []query{
		{"rumbench_host_cpu_busy_ratio", "busy"}, {"rumbench_host_cpu_iowait_ratio", "waiting for I/O"}, {"rumbench_host_cpu_steal_ratio", "stolen"},
	}},
	{"Sources that answer", "short", []query{{"rumbench_source_up", "{{source}}"}}},
}

type object = map[string]any

// Dashboard writes a Grafana dashboard of what the Exporter exports, ready to be
// imported.
func Dashboard(w io.Writer) error {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	var charts []object
	for i, p := range panels {
		var targets []object
		for k, q := range p.queries {
			targets = append(targets, object{"refId": string(rune('A' + k)), "datasource": source, "expr": q.expr, "legendFormat": q.legend})
		}
		charts = append(charts, object{
			"id": i + 1, "type": "timeseries", "title": p.title, "datasource": source, "targets": targets,
			"gridPos":     object{"x": 12 * (i % 2), "y": 8 * (i / 2), "w": 12, "h": 8},
			"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []object{}},
		})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(object{
		"uid": "rumbench", "title": "rumbench stat", "tags": []string{"rumbench"}, "schemaVersion": 39, "editable": true, "refresh": "10s",
		"time": object{"from": "now-30m", "to": "now"}, "panels": charts,
		"templating": object{"list": []object{
			{"name": "datasource", "label": "data source", "type": "datasource", "query": "prometheus"},
			{
				"name": "target", "type": "query", "datasource": source, "query": "label_values(rumbench_engine_sessions, target)",
				"refresh": 2, "multi": true, "includeAll": true, "allValue": ".*",
			},
		}},
	})
}
