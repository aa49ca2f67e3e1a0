// Package telemetry is the monitoring workload that Mark Callaghan proposed as Insert
// Benchmark v3: many devices send measurements, while other clients query them, roll them
// up and drop old data. Three physical schemas of the same data show the costs of writes
// and reads under each.
//
// docs/telemetry.md has the sources, and the differences of this implementation.
package telemetry

import (
	"cmp"
	"slices"
	"time"

	"rumbench/model"
	"rumbench/workload"
)

// Workload is the workload, for the registry.
type Workload struct{}

// The physical schemas.
const (
	schemaWrite  = "write"
	schemaRead   = "read"
	schemaMiddle = "middle"
)

// The forms of a measurement.
const (
	rowModel = "row"
	docModel = "doc"
)

// The effects of inserting a measurement that exists.
const (
	onExistingIgnore  = "ignore"
	onExistingReplace = "replace"
)

// Info describes the workload.
func (Workload) Info() workload.Info {
	return workload.Info{
		Name:    "telemetry",
		Doc:     "Monitoring (Insert Benchmark v3): measurements of many devices are inserted, queried, rolled up and dropped, under a schema for writes, for reads, or between.",
		Params:  params,
		Presets: presets,
	}
}

var params = []workload.Param{
	{Name: "schema", Type: workload.StringParam, Default: schemaRead, Enum: []string{schemaWrite, schemaMiddle, schemaRead}, Doc: "the primary key and index: by time (write), by device and time (middle), or by metric, device and time, with an index on metric and value (read)"},
	{Name: "model", Type: workload.StringParam, Default: rowModel, Enum: []string{rowModel, docModel}, Doc: "one row per metric of a measurement, or one per measurement with all metrics in a bytes column (doc; not with schema read)"},
	{Name: "devices", Type: workload.IntParam, Default: int64(1000), Min: 1, Max: maxDevices, Doc: "number of devices; a multiple of writers × batch and of rollup_devices"},
	{Name: "metrics", Type: workload.IntParam, Default: int64(10), Min: 1, Max: 100, Doc: "metrics in each measurement"},
	{Name: "interval", Type: workload.DurationParam, Default: 10 * time.Second, Min: 1, Doc: "virtual time between two measurements of a device: a tick. The other times are multiples of it"},
	{Name: "history", Type: workload.DurationParam, Default: time.Hour, Min: 1, Doc: "virtual time that the load covers; at most partitions - 1 of them"},
	{Name: "partition", Type: workload.DurationParam, Default: 20 * time.Minute, Min: 1, Doc: "virtual time that a partition covers"},
	{Name: "partitions", Type: workload.IntParam, Default: int64(5), Min: 3, Max: 1000, Doc: "tables for partitions; one of them is free for the next, the others are the retention"},
	{Name: "value", Type: workload.StringParam, Default: gauge, Enum: []string{gauge, uniform}, Doc: "a wave with noise, or random and incompressible"},
	{Name: "levels", Type: workload.IntParam, Default: int64(1000), Min: 8, Max: 1_000_000, Doc: "range of gauges"},
	{Name: "on_existing", Type: workload.StringParam, Default: onExistingIgnore, Enum: []string{onExistingIgnore, onExistingReplace}, Doc: "an insert of rows that exist keeps or replaces them; some engines can replace without reading"},
	{Name: "writers", Type: workload.IntParam, Default: int64(1), Min: 1, Max: 1024, Doc: "clients that send measurements; each has its share of the devices"},
	{Name: "readers", Type: workload.IntParam, Default: int64(1), Min: 1, Max: 1024, Doc: "clients that query"},
	{Name: "batch", Type: workload.IntParam, Default: int64(1), Unit: "devices", Min: 1, Max: 100, Doc: "devices whose measurements of a tick a writer sends with one statement"},
	{Name: "load_batch", Type: workload.IntParam, Default: int64(100), Unit: "measurements", Min: 1, Max: 100, Doc: "measurements per statement of the load"},
	{Name: "rates", Type: workload.IntsParam, Later: true, Default: []int64{5000}, Unit: "values/s", Min: 1, Doc: "promised rates of all writers together: a mix step each"},
	{Name: "mix_seconds", Type: workload.FloatParam, Later: true, Default: 300.0, Unit: "s", Min: 0.1, Doc: "planned duration of a mix step, which ends when the writers have sent rate × mix_seconds values"},
	{Name: "read_rate", Type: workload.FloatParam, Later: true, Default: 10.0, Unit: "queries/s", Min: 0, Doc: "queries that each reader starts in a mix step; 0: one after the other"},
	{Name: "read_seconds", Type: workload.FloatParam, Later: true, Default: 60.0, Unit: "s", Min: 0.1, Doc: "duration of step readonly, in which queries follow each other"},
	{Name: "range", Type: workload.DurationParam, Later: true, Default: 5 * time.Minute, Min: 1, Doc: "virtual time that a range query covers"},
	{Name: "rollup", Type: workload.DurationParam, Default: 5 * time.Minute, Min: 1, Doc: "virtual time of a roll-up's windows; partition is a multiple of it"},
	{Name: "rollup_devices", Type: workload.IntParam, Default: int64(20), Min: 1, Max: 1000, Doc: "devices that one operation rolls up"},
	{Name: "transactions", Type: workload.BoolParam, Default: false, Doc: "read and write of a roll-up are one transaction; without, an engine needs none, as a repeated roll-up gives the same"},
	{Name: "late", Type: workload.FloatParam, Default: 0.005, Min: 0, Max: 0.3, Doc: "share of the measurements that arrive one to three ticks late"},
	{Name: "duplicate", Type: workload.FloatParam, Default: 0.001, Min: 0, Max: 0.3, Doc: "share that is sent again one to three ticks later"},
	{Name: "correct", Type: workload.FloatParam, Default: 0.001, Min: 0, Max: 0.3, Doc: "share in which a value is updated four ticks later"},
	{Name: "burst_share", Type: workload.FloatParam, Default: 0.05, Min: 0, Max: 1, Doc: "share of the devices that have an outage in each mix step, and return from it at once"},
	{Name: "burst_at", Type: workload.FloatParam, Later: true, Default: 0.5, Min: 0, Max: 1, Doc: "when they return, as a share of the mix step"},
	{Name: "silence", Type: workload.DurationParam, Default: 10 * time.Minute, Min: 1, Doc: "virtual time of the outage, whose measurements a device sends after it"},
	{Name: "backfill", Type: workload.IntParam, Default: int64(10), Unit: "measurements", Min: 1, Max: 100, Doc: "missed measurements that a device sends per tick after the outage, with one statement"},
	{Name: "settle_floor", Type: workload.DurationParam, Default: -time.Second, Min: -1, Doc: "minimum duration of the settle step; negative: 60 s plus 1 s per million rows loaded, at most 1200 s"},
	{Name: "check", Type: workload.StringParam, Later: true, Default: "each", Enum: []string{"each", "none"}, Doc: "after steps that write, count rows and compare the roll-ups, outside the measured window; this reads the tables"},
}

