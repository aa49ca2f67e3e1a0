package profile

import (
	"testing"
	"time"

	"rumbench/internal/expect"
)

// In a process with clients and an engine each stack is of the side whose work it is.
func TestEmbedded(t *testing.T) {
	for _, c := range []struct {
		name   string
		thread string
		stack  []Frame
		side   Side
		role   string
	}{
		{"a client", "rumbench", goFrames("runtime.goexit", "rumbench/internal/run/drive.(*seat).run", "rumbench/internal/stat/hist.(*Recorder).Add"), Client, "rumbench"},
		{"an operation", "rumbench", goFrames("runtime.goexit", "sync.(*WaitGroup).Go.func1", "rumbench/internal/run/drive.(*seat).run", "rumbench/engine/bbolt.(*store).Get",
			"go.etcd.io/bbolt.(*Cursor).Seek", "runtime.mallocgc"), Server, Foreground},
		{"rows that an engine hands to the client", "rumbench", goFrames("runtime.goexit", "rumbench/workload.run",
			"rumbench/engine/kvkit.(*scanStmt).Exec", "rumbench/workload/declared.proofOf", "hash/crc32.Update"), Client, "rumbench"},
		{"a library of the client", "rumbench", goFrames("runtime.goexit", "rumbench/internal/stat/hist.(*Recorder).Add", "github.com/HdrHistogram/hdrhistogram-go.(*Histogram).RecordValue"), Client, "rumbench"},
		{"a compaction", "rumbench", goFrames("runtime.goexit", "runtime/pprof.Do", "github.com/cockroachdb/pebble/v2.(*DB).compact"), Server, Background},
		{"a goroutine of the adapter", "rumbench", goFrames("runtime.goexit", "rumbench/engine/kvkit.(*db).sync"), Server, Background},
		{"the collector", "rumbench", goFrames("runtime.goexit", "runtime.gcBgMarkWorker", "runtime.scanobject"), Runtime, "runtime"},
		{"the scheduler", "rumbench", append(goFrames("runtime.mcall", "runtime.schedule"), Frame{"futex_wait", KernelImage}), Runtime, "runtime"},
		{"only the kernel", "rumbench", []Frame{{"do_exit", KernelImage}}, Runtime, "runtime"},
		{"an operation in C", "rumbench", append(goFrames("runtime.mstart", "runtime.asmcgocall"), Frame{"rocksdb::DBImpl::Get", "librocksdb.so.8"}), Server, Foreground},
		{"an operation in C, broken off", "rumbench", []Frame{{"rocksdb::DBImpl::Get", "librocksdb.so.8"}, {"memcpy", "libc.so.6"}}, Server, Foreground},
		{"a thread of C", "rocksdb:low", []Frame{{startThread, ""}, {"rocksdb::ThreadPoolImpl::BGThread", "librocksdb.so.8"}}, Server, "rocksdb:low"},
		{"a thread of C without a name", "rumbench", []Frame{{startThread, ""}, {"__wt_evict_thread", "libwiredtiger.so"}}, Server, "rumbench"},
	} {
		p := &Profile{Frames: append(append(goFrames("runtime.schedule"), c.stack...), Frame{Name: "runtime.goexit"}), Period: 1}
		s := Sample{Side: Client, Process: "rumbench", Thread: c.thread, Parts: []Part{{0, time.Second}}}
		for i := range c.stack {
			s.Stack = append(s.Stack, int32(i+1))
		}
		p.Samples = []Sample{s, {Side: Kernel}}
		got := p.Embedded().Samples
		expect.True(t, got[0].Side == c.side && got[0].Thread == c.role,
			"is of, thread", c.name, got[0].Side, got[0].Thread, c.side, c.role)
		expect.True(t, got[1].Side == Kernel && p.Samples[0].Side == Client,
			"other samples, or the profile itself, changed", c.name)
	}
}

// goFrames are functions of the program.
func goFrames(names ...string) (out []Frame) {
	for _, n := range names {
		out = append(out, Frame{n, "rumbench"})
	}
	return out
}
