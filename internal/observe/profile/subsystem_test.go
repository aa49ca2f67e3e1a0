package profile

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// subsystems are those of the specification, the same for all engines, with what they are.
var subsystems = [...][2]string{
	{"network", "protocols, sockets, and the wait for what clients send"},
	{"parse and plan", "from a statement to its plan; tables, privileges and statistics that this looks up"},
	{"execution", "what executes plans: expressions, sorts, temporary tables; sessions, adapters of engines"},
	{"row format", "rows, columns and keys between their stored form and values"},
	{"index search", "searches and steps in a B-tree, memtable, table file or hash, and the place of a change there"},
	{"merging", "sorted runs become one order: in reads, compactions, and sorts of more than memory"},
	{"cache", "the engine's own cache of pages, blocks and files, and reads for it; not the page cache of the system"},
	{"page allocation", "new and free pages, splits and merges of pages, free space"},
	{"row locks", "locks of rows, ranges and tables, held up to the end of a transaction"},
	{"latches", "mutexes, spinning, queues of writers, and the switches of goroutines and fibers"},
	{"transactions", "begin, commit and rollback, snapshots, visibility, versions for undo"},
	{"log", "the log that makes changes durable, and the replication log"},
	{"text log", "logs of statements, errors and events for people"},
	{"checksums", "checksums and hashes of pages and blocks"},
	{"compression", "compression and decompression of pages, blocks and values"},
	{"encryption", "TLS, encrypted files, passwords"},
	{"allocation", "the process's own allocation and release of memory; growth of stacks"},
	{"flush", "background writes of memtables and changed pages, checkpoints; in bbolt and LMDB those of commits"},
	{"compaction", "what rewrites an LSM tree's files, besides the merging"},
	{"purge", "removal of old versions: purge, vacuum, collection of value logs, and the statistics that vacuum takes"},
	{"garbage collection", "the garbage collector of Go or Lua"},
	{"kernel: file system", "files, directories, journal, changed pages"},
	{"kernel: page copy", "the page cache of the system: search in it, and copies from and to it"},
	{"kernel: block device", "requests to devices"},
	{"kernel: network", "sockets, and the wait for them"},
	{"kernel: memory", "page faults, mappings, pages and objects of the kernel"},
	{"kernel: scheduling", "sleep and wake-up, locks of the kernel, timers, and what ran with interrupts off"},
	{"kernel: entry", "the way into and out of system calls"},
	{"unknown", "no function of the stack is listed, or what is below it has no names"},
}

// TestSubsystems: the catalogue has exactly these names, and the document says what they are.
func TestSubsystems(t *testing.T) {
	used := map[Subsystem]bool{}
	for _, r := range rules() {
		used[r.subsystem] = true
	}
	table := "\n| subsystem | what it is |\n|---|---|\n"
	for _, s := range subsystems {
		expect.True(t, used[Subsystem(s[0])], "no function is", s[0])
		delete(used, Subsystem(s[0]))
		table += "| " + s[0] + " | " + s[1] + " |\n"
	}
	expect.Equal(t, len(used), 0, "names that are not listed:", used)
	document := expect.Value(os.ReadFile("../../../docs/why.md"))(t)
	expect.True(t, strings.Contains(string(document), table+"\n"), "docs/why.md lacks the table", table)
}

// TestCatalogue: each line is a rule, and each rule can match, once.
func TestCatalogue(t *testing.T) {
	seen := map[rule]bool{}
	for _, r := range rules() {
		expect.True(t, r.name != "" || r.prefix && r.image != "", r)
		expect.True(t, !strings.Contains(strings.ReplaceAll(r.name, "(*", ""), "*"), r)
		r.subsystem = ""
		expect.True(t, !seen[r], "is there twice", r)
		seen[r] = true
	}
	for line := range strings.Lines(catalogue) {
		line = strings.TrimSpace(line)
		known := slices.ContainsFunc(subsystems[:], func(s [2]string) bool {
			return strings.HasPrefix(line, s[0]+": ")
		})
		expect.True(t, line == "" || line[0] == '#' || line[0] == '[' || known, line)
	}
}

func TestSubsystemOf(t *testing.T) {
	const pebble = "rumbench/github.com/cockroachdb/pebble/v2"
	for _, c := range []struct {
		leafFirst string
		want      Subsystem
	}{
		{"mariadbd/btr_cur_search_to_nth_level mariadbd/row_search_mvcc mariadbd/handler::ha_index_read_map mariadbd/mysql_select", "index search"},
		{"mariadbd/mariadbd@d93de0 mariadbd/mariadbd@e0fb70 mariadbd/handler::ha_index_read_map mariadbd/mysql_select", "index search"},
		{"mariadbd/mariadbd@d93de0 mariadbd/mariadbd@e0fb70 mariadbd/handler::ha_update_row mariadbd/mysql_update", "unknown"},
		{"libc.so.6/__memcpy_avx_unaligned_erms mariadbd/mariadbd@d93de0", "unknown"},
		{"libc.so.6/memcpy ha_rocksdb.so/rocksdb::MergingIterator::Next", "merging"}, // its caller's
		{"kernel/copy kernel/ext4_file_write_iter libc.so.6/write mariadbd/log_write_up_to", "kernel: file system"},
		{"libz.so.1/libz.so.1@4970 mariadbd/page_zip_compress", "compression"},
		{"ha_rocksdb.so/rocksdb::CompactionJob::Run", "compaction"},
		{"ha_rocksdb.so/rocksdb::LRUCacheShard::Lookup", "cache"},
		{"postgres/heap_page_prune_opt postgres/heap_getnextslot", "purge"},
		{"postgres/heap_fetch", "row format"},
		{"postgres/btcostestimate", "parse and plan"},
		{"postgres/btgettuple", "index search"},
		{"rumbench/modernc.org/sqlite/lib._sqlite3BtreeTableMoveto", "index search"},
		{"rumbench/modernc.org/sqlite/lib._walChecksumBytes", "checksums"},
		{"rumbench/go.etcd.io/bbolt.(*Cursor).seek", "index search"},
		{"rumbench/github.com/cockroachdb/pebble/v2/record.(*LogWriter).flushLoop", "log"},
		{"rumbench/github.com/cockroachdb/pebble/v2.(*DB).compact1", "compaction"},
		{"rumbench/runtime.gcDrain", "garbage collection"},
		{"rumbench/bytes.Compare rumbench/github.com/dgraph-io/badger/v4/y.CompareKeys", "index search"},
		{"kernel/rep kernel/copy_folio_from_iter_atomic kernel/ext4_file_write_iter", "kernel: page copy"},
		{"kernel/rep kernel/skb_copy_datagram_from_iter kernel/unix_stream_sendmsg", "kernel: network"},
		{"kernel/clear_page_erms kernel/handle_mm_fault kernel/asm_exc_page_fault libc.so.6/malloc", "kernel: memory"},
		{"kernel/do_syscall_64 kernel/entry_SYSCALL_64_after_hwframe libc.so.6/send", "kernel: entry"},
		// What writes tables counts for who needs them.
		{pebble + "/sstable.(*RawColumnWriter).Add " + pebble + ".(*DB).flush1", "flush"},
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
	expect.Equal(t, Interrupts.subsystem(), "kernel: scheduling")
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
