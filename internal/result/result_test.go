package result

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result/regular"
	"rumbench/internal/stat/hist"
)

// full returns a trial with something in every field.
func full() *Trial {
	ended := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Trial{
		Format: Format, Campaign: "c", Target: "t", Trial: 2, Order: "duet", Slot: 3, Engine: "e", Hosting: Server, Structure: "tree", Workload: "w", Preset: "p",
		Params: map[string]any{"rows": 5.0, "steps": []any{"a"}}, Knobs: map[string]string{"cache": "1GiB"}, Durability: "os",
		Seed: 1 << 63, Interval: 0.1, Status: Complete, Reason: "r", Hint: "h", Started: ended.Add(-time.Hour), Ended: &ended,
		Versions: []observe.Fact{{Name: "go", Value: "1"}}, Settings: []engine.Setting{{Name: "s", Value: "v", Source: engine.ReadBack}},
		Host: []observe.Fact{{Name: "cpu", Value: "x"}}, Warnings: []metric.Warning{metric.Untyped("w")},
		Imported: &Imported{Tool: "sysbench 1.0.20", Mode: "correct", Files: []string{"f"}, CPUs: 8},
		Steps: []Step{{
			Name: "q", Doc: "d", Status: Complete, Started: ended, Seconds: 1.5, Primary: "query", WritesPer: "insert",
			Groups: []Group{{Name: "g", Clients: 3, Rate: 100, Pace: "even", Ops: []string{"a", "b"}, Of: map[string]string{"a": "query"}}},
			Rows:   []metric.Row{{Target: "t", Trial: 2, Step: "q", Group: "g", Op: "a", Metric: "rows", Value: 1.25, Unit: "count", Per: "query", Labels: metric.Labels{Machine: "m", Event: "e", State: "s", Object: "o"}, N: 7, Source: "s", Warnings: []metric.Warning{metric.Untyped("w")}}},
			Stalls: []metric.Span{{Group: "g", From: 1, To: 2}}, Curves: []metric.Curve{{Group: "g", Op: "a", Measure: "service", Count: 3, Overflow: 1, Points: [][2]float64{{50, 1}}}},
			Settle:   []engine.SettleAction{{Name: "flush", Duration: time.Second, Detail: "d"}},
			Counters: []CounterChange{{Name: "c", Labels: `l="1"`, Kind: engine.Counter, Unit: "bytes", Value: 3, Reset: true}}, Notes: metric.UntypedAll([]string{"n"}), Warnings: []metric.Warning{metric.Untyped("w")},
		}},
	}
}

func write(t *testing.T, dir, name string, v any) {
	t.Helper()
	expect.NoError(t, WriteJSON(filepath.Join(dir, name), v))
}

func TestTrialRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := full()
	write(t, dir, TrialFile, want)
	got := expect.Value(ReadTrial(dir))(t)
	want.Dir = dir
	expect.Same(t, want, got)
}

func TestCampaignRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := &Campaign{Format: Format, Name: "c", Command: []string{"rumbench", "run"}, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Client: "_client", Trials: []Entry{{Dir: "b.1", Target: "b", Trial: 1, Status: Failed}, {Dir: "a.1", Target: "a", Trial: 1}}}
	write(t, dir, CampaignFile, want)
	got, err := ReadCampaign(dir)
	expect.NoError(t, err)
	expect.Same(t, want, got)
	twice := *want // one that is listed twice is read once
	twice.Trials = append(slices.Clone(want.Trials), want.Trials...)
	write(t, dir, CampaignFile, &twice)
	expect.Same(t, want, expect.Value(ReadCampaign(dir))(t))
	// Trials that have not begun are left out; the others keep the campaign's order.
	for _, e := range want.Trials {
		trials, err := ReadTrials(dir, got)
		expect.True(t, err == nil && len(trials) == 0, len(trials), err)
		expect.NoError(t, os.MkdirAll(TrialPath(dir, e.Dir), 0o755))
	}
	tr := full()
	tr.Target = "a"
	write(t, TrialPath(dir, "a.1"), TrialFile, tr)
	tr.Target = "b"
	write(t, TrialPath(dir, "b.1"), TrialFile, tr)
	trials, err := ReadTrials(dir, got)
	expect.True(t, err == nil && len(trials) == 2 && trials[0].Target == "b" &&
		trials[1].Dir == TrialPath(dir, "a.1"), trials, err)
}

