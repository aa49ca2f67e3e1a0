package workload_test

import (
	"slices"
	"testing"

	"rumbench/internal/expect"
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
					expect.Must(t, n == int64(i),
						processes, "processes, seats", first, "to", first+seats-1, "dealt are", all)
				}
			}
		}
	}
}
