package tarantool

import (
	"context"
	"fmt"
	"strings"

	"rumbench/engine"
)

// point is a number that the server knows: an expression of Lua.
type point struct {
	name, unit, expr string
	gauge            bool
}

// common are the points of any server. s, n, m and l are what its functions
// return; requests of Lua functions count in s, but not in n.
var common = []point{
	{"tarantool.requests", "count", "n.REQUESTS.total", false},
	{"tarantool.connections", "count", "n.CONNECTIONS.current", true},
	{"tarantool.bytes_received", "bytes", "n.RECEIVED.total", false},
	{"tarantool.bytes_sent", "bytes", "n.SENT.total", false},
	{"tarantool.select", "count", "s.SELECT.total", false},
	{"tarantool.insert", "count", "s.INSERT.total", false},
	{"tarantool.replace", "count", "s.REPLACE.total", false},
	{"tarantool.update", "count", "s.UPDATE.total", false},
	{"tarantool.upsert", "count", "s.UPSERT.total", false},
	{"tarantool.delete", "count", "s.DELETE.total", false},
	{"tarantool.call", "count", "s.CALL.total", false},
	{"tarantool.error", "count", "s.ERROR.total", false},
	{"tarantool.memory.data", "bytes", "m.data", true},
	{"tarantool.memory.index", "bytes", "m.index", true},
	{"tarantool.memory.cache", "bytes", "m.cache", true},
	{"tarantool.memory.net", "bytes", "m.net", true},
	{"tarantool.memory.lua", "bytes", "m.lua", true},
	{"tarantool.memory.tx", "bytes", "m.tx", true},
	{"tarantool.arena_used", "bytes", "l.arena_used", true},
	{"tarantool.quota_size", "bytes", "l.quota_size", true},
	{"tarantool.quota_used", "bytes", "l.quota_used", true},
}

// ofVinyl are the points of vinyl as a whole.
var ofVinyl = []point{
	{engine.Commits, "count", "v.tx.commit", false},
	{engine.DirtyBytes, "bytes", "v.memory.level0", true},
	{engine.CompactionDebt, "bytes", "v.scheduler.compaction_queue", true},
	{"tarantool.vinyl.tx.rollback", "count", "v.tx.rollback", false},
	{"tarantool.vinyl.tx.conflict", "count", "v.tx.conflict", false},
	{"tarantool.vinyl.tx.read_views", "count", "v.tx.read_views", true},
	{"tarantool.vinyl.memory.tuple_cache", "bytes", "v.memory.tuple_cache", true},
	{"tarantool.vinyl.memory.page_index", "bytes", "v.memory.page_index", true},
	{"tarantool.vinyl.memory.bloom_filter", "bytes", "v.memory.bloom_filter", true},
	{"tarantool.vinyl.disk.data", "bytes", "v.disk.data", true},
	{"tarantool.vinyl.disk.data_compacted", "bytes", "v.disk.data_compacted", true},
	{"tarantool.vinyl.disk.index", "bytes", "v.disk.index", true},
	{"tarantool.vinyl.dump.count", "count", "v.scheduler.dump_count", false},
	{"tarantool.vinyl.dump.time", "ns", "v.scheduler.dump_time * 1e9", false},
	{"tarantool.vinyl.dump.input", "bytes", "v.scheduler.dump_input", false},
	{"tarantool.vinyl.dump.output", "bytes", "v.scheduler.dump_output", false},
	{"tarantool.vinyl.compaction.time", "ns", "v.scheduler.compaction_time * 1e9", false},
	{"tarantool.vinyl.compaction.input", "bytes", "v.scheduler.compaction_input", false},
	{"tarantool.vinyl.compaction.output", "bytes", "v.scheduler.compaction_output", false},
	{"tarantool.vinyl.tasks", "count", "v.scheduler.tasks_inprogress", true},
	{"tarantool.vinyl.tasks_failed", "count", "v.scheduler.tasks_failed", false},
	// Where the rate of writes comes near its limit, they are throttled.
	{"tarantool.vinyl.write_rate", "bytes/s", "v.regulator.write_rate", true},
	{"tarantool.vinyl.rate_limit", "bytes/s", "v.regulator.rate_limit", true},
	{"tarantool.vinyl.dump_bandwidth", "bytes/s", "v.regulator.dump_bandwidth", true},
}

