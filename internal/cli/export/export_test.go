package export_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"rumbench/internal/cli/export"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 123456000, time.UTC)

// rate makes the throughput the headline.
func rate(_ *result.Step, r *metric.Row) bool { return r.Metric == "rows_per_s" }

// trial is a made-up trial with one step, of a campaign in results/mine.
func trial(target string, n int, rows ...metric.Row) export.Trial {
	for i := range rows {
		rows[i].Target, rows[i].Trial, rows[i].Step = target, n, "l.i1"
	}
	return export.Trial{
		Trial: &result.Trial{
			Format: result.Format, Campaign: "mine", Target: target, Trial: n, Engine: "pebble", Workload: "ibench", Preset: "quick",
			Params: map[string]any{"rows": 2e6, "check": "each"}, Durability: "os", Status: result.Partial, Started: start.Add(time.Minute),
			Host:  []observe.Fact{{Name: "kernel", Value: "6.1"}, {Name: "hostname", Value: "vm"}},
			Steps: []result.Step{{Name: "l.i1", Status: result.Complete, Primary: "insert", Rows: rows}},
		},
		CampaignDir: "results/mine", Started: start, EngineVersion: "v2.1.7", Headline: rate,
	}
}

// back reads a file that was written.
func back[T any](t expect.Reporter, write func(*bytes.Buffer) (int64, error)) []T {
	t.Helper()
	var b bytes.Buffer
	n := expect.Value(write(&b))(t)
	rows := expect.Value(parquet.Read[T](bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	expect.Must(t, int64(len(rows)) == n, fmt.Sprintf("%d lines, but %d are said to be written", len(rows), n))
	return rows
}

// rowsOf and samplesOf are what is read back of trials.
func rowsOf(t expect.Reporter, trials ...export.Trial) []export.Row {
	return back[export.Row](t, func(b *bytes.Buffer) (int64, error) { return export.WriteRows(b, trials) })
}

func samplesOf(t expect.Reporter, tr export.Trial) []export.Sample {
	return back[export.Sample](t, func(b *bytes.Buffer) (int64, error) { return export.WriteSeries(b, []export.Trial{tr}) })
}

func TestRow(t *testing.T) {
	in := trial("a", 2, metric.Row{Group: "g", Op: "insert", Metric: "rows_per_s", Value: 1.5, Unit: "1/s", N: 7, Warnings: []metric.Warning{{Code: remark.Partial, Text: "x"}, metric.Untyped("y")}},
		metric.Row{Metric: "write_kb", Value: 0, Unit: "KB", Per: "insert row", Source: "device vda"})
	got := rowsOf(t, in)
	common := export.Row{Campaign: "mine", CampaignDir: "results/mine", Started: start, Workload: "ibench", Preset: "quick", Params: `{"check":"each","rows":2000000}`,
		Target: "a", Engine: "pebble", EngineVersion: "v2.1.7", Durability: "os", Hostname: "vm", Trial: 2, TrialStarted: start.Add(time.Minute),
		Status: "partial", Step: "l.i1", StepStatus: "complete"}
	want := []export.Row{common, common}
	want[0].Group, want[0].Op, want[0].Metric, want[0].Value, want[0].Unit, want[0].N, want[0].Warnings, want[0].Headline = "g", "insert", "rows_per_s", 1.5, "1/s", 7, []string{"x", "y"}, true
	want[0].WarningCodes = []string{"partial", ""}
	want[1].Metric, want[1].Unit, want[1].Per, want[1].Source = "write_kb", "KB", "insert row", "device vda"
	expect.Same(t, want, got, cmpopts.EquateEmpty())
}

// When an imported trial was started may not be known.
func TestUnknownStart(t *testing.T) {
	in := trial("a", 1, metric.Row{Metric: "rows"})
	in.Trial.Started = time.Time{}
	got := rowsOf(t, in)
	expect.True(t, got[0].TrialStarted.IsZero() && !got[0].Started.IsZero(), got[0])
}

// Whatever rows there are, they come back as they were, in their order.
func TestRowsRoundTrip(t *testing.T) {
	word := rapid.SampledFrom([]string{"", "insert", "µs", "a b", `"`, "x\ny"})
	warning := rapid.Custom(func(t *rapid.T) metric.Warning {
		return metric.Warning{Code: metric.Code(word.Draw(t, "code")), Text: word.Draw(t, "text")}
	})
	row := rapid.Custom(func(t *rapid.T) metric.Row {
		return metric.Row{Group: word.Draw(t, "group"), Op: word.Draw(t, "op"), Metric: word.Draw(t, "metric"),
			Value: rapid.Float64().Draw(t, "value"), Unit: word.Draw(t, "unit"), Per: word.Draw(t, "per"), N: rapid.Int64().Draw(t, "n"),
			Source: word.Draw(t, "source"), Warnings: rapid.SliceOfN(warning, 0, 3).Draw(t, "warnings")}
	})
	rapid.Check(t, func(t *rapid.T) {
		var trials []export.Trial
		var want []metric.Row
		for i := range rapid.IntRange(0, 4).Draw(t, "trials") {
			tr := trial(word.Draw(t, "target"), i+1, rapid.SliceOfN(row, 0, 20).Draw(t, "rows")...)
			trials = append(trials, tr)
			want = append(want, tr.Steps[0].Rows...)
		}
		var got []metric.Row
		for _, r := range rowsOf(t, trials...) {
			got = append(got, metric.Row{Target: r.Target, Trial: int(r.Trial), Step: r.Step, Group: r.Group, Op: r.Op, Metric: r.Metric,
				Value: r.Value, Unit: r.Unit, Per: r.Per, N: r.N, Source: r.Source, Warnings: metric.UntypedAll(r.Warnings)})
			for i, code := range r.WarningCodes {
				got[len(got)-1].Warnings[i].Code = metric.Code(code)
			}
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("(-want +got)\n%s", d)
		}
	})
}

// withSeries gives a trial a directory with lines in it.
func withSeries(t expect.Reporter, tr export.Trial, dir string, lines []result.Line) export.Trial {
	t.Helper()
	expect.NoError(t, os.MkdirAll(dir, 0o755))
	w := expect.Value(result.CreateSeries(dir))(t)
	expect.NoError(t, w.Write(lines...))
	expect.NoError(t, w.Close())
	tr.Path = dir
	return tr
}

func TestSamples(t *testing.T) {
	tr := withSeries(t, trial("a", 2), t.TempDir(), []result.Line{
		{Step: "l.i1", Source: "ops", T: 1, DT: 1, Group: "g", Op: "insert", Ops: 3, Rows: 30, P50: 5, P99: 6, Max: 7, Clients: []int64{1, 2}},
		{Step: "l.i1", Source: "ops", T: 2, DT: 1, Group: "g", Op: "insert", Upkeep: true, Errors: 1, Clients: []int64{0, 0}},
		{Step: "l.i1", Source: "device", T: 1.5, DT: 0.5, Late: 0.25, V: map[string]float64{`device.reads{dev="vda",x="{}"}`: 0, "device.a": -1.5}},
		{Step: "l.i1", Source: "engine", T: 2, DT: 1}, // had nothing to report
	})
	got := samplesOf(t, tr)
	value := func(source string, at, dt float64) export.Sample {
		return export.Sample{Campaign: "mine", CampaignDir: "results/mine", Target: "a", Trial: 2, Step: "l.i1", Source: source, T: at, DT: dt}
	}
	want := []export.Sample{value("ops", 1, 1), value("ops", 2, 1), value("device", 1.5, 0.5), value("device", 1.5, 0.5)}
	full, empty := &want[0], &want[1]
	full.Group, full.Op, full.Upkeep, full.Ops, full.Rows, full.Errors, full.P50, full.P99, full.Max, full.Clients = "g", "insert", new(bool), ptr(3), ptr(30), ptr(0), 5, 6, 7, []int64{1, 2}
	yes := true
	empty.Group, empty.Op, empty.Upkeep, empty.Ops, empty.Rows, empty.Errors, empty.Clients = "g", "insert", &yes, ptr(0), ptr(0), ptr(1), []int64{0, 0}
	values := []float64{-1.5, 0}
	want[2].Name, want[2].Value, want[2].Late = "device.a", &values[0], 0.25
	want[3].Name, want[3].Labels, want[3].Value, want[3].Late = "device.reads", `dev="vda",x="{}"`, &values[1], 0.25
	expect.Same(t, want, got, cmpopts.EquateEmpty())
}

func ptr(n int64) *int64 { return &n }

// Whatever lines a trial wrote can be made again of its samples.
func TestSeriesRoundTrip(t *testing.T) {
	line := rapid.Custom(func(t *rapid.T) result.Line {
		l := result.Line{Step: "s", DT: 1, Source: rapid.SampledFrom([]string{"ops", "host", "engine"}).Draw(t, "source")}
		if l.Source != "ops" {
			l.Late = rapid.Float64Range(0, 1).Draw(t, "late")
			l.V = rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", `b{l="1"}`, `b{l="2"}`}), rapid.Float64Range(-1e9, 1e9), 1, 4).Draw(t, "v")
			return l
		}
		l.Group, l.Op = rapid.SampledFrom([]string{"g", "h"}).Draw(t, "group"), "insert"
		l.Ops, l.Rows, l.Errors = rapid.Int64Range(0, 9).Draw(t, "ops"), rapid.Int64Min(0).Draw(t, "rows"), rapid.Int64Range(0, 2).Draw(t, "errors")
		l.Max, l.P99, l.ResponseMax = rapid.Float64Range(0, 1e9).Draw(t, "max"), 3, 4
		l.Upkeep = rapid.Bool().Draw(t, "upkeep")
		l.Clients = rapid.SliceOfN(rapid.Int64Range(0, 9), 0, 3).Draw(t, "clients")
		return l
	})
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		lines := rapid.SliceOfN(line, 0, 50).Draw(t, "lines")
		for i := range lines {
			lines[i].T = float64(i) + rapid.Float64Range(0, 0.9).Draw(t, "t")
		}
		var got []result.Line
		for _, s := range samplesOf(t, withSeries(t, trial("a", 1), filepath.Join(root, fmt.Sprint(n)), lines)) {
			l := result.Line{Step: s.Step, Source: s.Source, T: s.T, DT: s.DT, Group: s.Group, Op: s.Op, P50: s.P50, P99: s.P99, Max: s.Max,
				ResponseP99: s.ResponseP99, ResponseMax: s.ResponseMax, Clients: s.Clients, Late: s.Late}
			if s.Source == "ops" {
				l.Upkeep, l.Ops, l.Rows, l.Errors = *s.Upkeep, *s.Ops, *s.Rows, *s.Errors
				got = append(got, l)
				continue
			}
			if len(got) == 0 || got[len(got)-1].T != l.T {
				l.V = map[string]float64{}
				got = append(got, l)
			}
			name := s.Name
			if s.Labels != "" {
				name += "{" + s.Labels + "}"
			}
			got[len(got)-1].V[name] = *s.Value
		}
		if d := cmp.Diff(lines, got, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("(-want +got)\n%s", d)
		}
	})
}

