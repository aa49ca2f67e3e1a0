package explain

import (
	"math"
	"testing"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/workload"
)

// inserts is a run that inserts into one index of 1000 pages, of which the cache holds
// 400, with a log that has room for 2000 inserts, of which it has 1 KB each.
func inserts(twice float64) structured {
	const page, units = 16384, 10_000
	step := result.Step{
		Name: "insert", Seconds: 10, Primary: "insert", WritesPer: "insert",
		Touches:   []workload.Touch{{Table: "t", Index: "i", PerUnit: 1, Changes: true}},
		Counters:  []observe.Change{{Name: engine.CacheHeld, Kind: engine.Gauge, Unit: "bytes", Value: 400 * page}},
		Structure: engine.Structure{Shape: engine.InPlace, Page: page, LogRoom: 2000 * 1024},
		Rows: []metric.Row{
			{Metric: "object_bytes", Labels: metric.Labels{Object: "t.i"}, Value: 1000 * page},
			{Metric: "live_bytes", Value: 1e6},
			{Metric: "part_kb", Op: string(account.LogPart), Per: "insert row", Value: 1},
			{Metric: "part_kb", Op: string(account.DoublewritePart), Per: "insert row", Value: twice},
		},
	}
	before := result.Step{Name: "load", Rows: []metric.Row{{Metric: "live_bytes", Value: 1e6}}}
	trial := &result.Trial{Steps: []result.Step{before, step}}
	return structured{&run{Step: &trial.Steps[1], trial: trial, units: units}}
}

// What an engine writes that counts its log alone is not all padding.
func TestSplitWrites(t *testing.T) {
	value := func(rows ...metric.Row) sheet {
		r := run{Step: &result.Step{Rows: append(rows, metric.Row{Metric: "write_kb", Per: "insert row", Value: 9}, metric.Row{Metric: "process_write_kb", Per: "insert row", Value: 7})}}
		return splitWrites(&r, compare.Key{Metric: "write_kb", Per: "insert row"})
	}
	part := func(p account.Part) metric.Row {
		return metric.Row{Metric: "part_kb", Op: string(p), Per: "insert row", Value: 2}
	}
	for _, c := range []struct {
		item Item
		want float64
		x    sheet
	}{{Uncounted, 5, value(part(account.LogPart))}, {Padding, 3, value(part(account.LogPart), part(account.PagesPart))}, {Rest, 2, value(part(account.LogPart))}} {
		expect.Equal(t, c.x.find(c.item).value, c.want, c.item)
	}
}

func TestTree(t *testing.T) {
	k := compare.Key{Metric: "write_kb", Per: "insert row"}
	r := inserts(0)
	expect.Near(t, r.treeReads(k), 0.6*16, 1e-9, "KB are read,: 600 of 1000 pages are not in the cache")
	// 2000 inserts touch 1000·(1−e⁻²) pages: less than one each, and less than what misses.
	expect.Near(t, r.treeWrites(k), 0.6*16+1, 1e-9, "KB are written")
	expect.Near(t, inserts(10).treeWrites(k), 2*0.6*16+1, 1e-9, "KB are written with pages twice")
	r.Counters[0].Value = 1e9 // all is in the cache: the log decides
	expect.Near(t, r.treeWrites(k), 0.5*(1-math.Exp(-2))*16+1, 1e-9, "KB are written where the log decides")
	r.Rows = append(r.Rows, metric.Row{Metric: "part_kb", Op: string(account.FullPagesPart), Per: "insert row", Value: 3})
	if got, want := r.treeWrites(k), 2*2*(1-math.Exp(-0.5))*16+1; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v KB are written with whole pages in the log, want %v: 500 inserts fill it", got, want)
	}
	r.units = 100
	if got := r.treeWrites(k); !math.IsNaN(got) {
		t.Errorf("%v KB are written in a step in which the log never fills", got)
	}
	r.Touches = nil
	if got := r.treeReads(k); !math.IsNaN(got) {
		t.Errorf("%v KB are read where nobody knows what is touched", got)
	}
}

