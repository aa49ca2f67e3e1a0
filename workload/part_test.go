package workload_test

import (
	"slices"
	"testing"

	"rumbench/workload"
)

// Whatever the number of processes, each piece is dealt once, to a process with a share of the seats.
func TestDeal(t *testing.T) {
	for processes := range 5 {
		for first := range 3 {
			for seats := 1; seats < 8; seats++ {
				var all []int64
				for i := range max(1, processes) {
					part := workload.Part{Index: i, Of: processes}
					own := 0
					for seat := first; seat < first+seats; seat++ {
						if part.Has(seat) {
							own++
						}
					}
					d := workload.NewDeal(part, first, first+seats)
					for range 10 * own {
						all = append(all, d.Take())
					}
				}
				slices.Sort(all)
				for i, n := range all {
					if n != int64(i) {
						t.Fatalf("%d processes, seats %d to %d: dealt are %v", processes, first, first+seats-1, all)
					}
				}
			}
		}
	}
}
