package trial

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/account"
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
	if at := sampler.Snapshot(context.Background()); len(at.Sources[0].Points) != 0 {
		t.Errorf("at an interval: %+v", at.Sources[0].Points)
	}
	touched := make([]byte, 64<<20)
	for i := 0; i < len(touched); i += 4096 {
		touched[i] = 1
	}
	counted, unknown := changes(before, w.snapshot(context.Background(), tr))
	if n, ok := account.Counter(counted, "pmu.faults"); !ok || n == 0 || len(unknown) > 0 || time.Duration(touched[0]) == 0 {
		t.Errorf("%v, %v, %v", n, counted, unknown)
	}
}