// A file that is cut off, or of a later format, is refused with its name; it is
// never read in part.
func TestBadJSON(t *testing.T) {
	whole := expect.Value(json.Marshal(full()))(t)
	cases := map[string]struct{ text, want string }{
		"empty":   {"", "unexpected end of JSON"},
		"cut":     {string(whole[:len(whole)/2]), "unexpected end of JSON"},
		"newer":   {strings.Replace(string(whole), `"format":3`, `"format":4`, 1), "it has format 4, and this rumbench knows formats 2 to 3"},
		"older":   {strings.Replace(string(whole), `"format":3`, `"format":1`, 1), "it has format 1, and this rumbench knows formats 2 to 3"},
		"none":    {"{}", "it has format 0"},
		"foreign": {`{"format": "v1"}`, "cannot unmarshal"},
		"wrong":   {`{"format": 2, "steps": 5}`, "cannot unmarshal"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, TrialFile)
			expect.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
			got, err := ReadTrial(dir)
			expect.True(t, err != nil && strings.Contains(err.Error(), c.want) &&
				strings.Contains(err.Error(), path) && got == nil, got, err)
			// A broken trial is reported, not silently left out.
			campaign := t.TempDir()
			expect.NoError(t, os.MkdirAll(TrialPath(campaign, "x.1"), 0o755))
			expect.NoError(t, os.Rename(path, filepath.Join(TrialPath(campaign, "x.1"), TrialFile)))
			expect.Refused(ReadTrials(campaign, &Campaign{Trials: []Entry{{Dir: "x.1"}}}))(t, "")
		})
	}
}

func TestNoCampaign(t *testing.T) {
	dir := t.TempDir()
	_, err := ReadCampaign(dir)
	expect.True(t, err != nil && err.Error() == dir+" is no campaign: it has no campaign.json", err)
}

// A reader sees the old content or the new, also where the new cannot be
// written, and nothing is left beside it.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	var content [2][]byte
	for i := range content {
		content[i] = bytes.Repeat([]byte{byte('a' + i)}, 1<<16)
	}
	expect.NoError(t, WriteFile(path, content[0], 0o644))
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			b, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(b, content[0]) && !bytes.Equal(b, content[1]) {
				t.Errorf("read %d bytes, %v", len(b), err)
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	for i := range 50 {
		err := WriteFile(path, content[i%2], 0o644)
		expect.NoError(t, err)
	}
	close(stop)
	reader.Wait()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	expect.Error(t, WriteJSON(path, func() {}), "", "a function has no JSON")
	expect.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	if err := WriteFile(filepath.Join(dir, "d"), nil, 0o644); err == nil { // a directory is not replaced
		t.Error("no error")
	}
	expect.True(t, bytes.Equal(expect.Value(os.ReadFile(path))(t), content[1]), "the old content is gone")
	entries, _ := os.ReadDir(dir)
	expect.True(t, len(entries) == 2, entries)
}

// running writes what a trial leaves that is in its second step.
func running(t *testing.T, dir string) []Line {
	t.Helper()
	tr := &Trial{Format: Format, Target: "x", Trial: 1, Status: Running, Steps: []Step{
		{Name: "load", Status: Complete, Seconds: 1, Rows: []metric.Row{{Target: "x", Trial: 1, Step: "load", Metric: "rows", Value: 9, Unit: "count"}}},
		{Name: "q", Status: Running, Primary: "query", WritesPer: "insert", Groups: []Group{
			{Name: "insert", Clients: 1, Rate: 100, Ops: []string{"insert"}},
			{Name: "query", Clients: 2, Ops: []string{"range a", "range b"}, Of: map[string]string{"range a": "query", "range b": "query"}},
		}},
	}}
	write(t, dir, TrialFile, tr)
	lines := []Line{
		{Step: "load", Source: "ops", T: 1, DT: 1, Group: "insert", Op: "insert", Ops: 1000, Rows: 1000, Max: 1e9},
		{Step: "q", Source: "host", T: 1, DT: 1, V: map[string]float64{"x": 1}},
	}
	for i := range 4 {
		lines = append(lines,
			Line{Step: "q", Source: "ops", T: float64(i + 1), DT: 1, Group: "insert", Op: "insert", Ops: 2, Rows: 100, Errors: 1, Max: 50, ResponseMax: 70 + float64(i)},
			Line{Step: "q", Source: "ops", T: float64(i + 1), DT: 1, Group: "query", Op: "range a", Ops: 10, Rows: 10, Max: 5},
			Line{Step: "q", Source: "ops", T: float64(i + 1), DT: 1, Group: "query", Op: "range b", Ops: 30, Rows: 30, Max: 9})
	}
	s := expect.Value(CreateSeries(dir))(t)
	defer s.Close()
	expect.NoError(t, s.Write(lines...))
	return lines
}