// The same trials give the same bytes, in rows and series, of more than one row
// group too.
func TestDeterministic(t *testing.T) {
	lines := make([]result.Line, 0, 2000)
	for i := range cap(lines) {
		l := result.Line{Step: "l.i1", Source: "engine", T: float64(i), DT: 1, V: map[string]float64{}}
		for k := range 80 {
			l.V[fmt.Sprintf(`level{n="%d"}`, k)] = math.Sqrt(float64(i * k))
		}
		lines = append(lines, l)
	}
	tr := withSeries(t, trial("a", 1, metric.Row{Metric: "rows_per_s", Value: 1}, metric.Row{Metric: "rows", Value: 2}), t.TempDir(), lines)
	var first, bytesOf [2]string
	for i := range 3 {
		var rows, series bytes.Buffer
		expect.Value(export.WriteRows(&rows, []export.Trial{tr, tr}))(t)
		expect.Value(export.WriteSeries(&series, []export.Trial{tr}))(t)
		if bytesOf = [2]string{rows.String(), series.String()}; i == 0 {
			first = bytesOf
		} else if bytesOf != first {
			t.Error("the bytes differ from those of the first time")
		}
	}
	f := expect.Value(parquet.OpenFile(strings.NewReader(first[1]), int64(len(first[1]))))(t)
	if n := len(f.RowGroups()); n != 2 || f.NumRows() != 160_000 {
		t.Errorf("%d lines in %d row groups", f.NumRows(), n)
	}
}

