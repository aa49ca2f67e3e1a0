package profile

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// subsystems is the list of the specification: no other words, so that engines
// have them in common.
var subsystems = []string{"network", "parse/plan", "execute", "index search", "page cache", "row format", "log", "lock/transaction", "compression",
	"checksum", "compaction/flush", "purge/vacuum", "allocation/copy", "kernel file system", "kernel block", "kernel network",
	"scheduling/interrupts", "runtime/GC", "unknown"}

func TestCatalogue(t *testing.T) {
	seen := map[rule]bool{}
	used := map[string]bool{}
	for _, r := range rules() {
		expect.True(t, slices.Contains(subsystems, string(r.subsystem)) && !strings.Contains(strings.ReplaceAll(r.name, "(*", ""), "*"), r)
		used[string(r.subsystem)] = true
		r.subsystem = ""
		expect.True(t, !seen[r], "is there twice", r)
		seen[r] = true
	}
	for _, s := range subsystems {
		expect.True(t, used[s], "no function is", s)
	}
	for line := range strings.Lines(catalogue) {
		line = strings.TrimSpace(line)
		expect.True(t, line == "" || line[0] == '#' || line[0] == '[' || slices.Contains(subsystems, strings.SplitN(line, ": ", 2)[0]), line)
	}
}

func TestSubsystemOf(t *testing.T) {
	for _, c := range []struct {
		leafFirst string
		want      Subsystem
	}{
		{"mariadbd/btr_cur_search_to_nth_level mariadbd/row_search_mvcc mariadbd/handler::ha_index_read_map mariadbd/mysql_select", "index search"},
		{"mariadbd/mariadbd@d93de0 mariadbd/mariadbd@e0fb70 mariadbd/handler::ha_index_read_map mariadbd/mysql_select", "index search"},
		{"mariadbd/mariadbd@d93de0 mariadbd/mariadbd@e0fb70 mariadbd/handler::ha_update_row mariadbd/mysql_update", "unknown"},
		{"libc.so.6/__memcpy_avx_unaligned_erms mariadbd/mariadbd@d93de0", "allocation/copy"},
		{"kernel/copy kernel/ext4_file_write_iter kernel/vfs_write libc.so.6/write mariadbd/log_write_up_to", "kernel file system"},
		{"libz.so.1/libz.so.1@4970 mariadbd/page_zip_compress", "compression"},
		{"ha_rocksdb.so/rocksdb::CompactionJob::Run", "compaction/flush"},
		{"ha_rocksdb.so/rocksdb::LRUCacheShard::Lookup", "page cache"},
		{"postgres/heap_page_prune_opt postgres/heap_getnextslot", "purge/vacuum"},
		{"postgres/heap_fetch", "row format"},
		{"postgres/btcostestimate", "parse/plan"},
		{"postgres/btgettuple", "index search"},
		{"rumbench/modernc.org/sqlite/lib._sqlite3BtreeTableMoveto", "index search"},
		{"rumbench/modernc.org/sqlite/lib._walChecksumBytes", "checksum"},
		{"rumbench/go.etcd.io/bbolt.(*Cursor).seek", "index search"},
		{"rumbench/github.com/cockroachdb/pebble/v2/record.(*LogWriter).flushLoop", "log"},
		{"rumbench/github.com/cockroachdb/pebble/v2.(*DB).compact1", "compaction/flush"},
		{"rumbench/runtime.gcDrain", "runtime/GC"},
		{"x/btr_cur_search", "unknown"}, // of another program
		{"x/main", "unknown"},
	} {
		p := &Profile{}
		s := Sample{}
		for _, f := range slices.Backward(frames(c.leafFirst)) {
			s.Stack = append(s.Stack, int32(len(p.Frames)))
			p.Frames = append(p.Frames, f)
		}
		expect.Equal(t, p.SubsystemOf(&s), c.want, c.leafFirst)
	}
}

func TestSubsystemOfInterrupts(t *testing.T) {
	expect.Equal(t, Interrupts.subsystem(), "scheduling/interrupts")
}

func TestCompareSubsystems(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	value := func(rates map[string]float64) Work {
		p := simulated(r, 30, rates, false)
		for i := range p.Frames {
			p.Frames[i].Image = "mariadbd"
		}
		return Work{p, 1000}
	}
	root, err := CompareSubsystems(value(map[string]float64{"btr_cur_search": 50, "page_zip_compress": 20, "x": 10}), value(map[string]float64{"btr_pcur_move": 50, "log_write": 20, "x": 10}))
	expect.NoError(t, err)
	got := different(root)
	slices.Sort(got)
	expect.True(t, strings.Join(got, ", ") == "compression, log" && len(root.Children) == 4 && math.Abs(root.Base-24000) <= 2000, got, len(root.Children), root.Base)
	if _, err := CompareSubsystems(value(map[string]float64{"btr_cur_search": 50}), value(map[string]float64{"btr_cur_search": 50, "x": 50})); err == nil {
		t.Error("half is unknown")
	}
}
