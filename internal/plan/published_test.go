package plan

import (
	"testing"

	"rumbench/internal/expect"
)

func TestPublished(t *testing.T) {
	const head = "workload: ibench\ntargets: [pebble, {name: big.lite, engine: sqlite}]\n"
	p := load(t, head+`published:
  - source: |
      A. Author, "On trees",
      2016
    hardware: a laptop
    note: |
      1 GB =
      2^30 bytes
    rows:
      - {name: rx.snap, like: big.lite, step: load, per: insert row, figures: {rows_per_s: 17705, write_kb: 1.75, db_bytes: 18GiB, device_reads: 0}}
      - {name: 5.7, figures: {db_bytes: 18.3GB, live_bytes: 1000, service_p99_us: 1e3}}
  - {source: a table, hardware: none, rows: [{name: a, like: pebble, step: query, figures: {stalls: 0x10}}]}
`)
	want := []Published{
		{
			Source: `A. Author, "On trees", 2016`, Hardware: "a laptop", Note: "1 GB = 2^30 bytes",
			Rows: []PublishedRow{
				{Name: "rx.snap", Like: "big.lite", Step: "load", Per: "insert row", Figures: map[string]float64{"rows_per_s": 17705, "write_kb": 1.75, "db_bytes": 18 << 30, "device_reads": 0}},
				{Name: "5.7", Figures: map[string]float64{"db_bytes": 18.3e9, "live_bytes": 1000, "service_p99_us": 1000}},
			},
		},
		{Source: "a table", Hardware: "none", Rows: []PublishedRow{{Name: "a", Like: "pebble", Step: "query", Figures: map[string]float64{"stalls": 16}}}},
	}
	expect.Same(t, want, p.Published)
	if p := load(t, head+"published: []\n"); p.Published != nil {
		t.Errorf("got %v", p.Published)
	}
}

// A target is known by its name also after an override, and where another
// problem keeps it from being a target.
func TestPublishedLike(t *testing.T) {
	const text = `workload: ibench
targets: [{name: a, engine: pebble}, {name: b, engine: sqlite}]
published: [{source: s, hardware: h, rows: [{name: x, like: b, figures: {rows: 1}}]}]
`
	ps := loadWrong(t, text, "targets.b.name=c")
	expect.True(t, len(ps) == 1 && ps[0].Line == 3 && ps[0].Column == 61 && ps[0].Hint == "one of a, c", "got", ps)
	ps = loadWrong(t, text, "targets.b.engine=nosuch")
	expect.True(t, len(ps) == 1 && ps[0].File == "--set targets.b.engine=nosuch", "got", ps)
	load(t, text, "targets.b.name=c", "published=[]")
}

func TestPublishedStepHint(t *testing.T) {
	ps := loadWrong(t, `workload: ibench
targets: [pebble]
published: [{source: s, hardware: h, rows: [{name: x, step: lode, figures: {rows: 1}}]}]
`)
	expect.True(t, len(ps) == 1 && ps[0].Line == 3 && ps[0].Column == 61 && ps[0].Hint == "did you mean load?; --set published=[] leaves all published figures out", ps)
}