// What cannot be written or read is an error, with the file's name.
func TestErrors(t *testing.T) {
	tr := withSeries(t, trial("a", 1, metric.Row{Metric: "rows", Value: 1}), t.TempDir(), []result.Line{{Step: "s", Source: "ops"}})
	full := failing{}
	expect.Refused(export.WriteRows(full, []export.Trial{tr}))(t, "", "rows: no error")
	expect.Refused(export.WriteSeries(full, []export.Trial{tr}))(t, "", "series: no error")
	expect.NoError(t, os.WriteFile(filepath.Join(tr.Path, result.SeriesFile), []byte("{}\nnonsense\n"), 0o644))
	var b bytes.Buffer
	if _, err := export.WriteSeries(&b, []export.Trial{tr}); err == nil || !bytes.Contains([]byte(err.Error()), []byte(tr.Path+": line 2")) {
		t.Errorf("a line that cannot be read: %v", err)
	}
	tr.Params = map[string]any{"x": func() {}}
	expect.Refused(export.WriteRows(&b, []export.Trial{tr}))(t, "", "a function has no JSON")
}

// failing is a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// A percentile of too few operations, which no table shows, is marked in files.
func TestFewOperations(t *testing.T) {
	for n, marks := range map[int64]int{5: 1, 20_000: 0} {
		got := rowsOf(t, trial("a", 1, metric.Row{Metric: "service_p999_us", Value: 9, Unit: "µs", N: n}))
		expect.Equal(t, len(got[0].Warnings), marks, n, got[0].Warnings)
	}
}
