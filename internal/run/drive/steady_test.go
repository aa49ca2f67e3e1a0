package drive

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/internal/expect"
	"rumbench/workload"
)

// A step goes on until its rate is steady, at most as long as allowed; no other step is prolonged.
func TestUntilSteady(t *testing.T) {
	settles := func(after time.Duration) func(int64) time.Duration {
		began, r := time.Time{}, rand.New(rand.NewPCG(1, 2))
		return func(n int64) time.Duration {
			if n == 0 {
				began = time.Now()
			}
			slow := time.Duration((8 + 4*r.Float64()) * float64(time.Millisecond))
			if run := time.Since(began); run < after {
				slow *= 3 + run/(10*time.Second) // slower every 10 s
			}
			return slow
		}
	}
	for name, c := range map[string]struct {
		settles  time.Duration
		longest  float64
		rate     float64
		seconds  float64
		low, end time.Duration
	}{
		"steady at once":      {0, 4, 0, 30, 30 * time.Second, 30 * time.Second},
		"steady after a time": {20 * time.Second, 4, 0, 30, 75 * time.Second, 98 * time.Second},
		"never":               {200 * time.Second, 2, 0, 30, 60 * time.Second, 61 * time.Second},
		"too few intervals":   {0, 4, 0, 10, 20 * time.Second, 25 * time.Second},
		"not asked for":       {200 * time.Second, 0, 0, 30, 30 * time.Second, 31 * time.Second},
		"paced":               {200 * time.Second, 4, 5, 30, 30 * time.Second, 31 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := workload.Group{Name: "w", Clients: 1, Ops: insert, Rate: c.rate, RowsPerOp: 1}
				step := workload.Step{Primary: "insert", Seconds: c.seconds, Groups: []workload.Group{g}}
				r, err := Run(t.Context(), Config{Coarse: true, Step: &step, Interval: time.Second, Longest: c.longest,
					Clients: [][]workload.Client{{&fake{rows: 1, took: settles(c.settles)}}}})
				expect.NoError(t, err)
				expect.True(t, r.Window >= c.low && r.Window <= c.end+time.Second && r.Ended == nil,
					"ended by", r.Window, r.Ended, c.low, c.end)
				if n := len(r.Groups[0].Rates); float64(n) < r.Window.Seconds()-1.5 {
					t.Errorf("%d intervals in %v", n, r.Window)
				}
			})
		})
	}
}
