package doctest_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/workload"
	"rumbench/workload/all"
)

var update = flag.Bool("update", false, "write the generated parts of documents anew")

// generated compares the generated part of a document, which its marks enclose, or
// writes it anew.
func generated(t *testing.T, path, want string) {
	t.Helper()
	command := "go test ./internal/doctest -run " + t.Name() + " -update"
	source, target := "<!-- generated: "+command+" -->\n", "<!-- end -->\n"
	text := read(t, path)
	head, rest, ok := strings.Cut(text, source)
	got, tail, closed := strings.Cut(rest, target)
	if !ok || !closed {
		t.Errorf("%s has no place for what is generated: %q", path, source)
		return
	}
	if *update {
		expect.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(head+source+want+target+tail), 0o644))
		return
	}
	expect.Equal(t, gocmp.Diff(want, got), "", path, command, "writes it anew (-want +got")
}

// shared are the documents of workloads that have none of their own.
var shared = map[string]string{
	"ycsb": "docs/keyvalue.md", "zippydb": "docs/keyvalue.md", "up2x": "docs/keyvalue.md", "udb": "docs/keyvalue.md",
	"largeobject": "docs/largeobject.md", "create-index": "docs/largeobject.md", "queue": "docs/largeobject.md",
}

// docOf returns the document of a workload.
func docOf(workload string) string { return cmp.Or(shared[workload], "docs/"+workload+".md") }

// TestPresets: the tables of presets hold the presets' values.
func TestPresets(t *testing.T) {
	for _, w := range all.Workloads() {
		i := w.Info()
		if shared[i.Name] == "" {
			generated(t, docOf(i.Name), presetTable(&i))
			continue
		}
		t.Run(i.Name, func(t *testing.T) { generated(t, docOf(i.Name), presetTable(&i)) })
	}
}