// Each commit of 10 inserts, into two indexes, writes the leaves that it changed, and those
// above them; pages that are only read are not written.
func TestCopyWrites(t *testing.T) {
	r := inserts(0)
	k := compare.Key{Metric: "write_kb", Per: "insert row"}
	r.trial.Durability = "os"
	if v := r.copyWrites(k); !math.IsNaN(v) {
		t.Errorf("%v KB of a tree that is updated in place", v)
	}
	r.Touches[0].PerUnit = 2
	r.Touches = append(r.Touches, workload.Touch{Table: "t", Index: "i", PerUnit: 1})
	r.Structure = engine.Structure{Shape: engine.CopyOnWrite, Page: 16384, Commit: 16384}
	r.Counters = append(r.Counters, observe.Change{Name: engine.WriteCommits, Kind: engine.Counter, Unit: "count", Value: 1000})
	pages := 1 + 1000*(1-math.Pow(0.999, 20)) + 1000.0/256*(1-math.Pow(1-256.0/1000, 20)) + 1
	expect.Near(t, r.copyWrites(k), pages*16/10, 1e-6, "KB are written")
	r.trial.Durability = "process"
	if v := r.copyWrites(k); !math.IsNaN(v) {
		t.Errorf("%v KB where the page cache writes once what was overwritten", v)
	}
}

// A look-up reads one block, unless it is in the cache; entries that are only put are not
// looked up. What merges read where something was flushed is not known here.
func TestMergeReads(t *testing.T) {
	k := compare.Key{Metric: "read_kb", Per: "insert row"}
	r := inserts(0)
	r.Rows[0].Labels.Object = "t"
	r.Touches = []workload.Touch{{Table: "t", PerUnit: 1, Changes: true}, {Table: "t", Index: "put", PerUnit: 2, Changes: true}}
	r.Structure = engine.Structure{Shape: engine.Leveled, Block: 16384, Filters: true}
	expect.Near(t, r.mergeReads(k), 0.6*16, 1e-9, "KB are read")
	r.Counters = append(r.Counters, observe.Change{Name: engine.FlushBytes, Kind: engine.Counter, Value: 1e6})
	if got := r.mergeReads(k); !math.IsNaN(got) {
		t.Errorf("%v KB are read beside merges that are not known", got)
	}
	r = merged(100e6)
	r.Structure.Block, r.Structure.Filters = 16384, true
	expect.Near(t, r.mergeReads(k), 0.5*16+16*2, 1e-9, "KB are read with merges")
	r.Structure.Filters = false
	if got := r.mergeReads(k); !math.IsNaN(got) {
		t.Errorf("%v KB are read without filters", got)
	}
	r.Structure.Filters = true
	r.Touches[0] = workload.Touch{Table: "t", Index: "i", PerUnit: 1}
	if got := r.mergeReads(k); !math.IsNaN(got) {
		t.Errorf("%v KB are read of a search in an index", got)
	}
}

// merged is a run that changes an index in an LSM tree 100 times as large as a memtable, half
// of what it puts gone when it is flushed.
func merged(flushed float64) structured {
	r := inserts(0)
	r.Rows[0].Labels.Object = "t"
	r.Touches = []workload.Touch{{Table: "t", PerUnit: 0.5}, {Table: "t", Index: "i", PerUnit: 1, Changes: true}}
	r.Rows = append(r.Rows, metric.Row{Metric: "data_bytes", Value: 100e6}, metric.Row{Metric: "part_kb", Op: string(account.FlushPart), Per: "insert row", Value: 2})
	r.trial.Steps[0].Rows = append(r.trial.Steps[0].Rows, metric.Row{Metric: "data_bytes", Value: 100e6})
	r.Structure = engine.Structure{Shape: engine.Leveled, Memtable: 2e6}
	r.Counters = []observe.Change{
		{Name: engine.CacheHeld, Kind: engine.Gauge, Value: 0},
		{Name: engine.BytesTaken, Kind: engine.Counter, Value: 2 * flushed}, {Name: engine.FlushBytes, Kind: engine.Counter, Value: flushed},
	}
	return r
}

// Two levels, each ten times as large as what is above, rewrite what is flushed 0.8·2·10 times.
func TestMergeWrites(t *testing.T) {
	k := compare.Key{Metric: "write_kb", Per: "insert row"}
	expect.Near(t, merged(100e6).mergeWrites(k), 1+2+2*16.0, 1e-9, "KB are written")
	if got := merged(40e6).mergeWrites(k); !math.IsNaN(got) {
		t.Errorf("%v KB are written where little of the tree was merged", got)
	}
	r := merged(100e6)
	r.Touches = nil
	if got := r.mergeWrites(k); !math.IsNaN(got) {
		t.Errorf("%v KB are written of keys that may be in order", got)
	}
}
