package trial

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/observe/pmu"
)

// Events are read at both ends of a step, and not at intervals.
func TestEventsAtRest(t *testing.T) {
	c := pmu.Open([]int{os.Getpid()}, [][]pmu.Event{{{Name: "pmu.faults", Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_PAGE_FAULTS}}})
	if c == nil {
		t.Skip("perf_event_open is not allowed here")
	}
	defer c.Close()
	sampler := observe.Sampler{Collectors: []observe.Collector{atRest{&observer{events: c}}}}
	var w window
	tr := &trial{observer: observer{sampler: &sampler}}
	before := w.snapshot(context.Background(), tr)
	at := sampler.Snapshot(context.Background())
	expect.True(t, len(at.Sources[0].Points) == 0, "at an interval", at.Sources[0].Points)
	touched := make([]byte, 64<<20)
	for i := 0; i < len(touched); i += 4096 {
		touched[i] = 1
	}
	counted, unknown := changes(before, w.snapshot(context.Background(), tr))
	n, ok := account.Counter(counted, "pmu.faults")
	expect.True(t, ok && n != 0 && len(unknown) == 0 && time.Duration(touched[0]) != 0, n, counted, unknown)
}
