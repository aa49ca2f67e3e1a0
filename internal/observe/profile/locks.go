package profile

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// LockProfiles are the Go runtime's profiles of waiting, by the names in files. Stacks
// of the first are those that waited, at a lock or for another goroutine; those of the
// second held a lock that others waited for.
var LockProfiles = []string{"block", "mutex"}

const (
	blockRate   = 10_000 // ns: shorter waits are sampled in proportion
	mutexShare  = 1      // all
	lockValues  = 2      // of a sample: how often, and ns
	lockProgram = "go"   // represents this program as the image of its functions
)

// Locks watches the waits of this process's goroutines.
type Locks struct{ before []*profile.Profile }

// WatchLocks begins to watch.
func WatchLocks() (*Locks, error) {
	runtime.SetBlockProfileRate(blockRate)
	runtime.SetMutexProfileFraction(mutexShare)
	now, err := readLocks()
	return &Locks{now}, err
}

// Stop ends watching and returns a profile of each kind, of the waits since
// WatchLocks.
func (l *Locks) Stop() ([]*profile.Profile, error) {
	now, err := readLocks()
	runtime.SetBlockProfileRate(0)
	runtime.SetMutexProfileFraction(0)
	if err != nil {
		return nil, err
	}
	for i, previousProfile := range l.before {
		previousProfile.Scale(-1)
		if now[i], err = profile.Merge([]*profile.Profile{now[i], previousProfile}); err != nil {
			return nil, fmt.Errorf("compare %s profiles: %w", LockProfiles[i], err)
		}
	}
	return now, nil
}

func readLocks() (out []*profile.Profile, err error) {
	for _, kind := range LockProfiles {
		var b bytes.Buffer
		if err := pprof.Lookup(kind).WriteTo(&b, 0); err != nil {
			return nil, fmt.Errorf("read %s profile: %w", kind, err)
		}
		p, err := profile.Parse(&b)
		if err != nil {
			return nil, fmt.Errorf("read %s profile: %w", kind, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// LockCost is the waiting at or because of a function, per unit of work.
type LockCost struct {
	Function string
	Waits    float64 // how often
	Cost     float64 // µs
}

// ReadLocks reads a profile of Locks and returns the waits of operations in the
// engine, or those caused by locks that the engine held, the greatest first. Waits of
// the engine's own goroutines for work are no cost, nor are those of clients.
func ReadLocks(r io.Reader, kind string, units float64) ([]LockCost, error) {
	p, err := profile.Parse(r)
	if err != nil {
		return nil, fmt.Errorf("read %s profile: %w", kind, err)
	}
	sums := make(map[string]LockCost)
	for _, s := range p.Sample {
		stack := []owning{nobodys} // as in Embedded
		function := ""
		for _, l := range slices.Backward(s.Location) { // the root first
			for _, line := range slices.Backward(l.Line) { // callers before inlined functions
				name := readable(line.Function.Name, true)
				if o := owningOf(Frame{name, lockProgram}, lockProgram); o != nobodys {
					stack = append(stack, o)
				}
				if !ofLocks(name) {
					function = name // the last is closest to the leaf
				}
			}
		}
		first := stack[min(1, len(stack)-1)]
		ours := slices.Contains(stack, adapter) || kind == "mutex" && first == module
		if len(s.Value) != lockValues || !ours || kind == "block" && first != client && first != loader {
			continue
		}
		sum := sums[function]
		sums[function] = LockCost{function, sum.Waits + float64(s.Value[0])/units, sum.Cost + float64(s.Value[1])/1e3/units}
	}
	out := slices.AppendSeq(make([]LockCost, 0, len(sums)), maps.Values(sums))
	slices.SortFunc(out, func(a, b LockCost) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.Function, b.Function))
	})
	return out, nil
}

// ofLocks reports whether a function belongs to the code that makes others
// wait.
func ofLocks(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return slices.ContainsFunc([]string{"runtime.", "sync.", "internal/sync.", "syscall."}, begins)
}