func find(s *Step, group, op, metric string) *metric.Row {
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Group == group && r.Op == op && r.Metric == metric {
			return r
		}
	}
	return nil
}

// A trial that was killed is partial, and the step that it was in is made of
// its series; while its process lives it is running.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	running(t, dir)
	log, err := LockLog(dir)
	expect.NoError(t, err)
	got, err := ReadTrial(dir)
	expect.True(t, err == nil && got.Status == Running && got.Reason == "" && len(got.Steps) == 2 &&
		got.Steps[1].Status == Running, "while it runs", got.Status, got.Reason, err)
	log.Close()

	got, err = ReadTrial(dir)
	expect.Must(t, err == nil && got.Status == Partial && got.Reason != "" && len(got.Steps) == 2,
		"when it was killed", got.Status, got.Reason, len(got.Steps), "steps", err)
	s := &got.Steps[1]
	expect.True(t, s.Status == Partial && s.Seconds == 4 && s.Primary == "query" && len(s.Warnings) != 0, s)
	for _, c := range []struct {
		group, op, metric string
		value             float64
		n                 int64
	}{
		{"insert", "insert", "rows", 400, 8},
		{"insert", "insert", "rows_per_s", 100, 400},
		{"insert", "insert", "ops_per_s", 2, 8},
		{"insert", "insert", "service_max_us", 50, 8},
		{"insert", "insert", "response_max_us", 73, 8},
		{"insert", "", "errors", 4, 12},
		{"query", "", "errors", 0, 160},
		{"query", "range a", "rows_per_s", 10, 40},
		{"query", "query", "rows_per_s", 40, 160},
		{"query", "query", "service_max_us", 9, 160},
		{"", "", "duration_s", 4, 0},
	} {
		r := find(s, c.group, c.op, c.metric)
		expect.True(t, r != nil && r.Value == c.value && len(r.Warnings) != 0 &&
			r.Unit == metric.ByName(c.metric).Unit, c.group, c.op, c.metric, r, c.value)
	}
	expect.True(t, find(s, "query", "query", "response_max_us") == nil &&
		find(s, "query", "query", "service_p99_us") == nil, "what was not written is not known")
}

// A step of which no interval was written is left out, and so is all that an
// older trial.json does not name.
func TestUnfinishedWithoutIntervals(t *testing.T) {
	dir := t.TempDir()
	running(t, dir)
	expect.NoError(t, os.Truncate(filepath.Join(dir, SeriesFile), 0))
	got, err := ReadTrial(dir)
	expect.True(t, err == nil && len(got.Steps) == 1 && got.Status == Partial, len(got.Steps), got.Status, err)
	expect.NoError(t, os.Remove(filepath.Join(dir, SeriesFile)))
	expect.Equal(t, len(expect.Value(ReadTrial(dir))(t).Steps), 1)
}

// The step is known from its series alone too.
func TestUnfinishedUnnamed(t *testing.T) {
	dir := t.TempDir()
	running(t, dir)
	write(t, dir, TrialFile, &Trial{Format: Format, Target: "x", Trial: 1, Status: Running, Steps: []Step{{Name: "load", Status: Complete}}})
	got, err := ReadTrial(dir)
	expect.Must(t, err == nil && len(got.Steps) == 2 && got.Steps[1].Name == "q", got, err)
	r := find(&got.Steps[1], "query", "range b", "rows_per_s")
	expect.True(t, r != nil && r.Value == 30, r)
}

