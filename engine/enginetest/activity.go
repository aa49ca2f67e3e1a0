package enginetest

import (
	"context"
	"testing"
	"time"

	"rumbench/engine"
)

// AwaitActivity samples until so many sessions do the same.
func AwaitActivity(t *testing.T, a engine.ActivitySampler, state engine.SessionState, role engine.Role, sessions int) {
	t.Helper()
	for {
		n := 0
		check(t, a.Sample(context.Background(), func(d engine.SessionActivity, k int) {
			if d.State == state && d.Role == role {
				n += k
			}
		}))
		if n == sessions {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
