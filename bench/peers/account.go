package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/stat"
)

// account is the work of a server, by name of the quantity.
type account map[string]float64

// The quantities that are measured for every server.
const (
	serverCPU = "server CPU µs"
	writtenKB = "KB written"
	logKB     = "log KB"
)

func (a account) minus(other account) account {
	out := account{}
	for name, v := range a {
		out[name] = v - other[name]
	}
	return out
}

// watched runs a client on an idle server and lets the server become idle again:
// all writes in between were for the client, including deferred ones. CPU and
// other counters cover the run only.
func watched(ctx context.Context, p peer, at target, run func() (result, error)) (r result, err error) {
	if err := p.rest(ctx); err != nil {
		return r, err
	}
	before, err := take(ctx, p, at)
	if err != nil {
		return r, err
	}
	if r, err = run(); err != nil {
		return r, err
	}
	after, err := take(ctx, p, at)
	if err != nil {
		return r, err
	}
	if err := p.rest(ctx); err != nil {
		return r, err
	}
	rested, err := take(ctx, p, at)
	if err != nil {
		return r, err
	}
	after[writtenKB], after[logKB] = rested[writtenKB], rested[logKB]
	r.server = after.minus(before)
	return r, nil
}

func take(ctx context.Context, p peer, at target) (account, error) {
	a, err := p.counters(ctx)
	if err != nil {
		return nil, err
	}
	var s engine.Sample
	if err := observe.NewProcess("/proc", func() []int { return []int{at.PID} }).Collect(ctx, &s); err != nil {
		return nil, err
	}
	for _, point := range s.Points {
		switch point.Name {
		case "process.cpu_ns":
			a[serverCPU] = point.Value / 1e3
		case "process.write_bytes":
			a[writtenKB] = point.Value / 1024
		}
	}
	return a, nil
}

// named parses lines with a name and a number, as printed by the servers'
// clients.
func named(output string) account {
	a := account{}
	for line := range strings.Lines(output) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			a[name] = v
		}
	}
	return a
}

// comparison holds the results of the rounds of a test: the peer's, and rumbench's.
type comparison [2][]result

// tolerance is the allowed relative difference in the server's work.
const tolerance = 0.1

// outcome is a comparison in two figures, as -brief prints it: rumbench ÷ the peer.
type outcome struct {
	Peer, Test string
	Clients    int
	CPU, Rate  float64 // of a transaction; transactions per second
	CPULimit   float64 // at most; 0: none
	RateLimit  float64 // at least; 0: none
}

// show prints a comparison.
func (o *options) show(c *comparison, out outcome) {
	if !o.brief {
		c.print(out)
		return
	}
	out.CPU, out.Rate = stat.Median(c.ratios(result.perTransaction)), stat.Median(c.ratios(result.rate))
	_ = json.NewEncoder(os.Stdout).Encode(out)
}

// ratios returns a quantity's ratio in each round.
func (c *comparison) ratios(value func(result) float64) (out []float64) {
	for i := range c[0] {
		out = append(out, value(c[1][i])/value(c[0][i]))
	}
	return out
}

// held says whether a ratio is within its limit: not an error, since a machine may be busy.
func held(ratio, limit float64, atLeast bool) string {
	sign, ok := "at most", ratio <= limit
	if atLeast {
		sign, ok = "at least", ratio >= limit
	}
	switch {
	case limit == 0:
		return ""
	case ok:
		return fmt.Sprintf("held: %s %g", sign, limit)
	}
	return fmt.Sprintf("NOT HELD: %s %g", sign, limit)
}

func (c *comparison) print(o outcome) {
	fmt.Printf("\n%s, %s, clients: %d\n%-34s %-24s %-24s %s\n", o.Peer, o.Test, o.Clients, "", o.Peer, "rumbench",
		"rumbench ÷ "+o.Peer)
	c.line("client CPU µs", result.perTransaction, func(ratio float64) string { return held(ratio, o.CPULimit, false) })
	within := func(ratio float64) string {
		if ratio < 1-tolerance || ratio > 1+tolerance {
			return "DIFFERS"
		}
		return ""
	}
	rate := within
	if c[0][0].server == nil { // one process: the rate is what is compared
		rate = func(ratio float64) string { return held(ratio, o.RateLimit, true) }
	}
	c.line("transactions/s", result.rate, rate)
	for _, name := range c.names() {
		c.line(name, func(r result) float64 { return r.server[name] / float64(r.Transactions) }, within)
	}
}

func (c *comparison) names() []string {
	seen := map[string]bool{}
	for _, r := range slices.Concat(c[0], c[1]) {
		for name, v := range r.server {
			if v >= 0.02*float64(r.Transactions) {
				seen[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// line prints the medians of a quantity and the verdict on its ratio.
func (c *comparison) line(name string, value func(result) float64, verdict func(ratio float64) string) {
	var values [2][]float64
	for side, results := range c {
		for _, r := range results {
			values[side] = append(values[side], value(r))
		}
	}
	ratios := c.ratios(value)
	fmt.Printf("%-34s %-24s %-24s %-20s %s\n", name, spread(values[0]), spread(values[1]), spread(ratios),
		verdict(stat.Median(ratios)))
}

// spread formats a median with minimum and maximum.
func spread(v []float64) string {
	return fmt.Sprintf("%.4g (%.4g–%.4g)", stat.Median(v), slices.Min(v), slices.Max(v))
}
