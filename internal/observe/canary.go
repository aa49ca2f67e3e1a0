package observe

import (
	"math/rand/v2"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Canary is how fast the machine was for two little loads just before a trial: computing in registers,
// and reading at random from memory beyond the processors' caches. They write nothing, and are the
// same for all targets: where they differ, the machine did.
type Canary struct {
	Compute float64 `json:"compute_ns"` // for a round of a hash
	Memory  float64 `json:"memory_ns"`  // for a read that depends on the one before; 0: unknown
}

const (
	canaryTime   = 100 * time.Millisecond // of each load
	canaryMemory = 4 << 20                // words of 8 bytes
	canaryRound  = 1 << 16                // operations between looks at the clock
)

// Sing takes the two measurements, in less than half a second and 32 MiB, which it gives back.
func Sing() Canary {
	h := uint64(1)
	compute := paced(func() {
		for range canaryRound {
			h ^= h << 13
			h ^= h >> 7
			h ^= h << 17
		}
	})
	// One cycle through all words in random order, so that no read can begin before the last has ended.
	// The memory is not Go's, so that an engine in this process finds its heap as it was.
	raw, err := unix.Mmap(-1, 0, canaryMemory*8, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return Canary{Compute: compute}
	}
	defer func() { _ = unix.Munmap(raw) }()
	next := unsafe.Slice((*uint64)(unsafe.Pointer(&raw[0])), canaryMemory)
	for i := range next {
		next[i] = uint64(i)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i := len(next) - 1; i > 0; i-- { // Sattolo
		k := r.IntN(i)
		next[i], next[k] = next[k], next[i]
	}
	at := h % canaryMemory
	memory := paced(func() {
		for range canaryRound {
			at = next[at]
		}
	})
	kept = at
	return Canary{Compute: compute, Memory: memory}
}

// kept holds the result of the loads, so that they are not left out.
var kept uint64

// paced repeats rounds for the time of a load, and returns the shortest, in nanoseconds an operation.
func paced(round func()) float64 {
	best := time.Duration(1 << 62)
	for start := time.Now(); time.Since(start) < canaryTime; {
		began := time.Now()
		round()
		best = min(best, time.Since(began))
	}
	return float64(best.Nanoseconds()) / canaryRound
}
