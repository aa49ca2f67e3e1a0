package blockio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/observe"
	"rumbench/internal/observe/perfring"
)

func TestOpOf(t *testing.T) {
	for rwbs, want := range map[string]Op{
		"R": Read, "RA": Read, "RM": Read, "W": Write, "WS": Write, "WFSM": Write, "FWFS": Write, "FWS": Write, "FF": Flush, "F": Flush, "FS": Flush,
		"D": Discard, "DE": Discard, "DS": Discard, "N": Write, "": Write,
	} {
		expect.Equal(t, opOf(rwbs), want, rwbs)
	}
}

const format = `name: block_rq_issue
ID: 2104
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:sector_t sector;	offset:16;	size:8;	signed:0;
	field:unsigned int nr_sector;	offset:24;	size:4;	signed:0;
	field:char rwbs[10];	offset:34;	size:10;	signed:0;
	field:__data_loc char[] cmd;	offset:60;	size:4;	signed:0;

print fmt: "%d,%d %s %u (%s) %llu + %u", ((unsigned int) ((REC->dev) >> 20)), REC->rwbs
`

func TestParseFormat(t *testing.T) {
	p := expect.Value(parseFormat(format))(t)
	want := map[string]field{"common_type": {0, 2}, "common_pid": {4, 4}, "sector": {16, 8}, "nr_sector": {24, 4}, "rwbs": {34, 10}, "cmd": {60, 4}}
	expect.True(t, p.id == 2104 && fmt.Sprint(p.fields) == fmt.Sprint(want), p)
	record := make([]byte, 64)
	record[1], record[16], record[25] = 8, 7, 1
	copy(record[34:], "FWS\x00W")
	expect.True(t, p.number(record, "common_type") == 2048 && p.number(record, "sector") == 7 && p.number(record, "nr_sector") == 256 && p.text(record, "rwbs") == "FWS", record)
	expect.True(t, p.number(record[:20], "sector") == 0 && p.text(record[:40], "rwbs") == "" && p.number(record, "missing") == 0, "read behind the end of a record")
	for _, wrong := range []string{"", "ID: x", "ID: 1\nfield:int a;\toffset:x;\tsize:4;", "ID: 1\nfield:;\toffset:1;\tsize:4;", "ID: 1\nfield:int a;\toffset:-1;\tsize:4;"} {
		expect.Refused(parseFormat(wrong))(t, "", wrong, "was parsed")
	}
}

// drawn returns sorted extents on a few sectors, and whose each sector is.
func drawn(t *rapid.T, name string) (list []extent, owner [40]uint32) {
	for range rapid.IntRange(0, 12).Draw(t, name) {
		begin := rapid.Uint64Range(0, 38).Draw(t, "begin")
		e := extent{begin, min(39, begin+rapid.Uint64Range(0, 9).Draw(t, "length")), uint32(rapid.IntRange(1, 3).Draw(t, "of"))}
		list = append(list, e)
	}
	list = sorted(list)
	for _, e := range list {
		for s := e.begin; s < e.end; s++ {
			expect.Must(t, owner[s] == 0, list, "sector", s, "belongs to two")
			owner[s] = e.class
		}
	}
	return list, owner
}

// TestExtents compares with a table of all sectors.
func TestExtents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		below, owner := drawn(t, "below")
		above, upper := drawn(t, "above")
		for s, class := range upper {
			if class != 0 {
				owner[s] = class
			}
		}
		list := overlay(slices.Clone(below), slices.Clone(above))
		for i := range list {
			if e := list[i]; e.begin >= e.end || i > 0 && (e.begin < list[i-1].end || e.begin == list[i-1].end && e.class == list[i-1].class) {
				t.Fatalf("%v over %v: %v", above, below, list)
			}
		}
		begin := rapid.Uint64Range(0, 39).Draw(t, "from")
		end := rapid.Uint64Range(begin, 39).Draw(t, "to")
		var want, got [4]uint64
		for s := begin; s < end; s++ {
			want[owner[s]]++
		}
		got[0] = each(list, begin, end, func(sectors uint64, class uint32) { got[class] += sectors })
		expect.Must(t, got == want, begin, "to", end, "in", list, got, "want", want)
	})
}

