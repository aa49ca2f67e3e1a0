package serverkit

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// ofPlace matches settings that say where a server listens and keeps its files, and what people read: no numbers
// depend on them.
var ofPlace = regexp.MustCompile(`dir(ectory|ectories)?$|file(name)?$|^socket$|^port$|^pid|path|log_error|basename|hostname|` +
	`server_id|report_|^user$|plugin|tmp|gtid|^bind|listen|time_?zone|^lc_|character|collation|version|cluster_name|` +
	`datestyle|text_search|timestamp`)

// AddChanged adds the settings that a query of names and values returns, those that a server has not by default, to
// some. Where it listens and keeps its files is left out.
func AddChanged(ctx context.Context, c *sqlkit.Admin, query string, out []engine.Setting) ([]engine.Setting, error) {
	vars, err := c.Map(ctx, query)
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		known := slices.ContainsFunc(out, func(s engine.Setting) bool { return s.Name == name })
		if !known && !ofPlace.MatchString(name) {
			out = append(out, engine.Setting{Name: name, Value: vars[name], Source: engine.Changed})
		}
	}
	return out, err
}

// Connection is how sessions reach the server; cipher is "" if they are not encrypted.
func (h *Host) Connection(cipher string) engine.Setting {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := map[string]string{"unix": "Unix socket"}[h.network]
	if text == "" {
		text = "TCP"
	}
	if h.proxy != "" {
		text += " through " + h.proxy
	}
	if cipher != "" {
		text = fmt.Sprintf("%s, encrypted with %s", text, cipher)
	}
	return engine.Setting{Name: "connection", Value: text, Source: engine.ReadBack}
}

// RoundTrip implements engine.Pinger.
func (d *DB) RoundTrip(ctx context.Context) (best time.Duration, err error) {
	const times = 100
	c, err := d.Connect(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for range times {
		start := time.Now()
		if err := c.Exec(ctx, "SELECT 1"); err != nil {
			return 0, err
		}
		if took := time.Since(start); best == 0 || took < best {
			best = took
		}
	}
	return best, nil
}
