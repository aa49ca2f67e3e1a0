//go:build native && cgo && linux

package rocksdb

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/model"
)

func open(c engine.Config, set settings) (engine.DB, error) {
	s, err := openStore(c, set)
	if err != nil {
		return nil, fmt.Errorf("open rocksdb in %s: %w", c.Dir, err)
	}
	return set.switches.Open(s, c)
}

func openStore(c engine.Config, set settings) (_ *store, err error) {
	if err := load(set.path); err != nil {
		return nil, err
	}
	toDisk := set.durability == model.DurabilityOS
	native.SetSyncs(toDisk)
	s := &store{dir: c.Dir, settings: set}
	s.c = C.store_new(C.int(set.families), C.int(slices.Index(transactions, set.transactions)), flag(toDisk))
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	// A database that was made with a different value of families would look empty: in an
	// existing database RocksDB refuses missing families.
	_, missing := os.Stat(filepath.Join(c.Dir, "CURRENT"))
	knobs := fmt.Sprintf("%s;create_missing_column_families=%v", set.knobs, missing != nil)
	for _, o := range []struct{ knob, text string }{{"compression", knobs}, {"options.rocksdb", set.users}} {
		if err := s.with(o.text, func(text *C.char) *C.char { return C.store_set(s.c, text) }); err != nil {
			return nil, engine.Refuse(o.knob, o.text, "library %s: %v", set.library, err)
		}
	}
	if set.switches.Merges() {
		if err := s.mergeRows(c.Schema); err != nil {
			return nil, err
		}
	}
	if err := s.with(c.Dir, func(dir *C.char) *C.char { return C.store_open(s.c, dir) }); err != nil {
		return nil, err
	}
	s.pool.New = func() any { return &tx{store: s, room: make([]byte, 512)} }
	if s.effective, err = s.readBack(); err != nil {
		return nil, err
	}
	s.recall()
	return s, nil
}

// Structure returns the structure of the tree according to the options.
func (s *store) Structure() (engine.Structure, error) { return s.structure, nil }

// recall reads from the options the structure, and whether reads bypass the page cache.
func (s *store) recall() {
	option := func(name string) string {
		for _, o := range s.effective {
			if strings.HasSuffix(o.Name, "."+name) {
				return o.Value
			}
		}
		return ""
	}
	is := func(name string, values ...string) bool { return slices.Contains(values, option(name)) }
	size := func(name string) int64 {
		n, _ := strconv.ParseInt(option(name), 10, 64) // as RocksDB wrote it
		return n
	}
	plain := is("compression", "kNoCompression") && is("compression_per_level", "") &&
		is("bottommost_compression", "kDisableCompressionOption", "kNoCompression")
	s.compression = []string{option("compression"), option("bottommost_compression")}
	filtered := !is("filter_policy", "nullptr") && is("whole_key_filtering", "true")
	if is("compaction_style", "kCompactionStyleLevel") {
		s.structure = engine.Structure{Shape: engine.Leveled, Memtable: size("write_buffer_size")}
		s.structure.Filters = filtered && !s.settings.switches.Merges() // a row that is merged is not looked up
		if plain {
			s.structure.Block = size("block_size")
		}
	}
	s.direct = option("use_direct_reads") == "true"
}

// library is RocksDB's.
var library native.Library

func load(path string) error {
	return library.Load(path, func(l unsafe.Pointer) *byte { return (*byte)(unsafe.Pointer(C.load(l))) })
}

func (s *store) mergeRows(schema model.Schema) error {
	o, err := kvkit.NewOperator(schema)
	if err != nil {
		return err
	}
	spaces, width := 0, 0
	for space, format := range o.Formats() {
		spaces, width = max(spaces, int(space)+1), max(width, len(format)+1)
	}
	table := make([]byte, spaces*width)
	for space, format := range o.Formats() {
		copy(table[int(space)*width:], format)
	}
	return s.with(o.Name(), func(name *C.char) *C.char {
		C.store_merge(s.c, name, chars(table), C.size_t(spaces), C.size_t(width))
		return nil
	})
}

