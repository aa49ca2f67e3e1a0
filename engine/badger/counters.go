package badger

import (
	"expvar"
	"strconv"

	"github.com/dgraph-io/ristretto/v2"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
)

// counted are Badger's statistics. They belong to the process, and this process has one database.
// Bytes put into memtables are estimates that Badger calls written to level 0, and nothing counts
// the bytes written to their logs: bytes written are known from process and device only.
var counted = []struct{ name, unit, as string }{
	{"badger_get_num_user", "count", "badger.gets"},
	{"badger_get_with_result_num_user", "count", "badger.gets_found"},
	{"badger_put_num_user", "count", "badger.puts"},
	{"badger_iterator_num_user", "count", "badger.iterators"},
	{"badger_get_num_memtable", "count", "badger.memtable.gets"},
	{"badger_write_bytes_user", "bytes", engine.BytesTaken},
	{"badger_write_bytes_l0", "bytes", "badger.memtable.put_bytes"},
	{"badger_read_bytes_lsm", "bytes", "badger.value_bytes_read"},
	{"badger_write_num_vlog", "count", "badger.value_log.writes"},
	{"badger_write_bytes_vlog", "bytes", "badger.value_log.bytes_written"},
	{"badger_read_num_vlog", "count", "badger.value_log.reads"},
	{"badger_read_bytes_vlog", "bytes", "badger.value_log.bytes_read"},
}

// countedByLevel are the statistics by level; Badger names the levels "l0", "l1" and so on.
var countedByLevel = []struct{ name, unit, as string }{
	{"badger_write_bytes_compaction", "bytes", "badger.level.compacted_bytes"},
	{"badger_get_num_lsm", "count", "badger.level.gets"},
	{"badger_hit_num_lsm_bloom_filter", "count", "badger.level.filtered"},
}

func (s *store) Counters(out *engine.Sample) error {
	for _, c := range counted {
		if v, ok := expvar.Get(c.name).(*expvar.Int); ok {
			out.Counter(c.as, c.unit, float64(v.Value()))
		}
	}
	if v, ok := expvar.Get("badger_compaction_current_num_lsm").(*expvar.Int); ok {
		out.Gauge("badger.compacting_tables", "count", float64(v.Value()))
	}
	for _, c := range countedByLevel {
		m, ok := expvar.Get(c.name).(*expvar.Map)
		if !ok {
			continue
		}
		m.Do(func(kv expvar.KeyValue) {
			if v, ok := kv.Value.(*expvar.Int); ok {
				out.Counter(c.as, c.unit, float64(v.Value()), "level", kv.Key)
			}
		})
	}
	for _, l := range s.db.Levels() {
		level := "l" + strconv.Itoa(l.Level)
		out.Gauge("badger.level.tables", "count", float64(l.NumTables), "level", level)
		out.Gauge("badger.level.size_bytes", "bytes", float64(l.Size), "level", level)
		out.Gauge("badger.level.stale_bytes", "bytes", float64(l.StaleDatSize), "level", level)
		if quantity.Finite(l.Score) {
			out.Gauge("badger.level.score", "ratio", l.Score, "level", level)
		}
	}
	if m := s.db.BlockCacheMetrics(); m != nil {
		addCache(out, "badger.block_cache", m)
		// Lookups include those of compactions; indexes have their own cache.
		out.Counter(engine.CacheLookups, "count", float64(m.Hits()+m.Misses()))
		out.Counter(engine.CacheMisses, "count", float64(m.Misses()))
	}
	if m := s.db.IndexCacheMetrics(); m != nil {
		addCache(out, "badger.index_cache", m)
	}
	return nil
}

func addCache(out *engine.Sample, name string, m *ristretto.Metrics) {
	out.Counter(name+".hits", "count", float64(m.Hits()))
	out.Counter(name+".misses", "count", float64(m.Misses()))
	out.Gauge(name+".size_bytes", "bytes", float64(m.CostAdded()-m.CostEvicted()))
}