// Wherever the series was cut off, what is whole before it can be read.
func TestSeriesCutOff(t *testing.T) {
	dir := t.TempDir()
	want := running(t, dir)
	path := filepath.Join(dir, SeriesFile)
	whole := expect.Value(os.ReadFile(path))(t)
	for cut := len(whole); cut >= 0; cut -= 7 {
		expect.NoError(t, os.WriteFile(path, whole[:cut], 0o644))
		var got []Line
		if err := ReadSeries(dir, nil, func(l Line) error { got = append(got, l); return nil }); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if n := bytes.Count(whole[:cut], []byte("\n")); len(got) != n {
			t.Fatalf("cut at %d: %d lines, want %d", cut, len(got), n)
		}
		for i := range got {
			if d := cmp.Diff(want[i], got[i]); d != "" {
				t.Fatalf("cut at %d, line %d: %s", cut, i, d)
			}
		}
		if _, err := ReadTrial(dir); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	// A line that is broken in the middle is another thing.
	expect.NoError(t, os.WriteFile(path, append([]byte(`{"step":"q","src":"ops",`+"\n"), whole...), 0o644))
	expect.Error(t, ReadSeries(dir, nil, func(Line) error { return nil }), "line 1", "error")
}

func TestSeriesSources(t *testing.T) {
	dir := t.TempDir()
	running(t, dir)
	count := func(wanted ...string) (n int) {
		expect.NoError(t, ReadSeries(dir, wanted, func(Line) error { n++; return nil }))
		return n
	}
	a, b, c, d := count("host"), count("ops"), count("host", "ops"), count("hos")
	expect.True(t, a == 1 && b == 13 && c == 14 && d == 0, a, b, c, d)
	enough := errors.New("enough")
	err := ReadSeries(dir, nil, func(Line) error { return enough })
	expect.True(t, errors.Is(err, enough), err)
}

func TestSeriesDiskFull(t *testing.T) {
	dir := t.TempDir()
	expect.NoError(t, os.Symlink("/dev/full", filepath.Join(dir, SeriesFile)))
	s := expect.Value(CreateSeries(dir))(t)
	defer s.Close()
	first := s.Write(Line{Step: "a"})
	expect.True(t, first != nil && s.Err() == first && s.Write(Line{Step: "b"}) == first, first, s.Err())
}

// Wherever the latency log was cut off, the percentiles of an unfinished step
// come from what is whole, or are left out.
func TestLatencyLogCutOff(t *testing.T) {
	dir := t.TempDir()
	running(t, dir)
	path := filepath.Join(dir, LatencyFile)
	f := expect.Value(os.Create(path))(t)
	base := time.Unix(1e9, 0)
	log := expect.Value(hist.NewLog(f, base))(t)
	for i, op := range []string{"range a", "range b", "range a"} {
		d := hist.NewDist()
		for n := range 100 {
			d.Record(int64(1000 * (n + 1) * (i + 1)))
		}
		expect.NoError(t, log.Write(LatencyTag("q", "query", op, "service"), base, base.Add(time.Second), d))
	}
	f.Close()
	whole := expect.Value(os.ReadFile(path))(t)
	seen := map[int64]bool{}
	for cut := len(whole); cut >= 0; cut -= 5 {
		expect.NoError(t, os.WriteFile(path, whole[:cut], 0o644))
		tr, err := ReadTrial(dir)
		expect.Must(t, err == nil, "cut at", cut, err)
		var n int64
		if r := find(&tr.Steps[1], "query", "query", "service_p99_us"); r != nil {
			n = r.N
			expect.Must(t, r.Value >= 98 && r.Value <= 310, "cut at", cut, r)
		}
		expect.Must(t, n%100 == 0, "cut at", cut, n, "latencies")
		seen[n] = true
	}
	expect.True(t, seen[0] && seen[100] && seen[200] && seen[300], "numbers of latencies", seen)
}

func TestRename(t *testing.T) {
	tr := full()
	tr.Rename("other")
	expect.Equal(t, tr.Target, "other")
	expect.Equal(t, tr.Steps[0].Rows[0].Target, "other")
}

// A pipe in a results directory does not hold its reader up.
func TestOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{CampaignFile, TrialFile, SeriesFile, PlanFile} {
		expect.NoError(t, syscall.Mkfifo(filepath.Join(dir, name), 0o644))
	}
	_, err1 := ReadCampaign(dir)
	_, err2 := ReadTrial(dir)
	_, err3 := ReadPlan(dir)
	err4 := ReadSeries(dir, nil, func(Line) error { return nil })
	for _, err := range []error{err1, err2, err3, err4} {
		expect.True(t, errors.Is(err, regular.ErrNot), err)
	}
}

// A profile that would fill the memory when it is uncompressed, once or twice, is refused.
func TestBomb(t *testing.T) {
	pack := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, err := w.Write(b)
		expect.NoError(t, errors.Join(err, w.Close()))
		return out.Bytes()
	}
	tr := &Trial{Dir: t.TempDir()}
	step := &Step{Name: "s", Profile: &StepProfile{Per: "row", Units: 1}}
	path := ProfilePath(tr.Dir, step.Name, CPUProfile)
	expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	bomb := pack(make([]byte, grace+1))
	for _, content := range [][]byte{bomb, pack(bomb)} {
		expect.NoError(t, os.WriteFile(path, content, 0o644))
		expect.Refused(tr.ReadCPUProfile(step))(t, "uncompress", len(content))
	}
}

// A line of a series that never ends is not read into memory.
func TestLongLine(t *testing.T) {
	dir := t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(dir, SeriesFile), bytes.Repeat([]byte("x"), 3*longest), 0o644))
	expect.Error(t, ReadSeries(dir, nil, func(Line) error { return nil }), "longer than 1 MiB")
}