var presets = []workload.Preset{
	{Name: "quick", Doc: "about a minute per engine on two cores: a first test that shows the shape of the differences", Values: map[string]any{
		"devices": int64(200), "history": 500 * time.Second, "partition": 200 * time.Second, "partitions": int64(4), "rates": []int64{4000}, "mix_seconds": 20.0,
		"read_seconds": 5.0, "range": time.Minute, "rollup": 100 * time.Second, "silence": 100 * time.Second, "burst_share": 0.3, "settle_floor": time.Second,
	}},
	{Name: "day", Doc: "ten thousand devices, four hours of history, 860 million values a virtual day, on a server of 8 cores; about two hours", Values: map[string]any{
		"devices": int64(10_000), "history": 4 * time.Hour, "partition": time.Hour, "partitions": int64(6), "readers": int64(4),
		"rates": []int64{10_000, 30_000, 60_000}, "mix_seconds": 1200.0, "read_seconds": 600.0, "rollup_devices": int64(100), "burst_share": 0.1, "burst_at": 0.55,
	}},
}

// run is the workload with its parameters.
type run struct {
	p workload.Params
	sizes
	doc    bool
	schema string
	// now is the state after the steps so far, starting with step load.
	now state
}

// sizes are the numbers of a run; times are in ticks.
type sizes struct {
	devices   int64
	metrics   int64
	writers   int64
	batch     int64
	perTick   int64 // measurements of a writer in a tick
	history   int64
	partition int64
	tables    int64
	window    int64 // of a roll-up
	together  int64 // devices of a roll-up operation
	silence   int64 // of an outage; 0: there is none
	chunk     int64 // missed measurements that a device sends per tick
	span      int64 // of range queries
}