// ofIndex are the points of an index of vinyl, x. The first, summed, is what the
// storage has taken in.
var ofIndex = []point{
	{"tarantool.index.put", "bytes", "x.put.bytes", false},
	{"tarantool.index.lookups", "count", "x.lookup", false},
	{"tarantool.index.cache_lookups", "count", "x.cache.lookup", false},
	{"tarantool.index.cache_rows", "count", "x.cache.get.rows", false},
	{"tarantool.index.disk_lookups", "count", "x.disk.iterator.lookup", false},
	{"tarantool.index.pages_read", "count", "x.disk.iterator.read.pages", false},
	{"tarantool.index.read", "bytes", "x.disk.iterator.read.bytes_compressed", false},
	{"tarantool.index.bloom_hits", "count", "x.disk.iterator.bloom.hit", false},
	{"tarantool.index.bloom_misses", "count", "x.disk.iterator.bloom.miss", false},
	{"tarantool.index.disk", "bytes", "x.disk.bytes_compressed", true},
	{"tarantool.index.runs", "count", "x.run_count", true},
	{"tarantool.index.ranges", "count", "x.range_count", true},
}

// query is one expression for all points: they are read in one round trip.
var query = `local s, n, v, m, l = box.stat(), box.stat.net(), box.stat.vinyl(), box.info.memory(), box.slab.info()
local indexes = {}
for id, space in pairs(box.space) do
	for no, index in pairs(type(id) == 'number' and space.engine == 'vinyl' and space.index or {}) do
		if type(no) == 'number' then
			local x = index:stat()
			table.insert(indexes, {name = space.name .. '.' .. index.name, values = {` + expressions(ofIndex) + `}})
		end
	end
end
return require('json').encode({server = {` + expressions(common) + ", " + expressions(ofVinyl) + `}, indexes = indexes})`

func expressions(points []point) string {
	var out []string
	for _, p := range points {
		out = append(out, p.expr)
	}
	return strings.Join(out, ", ")
}

// reader reads counters on a connection of its own.
type reader struct {
	*conn
	own float64 // requests that were made here
}

// Counters adds the counters of the server, and of its indexes in vinyl.
func (r *reader) Counters(ctx context.Context, s *engine.Sample) error {
	var got struct {
		Server  []float64
		Indexes []struct {
			Name   string
			Values []float64
		}
	}
	if err := r.eval(ctx, &got, query); err != nil {
		return fmt.Errorf("read the counters: %w", err)
	}
	if len(got.Server) != len(common)+len(ofVinyl) {
		return fmt.Errorf("read the counters: the server knows %d of %d", len(got.Server), len(common)+len(ofVinyl))
	}
	r.own++ // the first has counted all since the connection was made
	s.Counter(engine.Queries, "count", got.Server[0]-r.own)
	s.Gauge(engine.Sessions, "count", got.Server[1]-1)
	add(s, common, got.Server[:len(common)])
	if len(got.Indexes) == 0 {
		return nil
	}
	add(s, ofVinyl, got.Server[len(common):])
	sums := make([]float64, len(ofIndex))
	for _, ix := range got.Indexes {
		for i, v := range ix.Values {
			sums[i] += v
		}
		add(s, ofIndex, ix.Values, "index", ix.Name)
	}
	s.Counter(engine.BytesTaken, "bytes", sums[0])
	return nil
}

func add(s *engine.Sample, points []point, values []float64, labels ...string) {
	for i, v := range values {
		if p := points[i]; p.gauge {
			s.Gauge(p.name, p.unit, v, labels...)
		} else {
			s.Counter(p.name, p.unit, v, labels...)
		}
	}
}
