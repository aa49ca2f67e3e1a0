package telemetry

import (
	"math"

	"rumbench/workload/gen"
)

// epoch is the instant of tick 0 of the virtual clock, in microseconds.
const epoch = 1_577_836_800_000_000 // 2020-01-01

// The kinds of values.
const (
	gauge   = "gauge"
	uniform = "uniform63"
)

// Messages are delayed by 1 to maxDelay ticks, and a value is corrected
// correctAfter ticks after its measurement.
const (
	maxDelay     = 3
	correctAfter = maxDelay + 1
)

// maxDevices and maxTicks keep pairs within the range of draw numbers.
const (
	maxDevices = 10_000_000
	maxTicks   = math.MaxInt32
)

// data is everything that devices ever send, as pure functions of the seed, device,
// metric and tick: generated values are not stored. Tick i of a device is its i-th
// measurement; within a tick the devices take turns in a fixed order. In the history,
// every measurement arrives once, on time, and is not corrected.
type data struct {
	*run
	interval int64   // of a device's measurements, in microseconds
	place    []int32 // of a device in the order
	order    []int32
	uniform  bool
	levels   int64
	values   gen.Stream
	fixes    gen.Stream // of corrections
	fates    gen.Stream
	outages  gen.Stream
	shares
	bursts []int64 // ticks in which the devices return from outages, ascending
}

// shares are the probabilities of the fates of a measurement or device.
type shares struct{ late, duplicate, correct, burst float64 }

func (r *run) newData(seed uint64, bursts []int64) *data {
	stream := func(name string) gen.Stream { return gen.NewStream(seed, "telemetry", name) }
	g := &data{
		run: r, interval: r.p.Duration("interval").Microseconds(), place: make([]int32, r.devices),
		order:   make([]int32, r.devices),
		uniform: r.p.String("value") == uniform, levels: r.p.Int("levels"),
		values: stream("value"), fixes: stream("corrected"), fates: stream("fate"), outages: stream("outage"),
		shares: shares{r.p.Float("late"), r.p.Float("duplicate"), r.p.Float("correct"), r.p.Float("burst_share")},
		bursts: bursts,
	}
	order := gen.NewPermutation(r.devices, stream("order"))
	for i := range r.devices {
		d := order.At(i)
		g.order[i], g.place[d] = int32(d), int32(i)
	}
	return g
}

// time returns the instant of a measurement.
func (g *data) time(d, tick int64) int64 {
	return g.start(tick) + int64(g.place[d])*g.interval/g.devices
}

// start returns the first instant of a tick.
func (g *data) start(tick int64) int64 { return epoch + tick*g.interval }

// tick returns the tick of an instant.
func (g *data) tick(time int64) int64 { return (time - epoch) / g.interval }

// at returns the device and tick of a writer's slot. Writers take turns in the order:
// writer w has the places w, w + writers, …
func (g *data) at(w, slot int64) (d, tick int64) {
	return int64(g.order[slot%g.perTick*g.writers+w]), slot / g.perTick
}

// slot returns the number of a device's slot in a tick, in its writer's order.
func (g *data) slot(d, tick int64) int64 { return tick*g.perTick + int64(g.place[d])/g.writers }

// writerOf returns the writer that sends a device's measurements.
func (g *data) writerOf(d int64) int64 { return int64(g.place[d]) % g.writers }

// value returns a metric's value. It is computed in integers, so that all machines get
// the same result.
func (g *data) value(d, m, tick int64, corrected bool) int64 {
	pair := uint64(d*g.metrics + m)
	noise := g.values.At(pair<<32 | uint64(tick))
	v := int64(noise >> 1)
	if !g.uniform {
		v = g.wave(pair, tick) + int64(noise%uint64(g.levels/8+1))
	}
	if corrected { // by adding another value
		v = (v + 1 + g.fixes.Uniform(pair<<32|uint64(tick), g.levels)) & math.MaxInt64
	}
	return v
}

// wave returns a triangular wave around a level, with a period of one to four hours'
// worth of ticks.
func (g *data) wave(pair uint64, tick int64) int64 {
	own := g.values.Sub(1).At(pair)
	period := int64(360 * (1 + own>>60&3))
	phase := (tick + int64(own>>32&0xffff)) % period
	height := max(phase, period-phase)*2 - period // 0…period
	base, swing := int64(own&0xffffffff)%(g.levels/2+1), g.levels/4
	return base + height*swing/period
}

// fate describes the delivery of a measurement: the ticks in which it arrives, arrives
// again, and has a value corrected; -1: never.
type fate struct{ arrive, again, correct int64 }

func (g *data) fate(d, tick int64) fate {
	f := fate{tick, -1, -1}
	if tick < g.history {
		return f
	}
	if start, end := g.outage(d, tick+correctAfter); tick >= start && tick < end {
		f.arrive = end + (tick-start)/g.chunk
		return f
	} else if tick+correctAfter >= start && tick < end {
		return f // later messages would fall into the outage
	}
	i := uint64(d)<<32 | uint64(tick)
	delay := 1 + g.fates.Sub(1).Uniform(i, maxDelay)
	switch u := g.fates.Unit(i); {
	case u < g.late:
		f.arrive = tick + delay
	case u < g.late+g.duplicate:
		f.again = tick + delay
	case u < g.late+g.duplicate+g.correct:
		f.correct = tick + correctAfter
	}
	return f
}

// fixedMetric returns the metric whose value a measurement's correction changes.
func (g *data) fixedMetric(d, tick int64) int64 {
	return g.fixes.Sub(1).Uniform(uint64(d)<<32|uint64(tick), g.metrics)
}

// outage returns the ticks of the device's last outage that begins by a tick; end is -1
// if there is none.
func (g *data) outage(d, tick int64) (start, end int64) {
	if g.outages.Unit(uint64(d)) >= g.burst {
		return -1, -1
	}
	for i := len(g.bursts) - 1; i >= 0; i-- {
		if end = g.bursts[i]; end-g.silence <= tick {
			return end - g.silence, end
		}
	}
	return -1, -1
}

// missed returns the first missed measurement that a returning device sends in a tick,
// and the number of those it sends.
func (g *data) missed(d, tick int64) (first, n int64) {
	start, end := g.outage(d, tick)
	if first = start + (tick-end)*g.chunk; end < 0 || tick < end || first >= end {
		return 0, 0
	}
	return first, min(g.chunk, end-first)
}

// lateness returns the number of ticks after which a measurement has certainly arrived
// and been corrected.
func (r *sizes) lateness() int64 { return max(r.silence, correctAfter) + 1 }

// certain returns whether a measurement has arrived, and a value of it has been
// corrected, once its writer has done all slots before slot.
func (g *data) certain(f fate, d, slot int64) (arrived, corrected bool) {
	return g.slot(d, f.arrive) < slot, f.correct >= 0 && g.slot(d, f.correct) < slot
}