// New returns a run.
func (Workload) New(p workload.Params) (workload.Run, error) {
	r := &run{p: p, doc: p.String("model") == docModel, schema: p.String("schema")}
	r.sizes = sizes{
		devices: p.Int("devices"), metrics: p.Int("metrics"), writers: p.Int("writers"), batch: p.Int("batch"), tables: p.Int("partitions"),
		together: p.Int("rollup_devices"), chunk: p.Int("backfill"),
	}
	if err := r.setTicks(); err != nil {
		return nil, err
	}
	r.perTick = r.devices / r.writers
	for _, err := range []error{
		workload.RefuseIf(r.doc && r.schema == schemaRead, "model", "set schema: middle or write",
			"a document holds all metrics of a measurement, so it has no key by metric and no index on values"),
		workload.RefuseIf(r.devices%r.writers != 0, "writers", "choose a divisor", "%d devices cannot be shared evenly by %d writers", r.devices, r.writers),
		workload.RefuseIf(r.perTick%r.batch != 0, "batch", "choose a divisor", "the %d devices of a writer are not a multiple of %d", r.perTick, r.batch),
		workload.RefuseIf(r.devices%r.together != 0, "rollup_devices", "choose a divisor", "%d is not a divisor of %d devices", r.together, r.devices),
		workload.RefuseIf(r.partition%r.window != 0, "rollup", "choose a divisor of partition", "partition is not a multiple of it"),
		workload.RefuseIf(r.history > (r.tables-1)*r.partition, "history", "shorten it, or raise partitions", "it is longer than the retention: %d partitions", r.tables-1),
		workload.RefuseIf(r.span > r.history, "range", "shorten it", "%d ticks are longer than the history of %d", r.span, r.history),
		workload.RefuseIf(r.lateness() > (r.tables-2)*r.partition, "silence", "shorten it, or raise partition",
			"measurements would arrive up to %d ticks late, after their partition of %d ticks is dropped", r.lateness(), r.partition),
	} {
		if err != nil {
			return nil, err
		}
	}
	if err := r.requireMixes(); err != nil {
		return nil, err
	}
	return r, nil
}

// setTicks converts the durations to ticks.
func (r *run) setTicks() (err error) {
	interval := r.p.Duration("interval")
	ticks := func(name string) int64 {
		d := r.p.Duration(name)
		err = cmp.Or(err,
			workload.RefuseIf(d%interval != 0, name, "choose a multiple of interval", "%v is not a multiple of interval %v", d, interval),
			workload.RefuseIf(d/interval > maxTicks/1000, name, "shorten it, or raise interval", "%v are too many intervals of %v", d, interval))
		return int64(d / interval)
	}
	r.history, r.partition, r.span, r.window = ticks("history"), ticks("partition"), ticks("range"), ticks("rollup")
	if r.p.Float("burst_share") > 0 {
		r.silence = ticks("silence")
	}
	return cmp.Or(err, workload.RefuseIf(interval.Microseconds() < r.devices, "interval", "raise it", "it has fewer microseconds than there are devices"))
}

// requireMixes refuses repeated rates, rates without a whole tick, and an outage that
// does not begin and end within each mix step: measurements that are late when it begins
// belong to that step.
func (r *run) requireMixes() error {
	rates := r.p.Ints("rates")
	for i, rate := range rates {
		ticks := r.workAt(rate) * r.batch / r.perTick
		returns := r.burstAt(ticks)
		caughtUp := returns + (r.silence+r.chunk-1)/r.chunk
		if err := cmp.Or(workload.RefuseIf(slices.Contains(rates[:i], rate), "rates", "name each once", "%d is repeated: steps are named by their rates", rate),
			workload.RefuseIf(r.rateOf(rate)*r.p.Float("mix_seconds") < float64(r.perTick/r.batch), "mix_seconds", "raise it or the rate, or lower devices",
				"at %d values/s a tick of all devices takes longer", rate), workload.RefuseIf(r.silence > 0 && (returns < r.silence+correctAfter || caughtUp > ticks), "silence",
				"shorten it, raise mix_seconds or backfill, change burst_at, or set burst_share: 0",
				"an outage of %d ticks before tick %d, %d before it and %d to catch up do not fit into the %d ticks of step mix%d", r.silence, returns, correctAfter, caughtUp-returns, ticks, rate)); err != nil {
			return err
		}
	}
	return nil
}

// burstAt returns the tick in which devices return, for a mix step of the given length.
func (r *run) burstAt(ticks int64) int64 { return int64(r.p.Float("burst_at") * float64(ticks)) }

// Needs returns transactions, if roll-ups use them.
func (r *run) Needs() []model.Capability {
	if r.p.Bool("transactions") {
		return []model.Capability{model.CapTransactions}
	}
	return nil
}

// Estimate returns full partitions, and the roll-ups of all data.
func (r *run) Estimate([]workload.Step) workload.Live {
	ticks := r.history
	for _, rate := range r.p.Ints("rates") {
		ticks += r.workAt(rate)*r.batch/r.perTick + 1
	}
	return r.live(min(ticks, r.tables*r.partition)*r.devices*r.metrics, true, ticks/r.window*r.devices*r.metrics)
}