// readBack returns the options with which RocksDB runs.
func (s *store) readBack() ([]engine.Setting, error) {
	out := []engine.Setting{
		{Name: "library", Value: s.settings.path, Source: engine.AsSet},
		{Name: "transactions", Value: s.settings.transactions, Source: engine.AsSet},
		{Name: "cache", Value: fmt.Sprint(s.number(0, "rocksdb.block-cache-capacity")),
			Source: engine.ReadBack},
	}
	if asserts(s.settings.path) {
		out = append(out, engine.Setting{Name: "warning", Source: engine.ReadBack,
			Value: "the library was built with assertions: operations take up to twice the CPU of a release, and a failed " +
				"write of the log ends the process"})
	}
	options, err := kvkit.ReadOptions(s.dir)
	for _, o := range options { // all families have the same
		if !strings.HasPrefix(o.Name, "CFOptions") && !strings.HasPrefix(o.Name, "TableOptions") ||
			strings.Contains(o.Name, `"default"`) {
			o.Aside = strings.HasSuffix(o.Name, ".create_missing_column_families") // only while it is made
			out = append(out, o)
		}
	}
	return out, err
}

type store struct {
	c           *C.store
	dir         string
	settings    settings
	effective   []engine.Setting
	structure   engine.Structure
	compression []string  // the names of the algorithms, of all levels
	direct      bool      // bypasses the page cache
	pool        sync.Pool // of *tx
}

func (s *store) Concurrency() kvkit.Concurrency { return s.settings.concurrency() }

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// fail returns an error of RocksDB, nil for none.
func (s *store) fail(e *C.char) error {
	if e == nil {
		return nil
	}
	text := C.GoString(e)
	C.release(e)
	return errorOf(text)
}

func (s *store) Settings() []engine.Setting {
	log := map[model.Durability]string{
		model.DurabilityNone:    "written to the operating system whenever its buffer is full; nothing is synced",
		model.DurabilityProcess: "written to the operating system at commit; nothing is synced",
		model.DurabilityOS:      "synced at commit",
	}[s.settings.durability]
	return append([]engine.Setting{
		engine.Compressed(engine.ReadBack, s.compression...), engine.Bypasses(s.direct),
		{Name: "write-ahead log", Value: log, Source: engine.AsSet},
	}, s.effective...)
}

// with calls a function with a text, and returns its error.
func (s *store) with(text string, f func(*C.char) *C.char) error {
	c := C.CString(text)
	defer C.free(unsafe.Pointer(c))
	return s.fail(f(c))
}

// all represents all families.
const all = -1

// number returns a property of a family, or its sum, 0 if this version does not have it.
func (s *store) number(family int, name string) uint64 {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	return uint64(C.store_number(s.c, C.int(family), n))
}

// Sizes returns the bytes in tables: memtables and the log belong to no range. Nothing is
// flushed for it, as no step would account for those writes. With a family for each range
// the sizes are exact.
func (s *store) Sizes(ranges []kvkit.Range) error {
	for i := range ranges {
		r := &ranges[i]
		if s.settings.families > 1 {
			space := kvkit.SpaceOf(r.Lower)
			r.Bytes, r.Kind = int64(s.number(int(space), "rocksdb.total-sst-files-size")), engine.Exact
			continue
		}
		var n C.uint64_t
		if err := s.fail(C.store_size(s.c, chars(r.Lower), C.size_t(len(r.Lower)), chars(r.Upper), C.size_t(len(r.Upper)),
			&n)); err != nil {
			return err
		}
		r.Bytes, r.Kind = int64(n), engine.Estimate
	}
	return nil
}

// Settle flushes the memtables and waits until no compaction runs or is due. It polls in
// all versions, as only the newer ones provide a call that waits.
func (s *store) Settle(ctx context.Context, done *engine.Settling) {
	rests := func() bool {
		return s.number(0, "rocksdb.num-running-compactions")+s.number(0, "rocksdb.num-running-flushes")+
			s.number(all, "rocksdb.compaction-pending")+s.number(all, "rocksdb.mem-table-flush-pending") == 0
	}
	done.Compact(ctx, s.flush, rests, func() uint64 { return s.number(all, debt) })
}

func (s *store) flush() error { return s.fail(C.store_flush(s.c)) }

// Close closes the database. At level none it writes the log's buffer first.
func (s *store) Close() error { return engine.Wrap("close rocksdb", s.fail(C.store_close(s.c))) }