// TestFileUse: ranges of a file have classes of their own, and a table its name.
func TestFileUse(t *testing.T) {
	s := scanner{start: 100, classes: &classes{ids: map[Class]uint32{}}, uses: engine.FileUses{
		{Pattern: "ibdata1", Use: engine.UseDouble, From: 1024, To: 3072}, {Pattern: "ibdata*", Use: engine.UseUndo}, {Pattern: "*.ibd", Use: engine.UseData, Named: true}}}
	got := s.extents("/d/ibdata1", []place{{0, 51200, 1536}, {1536, 512, 4096}})
	want := []extent{{101, 104, 0}, {104, 109, 1}, {200, 202, 1}, {202, 203, 0}}
	expect.True(t, slices.Equal(got, want) && s.classes.list[0].Use == engine.UseDouble, got, s.classes.list)
	if got := s.extents("/d/x/t1.ibd", []place{{0, 0, 512}}); len(got) != 1 || s.classes.list[got[0].class] != (Class{engine.UseData, "t1"}) {
		t.Errorf("%v of %v", got, s.classes.list)
	}
}

// TestLost: more than one request in a hundred.
func TestLost(t *testing.T) {
	f := Files{Lost: 1, Rows: []Row{{Requests: 50}, {Requests: 49}}}
	expect.NoError(t, f.Check())
	if f.Lost = 2; f.Check() == nil {
		t.Error("2 of 101 are not too many")
	}
	f = Files{Over: "it took too long"}
	expect.Error(t, f.Check(), "it took too long")
}

// TestAgrees: 2 %, or a MiB.
func TestAgrees(t *testing.T) {
	f := Files{Rows: []Row{{Op: Write, KB: 100_000}, {Op: Write, KB: 100_000}, {Op: Read, KB: 500}}}
	for _, c := range []struct {
		op      Op
		counted float64
		agrees  bool
	}{{Write, 203_900, true}, {Write, 204_200, false}, {Write, 196_200, true}, {Write, 195_900, false}, {Read, 1500, true}, {Read, 1600, false}} {
		err := f.Agrees(c.op, c.counted)
		expect.True(t, (err == nil) == c.agrees, c.op, c.counted, err)
	}
}

func TestUnavailable(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "blockio")
	if err != nil {
		t.Skip(err)
	}
	defer os.Remove(dir)
	if _, err := Start(Config{Dirs: []string{dir}}); !errors.Is(err, ErrUnavailable) || !errors.Is(err, observe.ErrNoDevice) || !strings.Contains(err.Error(), "tmpfs") {
		t.Error(err)
	}
	for _, c := range []struct {
		device observe.Device
		reason string
	}{
		{observe.Device{Name: "vda", Leaves: []string{"vda"}, FSType: "btrfs", Mount: "/x"}, "btrfs, at /x"},
		{observe.Device{Name: "missing", Leaves: []string{"missing"}, FSType: "ext4"}, "missing"},
	} {
		expect.Refused(regionOf(c.device))(t, c.reason, c.device)
	}
	here, err := observe.FindDevice(t.TempDir())
	if err != nil || !strings.HasPrefix(here.FSType, "ext") {
		t.Skip(err, here)
	}
	here.Leaves = []string{"sda", "sdb"}
	expect.Refused(regionOf(here))(t, "made of other devices: sda, sdb")
}

// begin begins to trace a new directory.
func begin(t *testing.T, uses engine.FileUses, prepare func(dir string)) (tracer *Tracer, dir string, start time.Duration) {
	t.Helper()
	dir = t.TempDir()
	prepare(dir)
	need.Setup(t)
	tracer, err := Start(Config{Dirs: []string{dir}, Uses: uses, PIDs: []int{os.Getpid()}})
	if errors.Is(err, ErrUnavailable) {
		need.Installed(t, err)
	}
	expect.NoError(t, err)
	return tracer, dir, now(t)
}

func now(t *testing.T) time.Duration {
	t.Helper()
	at := expect.Value(perfring.Now())(t)
	return at
}

const kb = 1024

// aligned returns memory for direct I/O.
func aligned(size int) []byte {
	b := make([]byte, size+4*kb)
	return b[4*kb-int(uintptr(unsafe.Pointer(&b[0]))%(4*kb)):][:size]
}

// open opens a file, does something, and closes it.
func open(t *testing.T, path string, flags int, do func(f *os.File) error) {
	t.Helper()
	f, err := os.OpenFile(path, flags, 0o644)
	if err == nil {
		err = errors.Join(do(f), f.Close())
	}
	expect.NoError(t, err)
}

func direct(t *testing.T, path string, size int) {
	open(t, path, os.O_CREATE|os.O_WRONLY|unix.O_DIRECT, func(f *os.File) error {
		_, err := f.Write(aligned(size))
		return err
	})
}

func buffered(t *testing.T, path string, size int) {
	open(t, path, os.O_CREATE|os.O_WRONLY, func(f *os.File) error {
		_, err := f.Write(make([]byte, size))
		return errors.Join(err, f.Sync())
	})
}

