package kvkit

import (
	"bytes"
	"slices"
)

// arena is a list of byte strings in one reused buffer.
type arena struct {
	buf   []byte
	ends  []int
	order []int // scratch of unique
}

func (a *arena) reset()   { a.buf, a.ends = a.buf[:0], a.ends[:0] }
func (a *arena) len() int { return len(a.ends) }
func (a *arena) end()     { a.ends = append(a.ends, len(a.buf)) }
func (a *arena) add(b []byte) {
	a.buf = append(a.buf, b...)
	a.end()
}

func (a *arena) at(i int) []byte {
	start := 0
	if i > 0 {
		start = a.ends[i-1]
	}
	return a.buf[start:a.ends[i]:a.ends[i]]
}

// unique copies the strings to another arena, sorted and without duplicates.
func (a *arena) unique(dst *arena) {
	a.order = a.order[:0]
	for i := range a.len() {
		a.order = append(a.order, i)
	}
	slices.SortFunc(a.order, func(i, j int) int { return bytes.Compare(a.at(i), a.at(j)) })
	dst.reset()
	for k, i := range a.order {
		if k == 0 || !bytes.Equal(a.at(i), a.at(a.order[k-1])) {
			dst.add(a.at(i))
		}
	}
}
