package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Side is the owner of a sample's CPU time.
type Side uint8

// The sides.
const (
	Other   Side = iota // a process outside the trial
	Server              // the engine's processes
	Client              // rumbench, with an embedded engine in it
	Kernel              // a thread of the kernel
	Runtime             // the Go runtime of a process that is client and engine, see Embedded
	sides
)

var sideNames = [sides]string{"other", "server", "client", "kernel", "runtime"}

// String returns the side as exports name it.
func (s Side) String() string { return sideNames[s] }

// Frame is a function.
type Frame struct {
	Name  string // without parameters and template arguments; mariadbd@d91750 if only its start is known
	Image string // base name of its file, KernelImage, or "" if unknown
}

// Image is a file that functions are in.
type Image struct {
	Name    string // as in Frame
	Path    string
	BuildID string // in hex; "" if the file has none
}

// Sample is the CPU time of one stack in threads of one name.
type Sample struct {
	Side    Side
	Process string // names without numbers at their end: rocksdb:low0 and rocksdb:low1 are one
	Thread  string
	Stack   []int32 // indices into Profile.Frames, the root first; empty on the side Other
	Parts   []Part  // by ascending second
}

// Part is the CPU time of a sample in one second of the window.
type Part struct {
	Second int
	CPU    time.Duration
}

// CPU returns the CPU time of all seconds.
func (s *Sample) CPU() (sum time.Duration) {
	for _, p := range s.Parts {
		sum += p.CPU
	}
	return sum
}

// Profile is the CPU time of a window, by side, process, thread and stack.
type Profile struct {
	Frames  []Frame
	Images  []Image
	Samples []Sample
	Window  time.Duration
	Period  time.Duration // of CPU time between two samples
	Lost    uint64        // records that the kernel could not deliver while the sampler ran
	windows []window      // that it is merged from; see Merge

	embedded bool // see Embedded
}

// Seconds returns how many parts the window has: its whole seconds, at least one.
// A rest of less than a second belongs to the last.
func (p *Profile) Seconds() int { return max(1, int(p.Window/time.Second)) }

// Only returns the samples that keep returns true for, as a profile with the same
// frames.
func (p *Profile) Only(keep func(*Sample) bool) *Profile {
	out := *p
	out.Samples = nil
	for i := range p.Samples {
		if keep(&p.Samples[i]) {
			out.Samples = append(out.Samples, p.Samples[i])
		}
	}
	return &out
}

// Of returns the profile of one side.
func (p *Profile) Of(side Side) *Profile {
	return p.Only(func(s *Sample) bool { return s.Side == side })
}

// Engine returns the profile of the processes with the engine: those of a server, or of an engine with its clients,
// see Embedded.
func (p *Profile) Engine() *Profile {
	return p.Only(func(s *Sample) bool {
		return s.Side == Server || p.embedded && (s.Side == Runtime || s.Side == Client)
	})
}

// CPU returns the CPU time of all samples.
func (p *Profile) CPU() (sum time.Duration) {
	for i := range p.Samples {
		sum += p.Samples[i].CPU()
	}
	return sum
}

// Count returns the number of samples that the kernel took.
func (p *Profile) Count() int {
	if p.Period <= 0 {
		return 0
	}
	return int((p.CPU() + p.Period/2) / p.Period)
}

// Check compares the profile with the CPU time that the kernel accounted to the
// same processes in the same window. They may differ by 3 standard errors of
// the samples, which arrive like Poisson's at worst, and 2 %: every step of every
// trial is checked, and 2 would refuse one in twenty.
func (p *Profile) Check(accounted time.Duration) error {
	sum := p.CPU()
	allowed := 3/math.Sqrt(float64(max(1, p.Count()))) + 0.02
	if math.Abs(float64(sum-accounted)) <= allowed*float64(accounted) {
		return nil
	}
	return fmt.Errorf("the samples sum to %.3f s of CPU time, the kernel accounted %.3f s: more than %.1f %% apart",
		sum.Seconds(), accounted.Seconds(), 100*allowed)
}

// Rooted returns the share of CPU time with stacks that reach the root of their
// thread, NaN without samples. Without frame pointers stacks break off, and
// totals of callers are too small.
func (p *Profile) Rooted() float64 {
	var rooted time.Duration
	for i := range p.Samples {
		if s := &p.Samples[i]; len(s.Stack) > 0 && isRoot(p.Frames[s.Stack[0]]) {
			rooted += s.CPU()
		}
	}
	return float64(rooted) / float64(p.CPU())
}

// PerUnit returns the CPU time per unit of work in µs.
func (p *Profile) PerUnit(units float64) float64 { return perUnit(p.CPU(), units) }

func perUnit(cpu time.Duration, units float64) float64 {
	return float64(cpu) / float64(time.Microsecond) / units
}

// Cost is the CPU time of a function, in µs per unit of work.
type Cost struct {
	Frame
	Self  float64 // in the function itself
	Total float64 // with those that it called, once if it calls itself
}

// Functions returns the cost of each function, the one with the highest Self first.
func (p *Profile) Functions(units float64) []Cost {
	costs := make([]Cost, len(p.Frames))
	last := make([]int, len(p.Frames)) // sample that was added last, from 1
	for i := range p.Samples {
		s := &p.Samples[i]
		cost := perUnit(s.CPU(), units)
		for depth, f := range s.Stack {
			if depth == len(s.Stack)-1 {
				costs[f].Self += cost
			}
			if last[f] != i+1 {
				costs[f].Total += cost
				last[f] = i + 1
			}
		}
	}
	for f := range costs {
		costs[f].Frame = p.Frames[f]
	}
	costs = slices.DeleteFunc(costs, func(c Cost) bool { return c.Total == 0 })
	slices.SortFunc(costs, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Image, b.Image))
	})
	return costs
}

// window is one of the windows that a profile is merged from.
type window struct {
	end   int // the second after its last
	units float64
}

const startThread = "start_thread"

// roots are the functions that threads begin with, by the name that is shown.
var roots = map[string]string{
	"clone": startThread, "clone3": startThread, "__clone": startThread, "__clone3": startThread, startThread: startThread,
	"_start": "_start", "__libc_start_main": "_start", "__libc_start_main_impl": "_start",
	"__libc_start_call_main": "_start",
	"ret_from_fork":          "ret_from_fork", "ret_from_fork_asm": "ret_from_fork",
	"runtime.goexit": "runtime.goexit", "runtime.mstart": "runtime.mstart", "runtime.rt0_go": "runtime.rt0_go",
	"runtime.mcall": "runtime.mcall", // leaves the stack of a goroutine that waits
}

func isRoot(f Frame) bool { return f.Name != "" && roots[f.Name] == f.Name }
