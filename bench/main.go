// Command bench prints the budgets of the project in a table, each with its limit and
// the value measured on this machine. Its exit code does not depend on them, since a
// machine may be busy.
//
//	bench [NAME…]
//
// measures only the budgets with these names, and more about them. Some take long and are
// measured only if they are named.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/null"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/report"
	"rumbench/internal/report/course"
	"rumbench/internal/result"
	"rumbench/internal/run/drive"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/ibench"
)

// budget is a measured figure with its limit.
type budget struct {
	subject  string
	value    float64
	limit    float64
	unit     string
	atLeast  bool // the limit is a lower bound
	measured string
}

func main() {
	dir, err := os.MkdirTemp("", "rumbench-bench-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = run(os.Stdout, dir, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, dir string, names []string) error {
	type part struct {
		name    string
		measure func(string) ([]budget, error)
		long    bool // it is measured if it is named
	}
	parts := []part{
		{"null", nullEngine, false}, {"rows", rowGeneration, false}, {"files", fileAgainstGo, false},
		{"sampling", sampling, false}, {"report", dayReport, false}, {"page", pageSize, false}, {"peers", peers, false},
		{"tests", testTimes, false},
		{"servers", serverSampling, true}, {"profiles", profiled, true}, {"equals", equals, true}, {"gates", gates, true},
		{"decisions", decisionRule, true}, {"coverage", coverage, true},
	}
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there are no budgets called %q", name)
		}
	}
	for _, b := range parts {
		if named := slices.Contains(names, b.name); !named && (len(names) > 0 || b.long) {
			continue
		}
		list, err := b.measure(dir)
		if err != nil {
			return err
		}
		for _, b := range list {
			b.print(w, len(names) > 0)
		}
	}
	return nil
}

// print prints a line, and how it was measured if more is wanted.
func (b budget) print(w io.Writer, more bool) {
	sign, held := "≤", b.value <= b.limit
	if b.atLeast {
		sign, held = "≥", b.value >= b.limit
	}
	verdict := "held"
	if !held {
		verdict = fmt.Sprintf("NOT HELD: %.2f× the limit", b.value/b.limit)
	}
	fmt.Fprintf(w, "%-58s %12.4g %-8s %s %-9.4g %s\n", b.subject, b.value, b.unit, sign, b.limit, verdict)
	if more && b.measured != "" {
		fmt.Fprintf(w, "    %s\n", b.measured)
	}
}

// nullClient executes one statement of the null engine.
type nullClient struct {
	stmt   engine.Stmt
	args   [1]model.Value
	result engine.Result
}

func (c *nullClient) Do(ctx context.Context, out *workload.Outcome) error {
	out.Rows = 1
	return c.stmt.Exec(ctx, c.args[:], &c.result)
}

