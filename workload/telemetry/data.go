package telemetry

import (
	"math"

	"rumbench/internal/gen"
)

// epoch is the instant of tick 0 of the virtual clock, in microseconds.
const epoch = 1_577_836_800_000_000 // 2020-01-01

// The kinds of values.
const (
	gauge   = "gauge"
	counter = "counter"
	uniform = "uniform63"
)

// Messages are delayed by 1 to maxDelay ticks, and a value is corrected
// correctAfter ticks after its measurement: by then that has arrived, unless the
// device was silent.
const (
	maxDelay     = 3
	correctAfter = maxDelay + 1
)

// data is all that is ever sent, as pure functions of the seed, device, metric
// and tick: nothing generated is kept. Tick i of a device is its i-th
// measurement; the devices take turns within a tick in a fixed order. It has many
// fields because each says something else about the data.
//
// It has many fields because each says something else about the data.
type data struct {
	devices, metrics int64
	interval         int64   // of a device's measurements, in microseconds
	place            []int32 // of a device in the order
	order            []int32
	kind             string
	levels           int64
	values, fixes    gen.Stream // before and after correction
	fates            gen.Stream
	outages          gen.Stream
	shares
	first   int64   // no faults before this tick: it is the load's end
	silence int64   // ticks of an outage
	chunk   int64   // measurements that a device catches up with per tick
	bursts  []int64 // ticks at which the devices of the planted outages return
}

// shares are probabilities of what happens to a measurement, and of outages.
type shares struct{ late, duplicate, correct, offline, burst float64 }

func (r *run) newData(seed uint64) *data {
	stream := func(name string) gen.Stream { return gen.NewStream(seed, "telemetry", name) }
	g := &data{
		devices: r.devices, metrics: r.metrics, interval: r.p.Duration("interval").Microseconds(),
		place: make([]int32, r.devices), order: make([]int32, r.devices),
		kind: r.p.String("value"), levels: r.p.Int("levels"),
		values: stream("value"), fixes: stream("corrected"), fates: stream("fate"), outages: stream("outage"),
		shares: shares{r.p.Float("late"), r.p.Float("duplicate"), r.p.Float("correct"), r.p.Float("offline"), r.p.Float("burst_share")},
		first:  r.history, silence: r.silence, chunk: r.chunk, bursts: r.bursts,
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

// value returns a metric's value. It is computed in integers, so that all machines agree.
func (g *data) value(d, m, tick int64, corrected bool) int64 {
	pair := uint64(d*g.metrics + m)
	stream := g.values
	if corrected {
		stream = g.fixes
	}
	noise := stream.At(pair<<32 | uint64(tick))
	own := g.values.Sub(1).At(pair)
	switch g.kind {
	case uniform:
		return int64(noise >> 1)
	case counter: // ascends by rate per tick
		rate := 1 + int64(own%uint64(g.levels))
		return tick*rate + int64(noise%uint64(rate))
	}
	// A triangular wave of one to four hours' worth of ticks around a level, with noise.
	period := int64(360 * (1 + own>>60&3))
	phase := (tick + int64(own>>32&0xffff)) % period
	wave := max(phase, period-phase)*2 - period // 0…period
	base, swing := int64(own&0xffffffff)%(g.levels/2+1), g.levels/4
	return base + wave*swing/period + int64(noise%uint64(g.levels/8+1))
}

// fate is what happens to a measurement: the ticks in which it arrives, arrives
// again, and has a value corrected; -1: never.
type fate struct{ arrive, again, correct int64 }

func (g *data) fate(d, tick int64) fate {
	f := fate{tick, -1, -1}
	if tick < g.first {
		return f
	}
	if from, to := g.outage(d, tick); tick >= from && tick < to {
		f.arrive = to + (tick-from)/g.chunk
		return f
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

// fixedMetric returns the metric that a measurement's correction is about.
func (g *data) fixedMetric(d, tick int64) int64 {
	return g.fixes.Sub(1).Uniform(uint64(d)<<32|uint64(tick), g.metrics)
}

// outage returns the ticks of the device's outage nearest to a tick, of those
// that may still be caught up with in it; to is -1 if there is none. Devices of
// planted outages have no others.
func (g *data) outage(d, tick int64) (from, to int64) {
	if g.outages.Unit(uint64(d)) < g.burst {
		to = -1
		for _, b := range g.bursts {
			if b-g.silence <= tick {
				to = b
			}
		}
		return to - g.silence, to
	}
	// At most one per window of four times its length: the last quarter is for catching up.
	window := tick / (4 * g.silence)
	from = window * 4 * g.silence
	i := uint64(d+1)<<32 | uint64(window)
	if from < g.first || g.outages.Sub(1).Unit(i) >= g.offline {
		return -1, -1
	}
	from += g.outages.Sub(2).Uniform(i, 2*g.silence)
	return from, from + g.silence
}

// missed returns the first measurement that a returning device catches up with in
// a tick, and how many they are.
func (g *data) missed(d, tick int64) (first, n int64) {
	from, to := g.outage(d, tick)
	if first = from + (tick-to)*g.chunk; to < 0 || tick < to || first >= to {
		return 0, 0
	}
	return first, min(g.chunk, to-first)
}

// lateness returns how many ticks after a measurement's own it has arrived, and
// is corrected, whatever happens to it.
func (r *sizes) lateness() int64 {
	return max(r.silence+(r.silence+r.chunk-1)/r.chunk, correctAfter) + 1
}

// certain returns whether a measurement has arrived when its writer has done all
// slots before slot, and a value of it is corrected.
func (r *sizes) certain(f fate, d int64, g *data, slot int64) (arrived, corrected bool) {
	return r.slot(g, d, f.arrive) < slot, f.correct >= 0 && r.slot(g, d, f.correct) < slot
}

// slot returns the number of a device's slot in a tick, in its writer's order.
// Device and writer take turns: writer w has the places w, w + writers, …
func (r *sizes) slot(g *data, d, tick int64) int64 {
	return tick*r.perTick + int64(g.place[d])/r.writers
}

// maxDevices and maxTicks keep pairs within the numbers of draws.
const (
	maxDevices = 10_000_000
	maxTicks   = math.MaxInt32
)
