package tarantool

import (
	"context"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
)

// point is a number that the server provides: an expression of Lua.
type point struct {
	name, unit, expr string
	gauge            bool
}

// points reads lines of points: kind and unit, then names and expressions.
func points(lines string) (out []point) {
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		for _, w := range words[2:] {
			name, expr, _ := strings.Cut(w, "=")
			if !strings.HasPrefix(name, "engine.") {
				name = "tarantool." + name
			}
			out = append(out, point{name, words[1], expr, words[0] == "gauge"})
		}
	}
	return out
}

// common are the points of any server. s, n, m and l are the results of its functions;
// requests of Lua functions count in s, but not in n.
var common = points(`counter count requests=n.REQUESTS.total
	gauge count connections=n.CONNECTIONS.current
	counter bytes bytes_received=n.RECEIVED.total bytes_sent=n.SENT.total
	counter count select=s.SELECT.total insert=s.INSERT.total replace=s.REPLACE.total update=s.UPDATE.total
	counter count upsert=s.UPSERT.total delete=s.DELETE.total call=s.CALL.total error=s.ERROR.total
	gauge bytes memory.data=m.data memory.index=m.index memory.cache=m.cache memory.net=m.net memory.lua=m.lua memory.tx=m.tx
	gauge bytes arena_used=l.arena_used quota_size=l.quota_size quota_used=l.quota_used`)

// ofVinyl are the points of vinyl as a whole. Writes are throttled when their rate
// approaches its limit.
var ofVinyl = points(`counter count ` + engine.Commits +
	`=v.tx.commit vinyl.tx.rollback=v.tx.rollback vinyl.tx.conflict=v.tx.conflict
	gauge bytes ` + engine.DirtyBytes + `=v.memory.level0 ` + engine.CompactionDebt + `=v.scheduler.compaction_queue
	gauge count vinyl.tx.read_views=v.tx.read_views
	gauge bytes vinyl.memory.tuple_cache=v.memory.tuple_cache vinyl.memory.page_index=v.memory.page_index
	gauge bytes vinyl.memory.bloom_filter=v.memory.bloom_filter
	gauge bytes vinyl.disk.data=v.disk.data vinyl.disk.data_compacted=v.disk.data_compacted vinyl.disk.index=v.disk.index
	counter count ` + engine.Flushes + `=v.scheduler.dump_count
	counter ns vinyl.dump.time=v.scheduler.dump_time*1e9 vinyl.compaction.time=v.scheduler.compaction_time*1e9
	counter bytes vinyl.dump.input=v.scheduler.dump_input vinyl.dump.output=v.scheduler.dump_output
	counter bytes vinyl.compaction.input=v.scheduler.compaction_input vinyl.compaction.output=v.scheduler.compaction_output
	gauge count vinyl.tasks=v.scheduler.tasks_inprogress
	counter count vinyl.tasks_failed=v.scheduler.tasks_failed
	gauge bytes/s vinyl.write_rate=v.regulator.write_rate vinyl.rate_limit=v.regulator.rate_limit
	gauge bytes/s vinyl.dump_bandwidth=v.regulator.dump_bandwidth`)

// ofIndex are the points of an index of vinyl, x. The sum of the first over all indexes is
// the number of bytes put into the storage.
var ofIndex = points(`counter bytes index.put=x.put.bytes
	counter count index.lookups=x.lookup index.cache_lookups=x.cache.lookup index.cache_rows=x.cache.get.rows
	counter count index.disk_lookups=x.disk.iterator.lookup index.pages_read=x.disk.iterator.read.pages
	counter bytes index.read=x.disk.iterator.read.bytes_compressed
	counter count index.bloom_hits=x.disk.iterator.bloom.hit index.bloom_misses=x.disk.iterator.bloom.miss
	gauge bytes index.disk=x.disk.bytes_compressed
	gauge count index.runs=x.run_count index.ranges=x.range_count`)

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
	return strings.Join(quantity.Texts(points, func(p point) string { return p.expr }), ", ")
}

// reader reads counters on its own connection.
type reader struct {
	*conn
	own float64 // requests made by the reader itself
	// taken are the bytes put into each index, including dropped ones: their sum must not fall.
	taken map[string]float64
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
	r.own++ // the first sample includes the requests since the connection was made
	got.Server[0] -= r.own
	s.Counter(engine.Queries, "count", got.Server[0])
	s.Gauge(engine.Sessions, "count", got.Server[1]-1)
	add(s, common, got.Server[:len(common)])
	if len(got.Indexes) == 0 {
		return nil
	}
	add(s, ofVinyl, got.Server[len(common):])
	if r.taken == nil {
		r.taken = map[string]float64{}
	}
	for _, ix := range got.Indexes {
		r.taken[ix.Name] = ix.Values[0]
		add(s, ofIndex, ix.Values, "index", ix.Name)
	}
	taken := 0.0
	for _, n := range r.taken {
		taken += n
	}
	s.Counter(engine.BytesTaken, "bytes", taken)
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
