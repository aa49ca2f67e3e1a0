package engine

import "fmt"

// Blocks is what decides, besides the cache, which blocks a look-up in an LSM tree reads.
type Blocks struct {
	Size    float64 // bytes
	Filters bool
	Levels  []Level
}

// Level is one of such a tree.
type Level struct{ Bytes, Tables float64 }

// Add adds it to a sample. A table of level 0 is a run of its own.
func (b *Blocks) Add(out *Sample, labels ...string) {
	const tenBits = 0.01 // of absent keys pass a filter of ten bits for each key, the custom
	passes := 1.0
	if b.Filters {
		passes = tenBits
	}
	out.Gauge(BlockSize, "bytes", b.Size, labels...)
	out.Gauge(FilterPasses, "ratio", passes, labels...)
	for no, l := range b.Levels {
		runs := l.Tables
		if no > 0 {
			runs = min(runs, 1)
		}
		for i := range int(runs) {
			out.Gauge(RunBytes, "bytes", l.Bytes/runs, append(labels, "run", fmt.Sprint(no, ".", i))...)
		}
	}
}