// TestWriters: each class has just the KB that were written to its files and read
// from them, directly and by the page cache, also if a file is renamed or deleted.
func TestWriters(t *testing.T) {
	// What other programs write to blocks that a deleted file had, before the next look,
	// counts for the file: so there are several tries.
	want := map[string]float64{"write data a": 3000, "write log ": 2064, "write data old": 128, "write temp ": 700, "read data a": 1000}
	for range 5 {
		got, err := written(t)
		if err == nil && fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		t.Logf("got %v, %v, want %v", got, err, want)
	}
	t.Error("no try of five agrees")
}

// written writes files, and returns the KB by kind and class that were traced; an error
// if there is more or less than can be.
func written(t *testing.T) (got map[string]float64, unlike error) {
	uses := engine.FileUses{{Pattern: "*.dat", Use: engine.UseData, Named: true}, {Pattern: "sub/*.log", Use: engine.UseLog}, {Pattern: "*.tmp", Use: engine.UseTemp}}
	tracer, dir, start := begin(t, uses, func(dir string) {
		expect.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
		buffered(t, filepath.Join(dir, "old.dat"), 512*kb)
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	direct(t, at("a.dat"), 3000*kb)
	buffered(t, at("sub/b.log"), 2000*kb)
	direct(t, at("old.dat"), 128*kb) // in place
	expect.NoError(t, errors.Join(os.Remove(at("old.dat")), os.Link(at("a.dat"), at("z.tmp"))))
	time.Sleep(scanEvery + 5*drainEvery) // c.tmp may get the place of old.dat
	buffered(t, at("c.tmp"), 700*kb)
	time.Sleep(scanEvery + 5*drainEvery) // c.tmp is seen
	expect.NoError(t, os.Rename(at("c.tmp"), at("sub/c.log")))
	direct(t, at("sub/c.log"), 64*kb)
	open(t, at("a.dat"), os.O_RDONLY|unix.O_DIRECT, func(f *os.File) error {
		_, err := f.Read(aligned(1000 * kb))
		return err
	})
	time.Sleep(scanEvery + 5*drainEvery)
	expect.NoError(t, os.Remove(at("sub/c.log")))
	end := now(t)
	buffered(t, at("late.dat"), 4*kb) // after the window
	r := expect.Value(tracer.Stop())(t)
	f := r.Cut(start, end)
	if err := f.Check(); err != nil || f.Unread != "" || f.Used <= 0 || f.Window != end-start {
		unlike = fmt.Errorf("%w, %+v", err, f)
	}
	got = map[string]float64{}
	for _, row := range f.Rows {
		if row.Requests < 0 || row.KB <= 0 && row.Op != Flush { // one that spans two classes counts for the first
			unlike = errors.Join(unlike, fmt.Errorf("%+v", row))
		}
		metadata := row.Use == Unmapped && row.Op == Read                                                 // that the file system reads ahead
		if row.Use != Others && row.Use != Journal && !metadata && row.Op != Flush && row.Op != Discard { // those of other programs are not known
			got[fmt.Sprint(row.Op, " ", row.Use, " ", row.Name)] = row.KB
		}
	}
	if f.KB(Read) < 1000 || r.Cut(end, end).Rows != nil {
		unlike = errors.Join(unlike, fmt.Errorf("%+v", f))
	}
	return got, unlike
}

// TestUnmapped: what this process writes to a file that is gone before it was seen is
// nobody's.
func TestUnmapped(t *testing.T) {
	// Where the device is busy a thread of the kernel issues the request, which is then
	// of "other files": so it is tried until the own thread does.
	const tries = 50
	var rows []Row
	for range tries {
		tracer, dir, start := begin(t, nil, func(string) {})
		path := filepath.Join(dir, "brief")
		open(t, path, os.O_CREATE|os.O_WRONLY|unix.O_DIRECT, func(f *os.File) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			_, err := f.Write(aligned(256 * kb))
			return err
		})
		end := now(t)
		r := expect.Value(tracer.Stop())(t)
		rows = r.Cut(start, end).Rows
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Class == Class{Use: Unmapped} && r.Op == Write })
		if i >= 0 && rows[i].KB == 256 {
			return
		}
	}
	t.Errorf("%+v", rows)
}

// TestPrivateMount reads tracefs as where it is not mounted.
func TestPrivateMount(t *testing.T) {
	text, err := readPrivately("events/block/block_rq_issue/format")
	need.Installed(t, err)
	if p, err := parseFormat(text); err != nil || p.fields["sector"].size == 0 {
		t.Errorf("%v: %q", err, text)
	}
	expect.Refused(readPrivately("events/missing/format"))(t, "", "a missing event was read")
	if _, err := findTracepoint("block/block_rq_issue", "sector", "nothing"); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}
