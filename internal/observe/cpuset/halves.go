package cpuset

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Halves are two disjoint sets of CPUs, as similar as the machine allows.
type Halves struct {
	First, Second Set
	// Shared is whether both halves are threads of one core, the only one.
	Shared bool
}

// Halve divides a set of at least two CPUs. Both halves get the same number of
// cores of each size, and the threads of a core stay together. Cores are taken
// in the order of their numbers, which on most machines keeps each half on its
// own sockets and caches. CPUs left over are in neither half.
//
// The threads of a core are read below sys, usually "/sys", see
// Documentation/admin-guide/cputopology.rst of the kernel. A CPU without that
// file counts as a core.
func Halve(s Set, sys string) (Halves, error) {
	if len(s) < 2 {
		return Halves{}, fmt.Errorf("halve CPUs %v: at least two are needed", s)
	}
	cores := coresOf(s, sys)
	if len(cores) == 1 {
		h := halveCores(single(s))
		h.Shared = true
		return h, nil
	}
	h := halveCores(cores)
	if len(h.First) == 0 { // no two cores have the same size: take one thread of each
		var firsts Set
		for _, core := range cores {
			firsts = append(firsts, core[0])
		}
		h = halveCores(single(firsts))
	}
	return h, nil
}

// coresOf groups CPUs into cores.
func coresOf(s Set, sys string) (cores []Set) {
	seen := map[int]bool{}
	for _, cpu := range s {
		if seen[cpu] {
			continue
		}
		var core Set
		for _, thread := range siblings(cpu, sys) {
			if slices.Contains(s, thread) && !seen[thread] {
				core = append(core, thread)
				seen[thread] = true
			}
		}
		cores = append(cores, core)
	}
	return cores
}

// siblings returns the threads of a CPU's core, itself included.
func siblings(cpu int, sys string) Set {
	alone := Set{cpu}
	b, err := os.ReadFile(filepath.Join(sys, "devices/system/cpu", fmt.Sprintf("cpu%d", cpu),
		"topology/thread_siblings_list"))
	if err != nil {
		return alone
	}
	s, err := Parse(string(b))
	if err != nil || !slices.Contains(s, cpu) {
		return alone
	}
	return s
}

// single returns every CPU as a core.
func single(s Set) (cores []Set) {
	for _, cpu := range s {
		cores = append(cores, Set{cpu})
	}
	return cores
}

// halveCores gives each half the same number of cores of each size.
func halveCores(cores []Set) (h Halves) {
	bySize := map[int][]Set{}
	for _, core := range cores {
		bySize[len(core)] = append(bySize[len(core)], core)
	}
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		alike := bySize[size]
		half := len(alike) / 2
		h.First = append(h.First, slices.Concat(alike[:half]...)...)
		h.Second = append(h.Second, slices.Concat(alike[half:2*half]...)...)
	}
	slices.Sort(h.First)
	slices.Sort(h.Second)
	return h
}