// nullEngine measures an operation on the null engine, with timing and recording,
// for one and two clients.
func nullEngine(string) ([]budget, error) {
	schema := model.Schema{Tables: []model.Table{{Name: "t", Columns: []model.Column{{Name: "id", Type: model.Int}},
		Key: []string{"id"}}}}
	db, err := null.Engine{}.Open(context.Background(), engine.Config{Durability: model.DurabilityNone, Schema: schema})
	if err != nil {
		return nil, err
	}
	perOp := func(clients int) testing.BenchmarkResult {
		return best(func(b *testing.B) {
			step := workload.Step{Name: "null", Groups: []workload.Group{
				{Name: "get", Clients: clients, Work: int64(b.N)/int64(clients) + 1,
					Ops: []workload.OpKind{{Name: "get", Unit: "query"}}},
			}}
			var seats []workload.Client
			for range clients {
				s, err := db.Session(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				st, err := s.Prepare(b.Context(), &model.Op{Kind: model.Get, Table: "t", Columns: []string{"id"}})
				if err != nil {
					b.Fatal(err)
				}
				seats = append(seats, &nullClient{stmt: st})
			}
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := drive.Run(b.Context(),
				drive.Config{Step: &step, Clients: [][]workload.Client{seats}, Interval: time.Second}); err != nil {
				b.Fatal(err)
			}
		})
	}
	one, two := perOp(1), perOp(2)
	ns := func(r testing.BenchmarkResult) float64 { return float64(r.T.Nanoseconds()) / float64(r.N) }
	return []budget{
		{subject: "null engine: client cost of an operation", value: ns(one), limit: 100, unit: "ns"},
		{
			subject: "null engine: allocations of an operation", value: float64(one.MemAllocs) / float64(one.N), limit: 0.001,
			measured: "a few per run, for its set-up; none per operation",
		},
		{subject: "null engine: throughput of 2 clients over that of 1", value: ns(one) / ns(two), limit: 1, unit: "×",
			atLeast: true},
	}, nil
}

// best runs a benchmark three times and returns the fastest run, since
// disturbances only slow it down.
func best(f func(*testing.B)) (r testing.BenchmarkResult) {
	fastest := math.Inf(1)
	for range 3 {
		x := testing.Benchmark(f)
		if t := float64(x.T) / float64(x.N); t < fastest {
			fastest, r = t, x
		}
	}
	return r
}

// rowGeneration measures how many rows of the insert benchmark one core
// generates and inserts into the null engine in batches.
func rowGeneration(string) ([]budget, error) {
	const rows = 5_000_000
	steps, db, err := onNull(ibench.Workload{}, map[string]any{"rows": int64(rows), "steps": []string{"l.i0"}})
	if err != nil {
		return nil, err
	}
	fastest := 0.0
	for range 3 {
		took, err := timed(context.Background(), db, &steps[0], nil)
		if err != nil {
			return nil, err
		}
		fastest = max(fastest, rows/took.Seconds())
	}
	return []budget{{subject: "insert benchmark: rows made per second of one core", value: fastest, limit: 1e6,
		unit: "rows/s", atLeast: true}}, nil
}

// onNull returns the steps of a workload, with the null engine opened for them.
func onNull(w workload.Workload, params map[string]any) ([]workload.Step, engine.DB, error) {
	r, err := workload.NewRun(w, "", params)
	if err != nil {
		return nil, nil, err
	}
	db, err := null.Engine{}.Open(context.Background(),
		engine.Config{Durability: model.DurabilityNone, Schema: r.Schema()})
	return r.Steps(), db, err
}

// thousand has counters of an engine.
type thousand struct{ names []string }

func (t *thousand) Counters(_ context.Context, s *engine.Sample) error {
	for i, n := range t.names {
		s.Counter(n, "count", float64(i))
	}
	return nil
}

// sampling measures the share of one core that sampling 1,000 counters every second takes.
func sampling(string) ([]budget, error) {
	var t thousand
	for i := range 1000 {
		t.names = append(t.names, fmt.Sprintf("counter.%04d", i))
	}
	s := &observe.Sampler{Collectors: []observe.Collector{observe.NewEngine(&t)}, Interval: time.Second}
	r := best(func(b *testing.B) {
		prev := s.Snapshot(b.Context())
		for range b.N {
			cur := s.Snapshot(b.Context())
			observe.Diff(prev, cur)
			prev = cur
		}
	})
	return []budget{{subject: "sampling 1,000 counters a second: share of one core",
		value: 100 * float64(r.T.Nanoseconds()) / float64(r.N) / 1e9, limit: 1, unit: "%"}}, nil
}

// dayReport measures the report of a 24-hour run with one-second intervals.
func dayReport(dir string) ([]budget, error) {
	dir = filepath.Join(dir, "day")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := writeDay(dir); err != nil {
		return nil, err
	}
	t, err := result.ReadTrial(dir)
	if err != nil {
		return nil, err
	}
	in := report.Input{Title: "a day",
		Trials: []report.Trial{{Trial: t, Series: func(yield func(result.Line) error) error {
			return result.ReadSeries(dir, course.Sources, yield)
		}}}}
	var page bytes.Buffer
	start := time.Now()
	if err := report.HTML(&page, in); err != nil {
		return nil, err
	}
	return []budget{
		{subject: "report of a 24-hour run: time", value: time.Since(start).Seconds(), limit: 10, unit: "s"},
		{subject: "report of a 24-hour run: size", value: float64(page.Len()) / 1e6, limit: 5, unit: "MB"},
	}, nil
}

// writeDay writes the files of a trial with two groups and six sources.
func writeDay(dir string) error {
	const seconds = 24 * 3600
	step := result.Step{Name: "qr100", Status: result.Complete, Primary: "query", WritesPer: "insert",
		Seconds: seconds,
		Groups: []result.Group{{Name: "insert", Clients: 1, Rate: 100, Ops: []string{"insert"}},
			{Name: "query", Clients: 1, Ops: []string{"query"}}}}
	step.Rows = []metric.Row{{Target: "day", Trial: 1, Step: step.Name, Group: "query", Op: "query",
		Metric: metric.RowsPerS, Value: 1000, Unit: "1/s"}}
	now := time.Unix(1_700_000_000, 0)
	t := result.Trial{Format: result.Format, Target: "day", Trial: 1, Status: result.Complete, Started: now, Ended: &now,
		Steps: []result.Step{step}}
	if err := result.WriteJSON(filepath.Join(dir, result.TrialFile), &t); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, result.SeriesFile))
	if err != nil {
		return err
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	counters := map[string]float64{}
	for i := range 60 {
		counters[fmt.Sprintf("engine.counter_%02d", i)] = 12345.678
	}
	for i := range seconds {
		lines := []result.Line{
			{Source: "ops", Group: "insert", Op: "insert", Ops: 2, Rows: 100, P50: 100, P99: 500,
				Max: 900, ResponseP99: 600, ResponseMax: 950, Clients: []int64{2}},
			{Source: "ops", Group: "query", Op: "query", Ops: 1000, Rows: 1000, P50: 100, P99: 500, Max: float64(900 + i%100),
				Clients: []int64{1000}},
			{Source: "host", V: counters}, {Source: "engine", V: counters}, {Source: "client", V: counters},
			{Source: "device", V: map[string]float64{`device.write_bytes{dev="vda"}`: 1e6, `device.read_bytes{dev="vda"}`: 1e5}},
			{Source: "process", V: map[string]float64{"process.cpu_ns": 5e8, "process.write_bytes": 1e6}},
		}
		for k := range lines {
			lines[k].Step, lines[k].T, lines[k].DT = step.Name, float64(i+1), 1
			if err := enc.Encode(&lines[k]); err != nil {
				return err
			}
		}
	}
	return nil
}
