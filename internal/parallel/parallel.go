// Package parallel does independent pieces of work on all processors.
package parallel

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls do for the numbers from 0 to n-1, as many at a time as there are
// processors, and returns the first error by number.
func Each(n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = do(i)
			}
		})
	}
	all.Wait()
	return cmp.Or(errs...)
}
