package profile

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"rumbench/internal/expect"
)

// untilOneWaits returns when a goroutine waits for a mutex.
func untilOneWaits() {
	for stacks := make([]byte, 1<<20); ; time.Sleep(time.Millisecond) {
		if bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("[sync.Mutex.Lock")) {
			return
		}
	}
}

// The difference of two readings has what happened between them alone.
func TestWatchLocks(t *testing.T) {
	contend := func() {
		var mu sync.Mutex
		var first sync.Once
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				mu.Lock()
				first.Do(untilOneWaits)
				mu.Unlock()
			})
		}
		group.Wait()
	}
	counts := func() (n [2]int64) {
		l := expect.Value(WatchLocks())(t)
		contend()
		kinds, err := l.Stop()
		expect.Must(t, err == nil && len(kinds) == len(LockProfiles), kinds, err)
		for i, p := range kinds {
			for _, s := range p.Sample {
				var ours, mutex bool // the runtime's own locks are in the profiles, too
				for _, line := range s.Location {
					name := line.Line[0].Function.Name
					ours = ours || strings.Contains(name, ".TestWatchLocks.")
					mutex = mutex || strings.HasPrefix(name, "sync.(*Mutex).")
				}
				if ours && mutex {
					n[i] += s.Value[0]
				}
			}
		}
		return n
	}
	if first, second := counts(), counts(); first != [2]int64{1, 1} || second != first {
		t.Errorf("waits and holders: %v, then %v; want one each time", first, second)
	}
}

// Waits are those of operations, at the function that asked for the lock; holders
// are all of the engine.
func TestReadLocks(t *testing.T) {
	operation := []string{"runtime.goexit", "rumbench/internal/run/drive.(*seat).run", "rumbench/engine/bbolt.(*session).Exec", "go.etcd.io/bbolt.(*DB).Begin", "sync.(*RWMutex).Lock"}
	for _, c := range []struct {
		name  string
		kind  string
		stack []string
		want  string
	}{
		{"an operation", "block", operation, "go.etcd.io/bbolt.(*DB).Begin"},
		{"idle compaction", "block", []string{"runtime.goexit", "github.com/cockroachdb/pebble/v2.(*DB).wait", "sync.(*Cond).Wait"}, ""},
		{"a client", "block", []string{"runtime.goexit", "rumbench/internal/run/drive.Run", "runtime.selectgo"}, ""},
		{"compaction holds", "mutex", []string{"runtime.goexit", "github.com/cockroachdb/pebble/v2.(*DB).compact", "sync.(*Mutex).Unlock"}, "github.com/cockroachdb/pebble/v2.(*DB).compact"},
		{"an operation holds", "mutex", operation, "go.etcd.io/bbolt.(*DB).Begin"},
		{"a client holds", "mutex", []string{"runtime.goexit", "rumbench/internal/run/drive.Run", "sync.(*Mutex).Unlock"}, ""},
	} {
		p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}},
			Sample: []*profile.Sample{{Value: []int64{4, 8000}}, {Value: []int64{2, 4000}}}}
		for i := range c.stack {
			f := &profile.Function{ID: uint64(i + 1), Name: c.stack[len(c.stack)-1-i]}
			l := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
		}
		p.Sample[0].Location, p.Sample[1].Location = p.Location, p.Location[1:]
		var b bytes.Buffer
		expect.NoError(t, p.Write(&b))
		got := expect.Value(ReadLocks(&b, c.kind, 2))(t)
		if c.want == "" && len(got) == 0 {
			continue
		}
		expect.True(t, len(got) == 1 && got[0] == (LockCost{c.want, 3, 6}), c.name, got)
	}
}