// presetTable has a line for each preset with the parameters that it sets.
func presetTable(i *workload.Info) string {
	var b strings.Builder
	b.WriteString("| preset | what for | parameters that differ from their defaults |\n|---|---|---|\n")
	for _, p := range i.Presets {
		var values []string
		for _, param := range i.Params {
			if v, ok := p.Values[param.Name]; ok {
				values = append(values, fmt.Sprintf("`%s: %s`", param.Name, shown(v)))
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.Name, p.Doc, strings.Join(values, ", "))
	}
	return b.String()
}

// mostListed is how many elements of a list are shown.
const mostListed = 13

// shown writes a value as plans do.
func shown(v any) string {
	switch v := v.(type) {
	case int64:
		return count(v)
	case []int64:
		var parts []string
		for _, n := range v {
			parts = append(parts, count(n))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []string:
		if len(v) > mostListed {
			return fmt.Sprintf("%d of them", len(v))
		}
		return "[" + strings.Join(v, ", ") + "]"
	case time.Duration:
		return v.String()
	}
	return fmt.Sprint(v)
}

func count(n int64) string {
	switch {
	case n > 0 && n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000 && n%1000 == 0:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}

// TestDefaults: numbers in the text about a workload are its parameters' defaults.
func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		workload, param string
		value           any
		text            string // what the document says of it
	}{
		{"ibench", "cashregisters", int64(1000), "| `cashregisterid` | int | uniform, 0…999 |"},
		{"ibench", "customers", int64(100_000), "| `customerid` | int | uniform, 0…99 999 |"},
		{"ibench", "products", int64(10_000), "| `productid` | int | uniform, 0…9 999 |"},
		{"ibench", "max_price", int64(500), "| `price` | int | uniform, 0…499 |"},
		{"ibench", "data_min", int64(10), "10 to 20 characters"},
		{"ibench", "data_max", int64(20), "10 to 20 characters"},
		{"ibench", "data_random_pct", int64(50), "about half of its information random"},
		{"ibench", "clock_rows", int64(10_000), "`clock_rows` (10 000)"},
		{"ibench", "resync", int64(1000), "After 1000 statements it reads the least key anew"},
		{"ibench", "max_every", int64(100), "read anew after every 100 queries"},
		{"ibench", "rows_per_query", int64(10), "the first ten entries of the index"},
		{"ibench", "load_batch", int64(100), "| l.i0 | rows in key order, no secondary indexes | R1 | 100 |"},
		{"ibench", "write_batch", int64(50), "| 4/5 R2 | 50 |"},
		{"ibench", "small_batch", int64(5), "| 1/5 R2 | 5 |"},
		{"ibench", "rates", []int64{100, 500, 1000}, "| qr1000, qp1000 |"},
		{"ibench", "index_build", "each", "are built by one statement each, or with `index_build: together`"},
		{"ibench", "secondary", int64(3), "(1 + indexes) puts per row"},
		{"sysbench", "point_selects", int64(10), "| `oltp_read_only` | 10 points;"},
		{"sysbench", "random_points", int64(10), "the rows with 10 values of k"},
		{"sysbench", "number_of_ranges", int64(10), "in 10 ranges of k"},
		{"sysbench", "spec_pct", 1.0, "the 1 % in the middle"},
		{"sysbench", "spec_res", 75.0, "75 % of the draws"},
		{"sysbench", "pareto_h", 0.2, "80 % of the draws on the lowest 20 %"},
		{"sysbench", "zipfian_exp", 0.8, "(r+1)^-0.8"},
		{"sysbench", "spec_iter", int64(12), "the mean of 12 uniform draws"},
	} {
		w, _ := catalog.Plugins{}.Workload(c.workload)
		i := w.Info()
		p := i.Param(c.param)
		expect.True(t, p != nil && gocmp.Equal(p.Default, c.value),
			c.workload, c.param, "is not", c.value, "as docs/", c.workload, ".md has it")
		expect.True(t, strings.Contains(read(t, "docs/"+c.workload+".md"), c.text),
			"docs/", c.workload, ".md does not say", c.text, "of", c.param)
	}
}

// minimal is a plan with one more line.
func minimal(line string) (*plan.Plan, error) {
	src := "name: p\nworkload: sysbench\ntargets: [bbolt, sqlite]\n" + line + "\n"
	return plan.Load("p.yaml", []byte(src), nil, catalog.Plugins{})
}

// TestPlanNumbers: the defaults and limits in docs/plan.md are those of plans.
func TestPlanNumbers(t *testing.T) {
	text := read(t, "docs/plan.md")
	same := expect.Value(minimal(""))(t)
	for _, c := range []struct {
		row, text    string   // of the table, and what it says
		usual        string   // a line that changes nothing
		good, refuse []string // lines at the limits and beyond
	}{
		{"trials", "1 to 1000", "trials: 1", []string{"trials: 1000"}, []string{"trials: 0", "trials: 1001"}},
		{"order", "| `interleaved` |", "order: interleaved", []string{"order: duet", "order: sequential"}, []string{"order: random"}},
		{"seed", "0 to 2⁶⁴−1", "seed: 1", []string{"seed: 0", "seed: 18446744073709551615"}, []string{"seed: -1", "seed: 18446744073709551616"}},
		{"interval", "100ms to 1m", "interval: 1s", []string{"interval: 100ms", "interval: 1m"}, []string{"interval: 99ms", "interval: 61s"}},
		{"cool_down", "up to 24h", "cool_down: 0", []string{"cool_down: 24h"}, []string{"cool_down: 25h"}},
		{"keep", "| `false` |", "keep: false", nil, nil},
		{"errors_allowed", "| `0` |", "errors_allowed: 0", nil, nil},
		{"calibrate", "| `true` |", "calibrate: true", nil, nil},
		{"profile", "10 to 99", "profile: off", []string{"profile: extra", "profile: inside", "profile: {cpu: 10}", "profile: {mode: extra, cpu: 99}"}, []string{"profile: {cpu: 9}", "profile: {cpu: 100}", "profile: duet"}},
		{"precision", "at least 0.1%", "", []string{"trials: 9\nstop: {precision: 0.1%}"}, []string{"trials: 9\nstop: {precision: 0.09%}"}},
		{"min_trials", "2 to 1000", "", []string{"trials: 1000\nstop: {precision: 2%, min_trials: 2}", "trials: 1000\nstop: {precision: 2%, min_trials: 1000}"}, []string{"trials: 9\nstop: {precision: 2%, min_trials: 1}"}},
		{"budget", "at least 1s", "", []string{"trials: 9\nstop: {budget: 1s}"}, []string{"trials: 9\nstop: {budget: 999ms}"}},
		{"seconds", "at least 1s", "", []string{"find: {promise: p99_ms < 10, seconds: 1s}"}, []string{"find: {promise: p99_ms < 10, seconds: 0.9s}"}},
	} {
		rows := rowsOf(text, c.row)
		expect.True(t, slices.ContainsFunc(rows, func(row string) bool { return strings.Contains(row, c.text) }),
			"docs/plan.md does not say", c.text, "of", c.row, rows)
		if c.usual != "" {
			if p, err := minimal(c.usual); err != nil || plain(p) != plain(same) {
				t.Errorf("%s is not the default: %v", c.usual, err)
			}
		}
		for _, line := range c.good {
			if _, err := minimal(line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		for _, line := range c.refuse {
			expect.Refused(minimal(line))(t, "", line, "is taken")
		}
	}
	p, err := minimal("find: p99_ms < 10")
	expect.True(t, err == nil && p.Find.Precision == 0.05 && p.Find.Like.Kind == "poisson" && strings.Contains(text, "share, 1% to 100% | `5%` |"), p.Find, err)
	for line, good := range map[string]bool{"1%": true, "100%": true, "0.9%": false, "101%": false} {
		if _, err := minimal("find: {promise: p99_ms < 10, precision: " + line + "}"); (err == nil) != good {
			t.Errorf("a search precise to %s: %v", line, err)
		}
	}
}

// rowsOf are the lines of tables that are about a key.
func rowsOf(text, key string) (out []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `"+key+"`") {
			out = append(out, line)
		}
	}
	return out
}

// plain is what keys without a map set.
func plain(p *plan.Plan) string {
	return fmt.Sprint(p.Trials, p.Order, p.Seed.Value, p.Interval, p.Between, p.Keep, p.ErrorsAllowed, p.Calibrate)
}

// TestSamples: the documents know how many samples a percentile takes.
func TestSamples(t *testing.T) {
	method, compare := read(t, "docs/method.md"), read(t, "docs/results.md")
	for _, c := range []struct {
		p                float64
		samples          int64
		method, compared string
	}{
		{50, 20, "20 for p50", "p50 takes 20"}, {95, 200, "200 for p95", "p95 200"},
		{99, 1000, "1000 for p99", "p99 1000"}, {99.9, 10_000, "10,000 for p99.9", "p99.9 10,000"},
	} {
		if got := metric.LeastSamples(c.p); got != c.samples || !strings.Contains(method, c.method) || !strings.Contains(compare, c.compared) {
			t.Errorf("p%g takes %d samples, which the documents do not say", c.p, got)
		}
	}
}
