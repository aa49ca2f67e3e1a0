package explain

import (
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// measure is a number of a side that rules compare; NaN if it is unknown.
type measure func(*Side) float64

var (
	wholePages    = partKB(account.FullPagesPart)
	compacted     = partKB(account.CompactionPart)
	flushed       = partKB(account.FlushPart)
	deviceFlushes = growth("device.flushes")
	spared        = growth(engine.FilterUseful)
	queued        = growth("device.queue_ns")
)

// partKB is the KB of one part of the writes per unit.
func partKB(p account.Part) measure {
	return func(s *Side) float64 { return s.perWrite(metric.PartKB, string(p)) }
}

// growth is the growth of a counter per primary unit.
func growth(counter string) measure { return func(s *Side) float64 { return s.growth(counter) } }

// inKB is the growth of a counter of bytes, in KB per primary unit.
func inKB(counter string) measure { return func(s *Side) float64 { return s.growth(counter) / 1024 } }

// perUnit is a metric per the unit that CPU is reported per.
func perUnit(name string) measure { return func(s *Side) float64 { return s.perUnit(name) } }

// ofRuns is the mean of a number of the runs.
func ofRuns(value func(*run) float64) measure { return func(s *Side) float64 { return s.mean(value) } }

// logSyncs is the engine's own count of its log's syncs, per unit of writes.
func logSyncs(s *Side) float64 { return s.perWrite(metric.LogSyncs, "") }

// oldVersions are the versions of rows that are not removed yet at the end of the step.
func oldVersions(s *Side) float64 { return s.gauge(engine.DeadRows) }

// stalled is the share of the time in which the engine held up writes.
func stalled(s *Side) float64 { return s.metric(metric.EngineStallS) / s.seconds() }

// rowWaits is how long sessions waited for row locks per unit, in µs; 0 if none was seen
// waiting.
func rowWaits(s *Side) float64 {
	k, _ := s.step.Of.Own(metric.CPUUS)
	return s.mean(func(r *run) float64 {
		for range r.rows(metric.WaitUS) {
			return orZero(r.value(metric.WaitUS, string(engine.RoleRow), k))
		}
		return math.NaN() // sessions were not sampled
	})
}

// inProgress is the number of operations of other clients that are in progress, as a mean; NaN if
// there are no such clients.
func inProgress(s *Side) float64 {
	return s.mean(func(r *run) (sum float64) {
		groups := pacedBeside(r)
		if len(groups) == 0 {
			return math.NaN()
		}
		for row := range r.rows(metric.ServiceTotalS) {
			if slices.Contains(groups, row.Group) {
				sum += row.Value / r.Seconds
			}
		}
		return sum
	})
}

// request is the duration of a request to the device, in µs; NaN if it is unknown.
func request(s *Side) float64 { return perRequest(s, "_ns") / 1e3 }

// requestKB is the size of a request to the device; NaN if it is unknown.
func requestKB(s *Side) float64 { return perRequest(s, "_bytes") / 1024 }

func perRequest(s *Side, number string) float64 {
	n := func(name string) float64 { return s.growth("device." + name) }
	return (n("read"+number) + n("write"+number)) / (n("reads") + n("writes"))
}

// sides returns the number on both sides.
func (n measure) sides(s *Step) (base, other float64) { return n(&s.Base), n(&s.New) }

// difference returns how much greater the number is on the new side.
func (n measure) difference(s *Step) float64 { return n(&s.New) - n(&s.Base) }