const (
	memtables = "rocksdb.cur-size-all-mem-tables"
	debt      = "rocksdb.estimate-pending-compaction-bytes"
)

// gauges are the properties that are sampled. Those that are the same for all families
// are read from the first, 0.
var gauges = []struct {
	name, unit string
	family     int
}{
	{memtables, "bytes", all}, {"rocksdb.num-immutable-mem-table", "count", all},
	{"rocksdb.estimate-table-readers-mem", "bytes", all},
	{debt, "bytes", all}, {"rocksdb.compaction-pending", "count", all},
	{"rocksdb.live-sst-files-size", "bytes", all}, {"rocksdb.total-sst-files-size", "bytes", all},
	{"rocksdb.estimate-live-data-size", "bytes", all},
	{"rocksdb.num-running-compactions", "count", 0}, {"rocksdb.num-running-flushes", "count", 0},
	{"rocksdb.block-cache-usage", "bytes", 0},
	{"rocksdb.actual-delayed-write-rate", "bytes/s", 0}, {"rocksdb.is-write-stopped", "count", 0},
}

func (s *store) Counters(out *engine.Sample) error {
	found := s.statistics(out)
	for _, g := range gauges {
		found[g.name] = float64(s.number(g.family, g.name))
		out.Gauge(pointName(g.name), g.unit, found[g.name])
	}
	s.levels(out)
	native.Counters(out)
	if s.direct {
		out.Gauge(engine.CacheHeld, "bytes", found["rocksdb.block-cache-usage"])
	}
	out.RocksDB(func(ticker string) float64 { return found[ticker] })
	out.Counter(engine.DeadEntries, "count", found["rocksdb.number.iter.skip"])
	out.Counter(engine.FilterUseful, "count", found["rocksdb.bloom.filter.useful"])
	out.Counter(engine.Flushes, "count", found["rocksdb.db.flush.micros"])
	out.Counter(engine.Compactions, "count", found["rocksdb.compaction.times.micros"])
	out.Counter(engine.Stalls, "count", found["rocksdb.db.write.stall"])

	out.Gauge(engine.DirtyBytes, "bytes", found[memtables])
	out.Gauge(engine.CompactionDebt, "bytes", found[debt])
	return nil
}

// levels adds the number of tables at each level, if this version reports it.
func (s *store) levels(out *engine.Sample) {
	var tables []float64
	for family := range s.settings.families {
		tables = s.addTables(tables, family)
	}
	if len(tables) > 0 {
		out.Runs(tables)
	}
	for no, n := range tables {
		out.Gauge("rocksdb.level.tables", "count", n, "level", strconv.Itoa(no))
	}
}

// addTables adds a family's tables. The property has a heading, then a line per level:
// number, tables, MB.
func (s *store) addTables(tables []float64, family int) []float64 {
	name := C.CString("rocksdb.levelstats")
	defer C.free(unsafe.Pointer(name))
	text := C.store_text(s.c, C.int(family), name)
	if text == nil {
		return tables
	}
	defer C.release(text)
	for line := range strings.Lines(C.GoString(text)) {
		var level int
		var n float64
		if got, _ := fmt.Sscan(line, &level, &n); got != 2 {
			continue
		}
		if level == len(tables) {
			tables = append(tables, 0)
		}
		tables[level] += n
	}
	return tables
}

// statistics adds RocksDB's tickers by name: their numbers differ between versions. It
// returns them, and the counts of its histograms.
func (s *store) statistics(out *engine.Sample) map[string]float64 {
	text := C.store_statistics(s.c)
	defer C.release(text)
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
		unit := "count"
		switch {
		case histogram:
			continue
		case strings.Contains(name, "micros"):
			name, unit, n = strings.ReplaceAll(name, "micros", "ns"), "ns", n*1e3
		case strings.Contains(name, "nanos"):
			name, unit = strings.ReplaceAll(name, "nanos", "ns"), "ns"
		case strings.Contains(name, "bytes"):
			unit = "bytes"
		}
		out.Counter(pointName(name), unit, n)
	}
	return found
}

// pointName returns RocksDB's name in our notation: lower case, with underscores.
func pointName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }
