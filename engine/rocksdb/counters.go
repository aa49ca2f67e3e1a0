//go:build native && cgo && linux

package rocksdb

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/native"
)

// gauges are the properties that are sampled, summed over the families.
var gauges = []struct{ name, unit string }{
	{memtables, "bytes"}, {"rocksdb.num-immutable-mem-table", "count"}, {"rocksdb.estimate-table-readers-mem", "bytes"},
	{debt, "bytes"}, {"rocksdb.compaction-pending", "count"},
	{"rocksdb.live-sst-files-size", "bytes"}, {"rocksdb.total-sst-files-size", "bytes"}, {"rocksdb.estimate-live-data-size", "bytes"},
}

const (
	memtables = "rocksdb.cur-size-all-mem-tables"
	debt      = "rocksdb.estimate-pending-compaction-bytes"
)

// shared are those that are the same for all families.
var shared = []struct{ name, unit string }{
	{"rocksdb.num-running-compactions", "count"}, {"rocksdb.num-running-flushes", "count"}, {"rocksdb.block-cache-usage", "bytes"},
	{"rocksdb.actual-delayed-write-rate", "bytes/s"}, {"rocksdb.is-write-stopped", "count"},
}

func (s *store) Counters(out *engine.Sample) error {
	found := s.statistics(out)
	for _, g := range shared {
		out.Gauge(pointName(g.name), g.unit, float64(s.number(0, g.name)))
	}
	for _, g := range gauges {
		found[g.name] = float64(s.sum(g.name))
		out.Gauge(pointName(g.name), g.unit, found[g.name])
	}
	s.levels(out)
	native.Counters(out)
	// A compaction's reads count as misses, but they add no block to the cache: a
	// miss is a block that was added.
	out.Counter(engine.CacheLookups, "count", found["rocksdb.block.cache.hit"]+found["rocksdb.block.cache.add"])
	out.Counter(engine.CacheMisses, "count", found["rocksdb.block.cache.add"])
	out.Counter(engine.BytesWritten, "bytes", found["rocksdb.wal.bytes"]+found["rocksdb.flush.write.bytes"]+found["rocksdb.compact.write.bytes"])
	out.Counter(engine.LogBytes, "bytes", found["rocksdb.wal.bytes"])
	out.Counter(engine.BytesTaken, "bytes", found["rocksdb.bytes.written"])
	out.Counter(engine.Stalls, "count", found["rocksdb.db.write.stall"])
	out.Counter(engine.StallTime, "ns", found["rocksdb.stall.micros"]*1e3)
	out.Gauge(engine.DirtyBytes, "bytes", found[memtables])
	out.Gauge(engine.CompactionDebt, "bytes", found[debt])
	return nil
}

// statistics adds RocksDB's tickers by name: their numbers differ from version to
// version. It returns them, and the counts of its histograms.
func (s *store) statistics(out *engine.Sample) map[string]float64 {
	text := C.store_statistics(s.c)
	defer C.release(s.c, text)
	found := map[string]float64{}
	for line := range strings.Lines(C.GoString(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		histogram := !strings.HasPrefix(rest, "COUNT : ")
		_, rest, _ = strings.Cut(rest, "COUNT : ")
		count, _, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseFloat(count, 64)
		if err != nil {
			continue
		}
		found[name] = n
		switch {
		case histogram:
		case strings.Contains(name, "micros"):
			out.Counter(pointName(strings.ReplaceAll(name, "micros", "ns")), "ns", n*1e3)
		case strings.Contains(name, "nanos"):
			out.Counter(pointName(strings.ReplaceAll(name, "nanos", "ns")), "ns", n)
		case strings.Contains(name, "bytes"):
			out.Counter(pointName(name), "bytes", n)
		default:
			out.Counter(pointName(name), "count", n)
		}
	}
	return found
}

// levels adds the tables of each level.
func (s *store) levels(out *engine.Sample) {
	for level := range 7 {
		n := s.sum("rocksdb.num-files-at-level" + strconv.Itoa(level))
		out.Gauge("rocksdb.level.tables", "count", float64(n), "level", strconv.Itoa(level))
	}
}

// pointName returns RocksDB's name in our form: lower case, with underscores.
func pointName(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "-", "_"))
}
