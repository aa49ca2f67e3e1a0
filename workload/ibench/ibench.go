// Package ibench is the insert benchmark: inserts in primary key order into a table with
// three secondary indexes on random values, then range and point queries concurrent with
// writers at a fixed rate.
//
// It was defined by Tokutek and popularised by Mark Callaghan; docs/ibench.md has its
// history and sources, and the differences of this implementation.
package ibench

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// Workload is the workload, for the registry.
type Workload struct{}

// The forms: the steps and their names.
const (
	form2016 = "2016"
	form2020 = "2020"
	form2023 = "2023"
)

// The schema eras.
const (
	schema2023    = "2023"
	schemaClassic = "classic"
)

// Info describes the workload.
func (Workload) Info() workload.Info {
	return workload.Info{
		Name:    "ibench",
		Doc:     "The insert benchmark: random maintenance of secondary indexes, then queries with concurrent writers of a fixed rate.",
		Params:  params,
		Presets: presets,
	}
}

var params = []workload.Param{
	{Name: "form", Type: workload.StringParam, Default: form2023, Enum: []string{form2023, form2020, form2016}, Doc: "the sequence of steps: since 2023 (l.i0 l.x l.i1 l.i2 settle qr… qp…), of 2020 (l.i0 l.x l.i1 q…) or of 2016 (l q…)"},
	{Name: "schema", Type: workload.StringParam, Default: schema2023, Enum: []string{schema2023, schemaClassic}, Doc: "index definitions and prices: since December 2023, or before (classic); results of the two are not comparable"},
	{Name: "steps", Type: workload.StringsParam, Default: []string{}, Doc: "run only these steps; on an existing database (data:) any of them may be named"},
	{Name: "clients", Type: workload.IntParam, Default: int64(1), Min: 1, Max: 4096, Doc: "number of clients; each has a writer, a deleter and a query connection as needed by the step"},
	{Name: "one_table", Type: workload.BoolParam, Default: false, Doc: "all clients share one table, instead of one each; not with deletes"},
	{Name: "rows", Type: workload.IntParam, Default: int64(1_000_000), Unit: "rows per client", Min: 1, Max: maxRows, Doc: "rows loaded by the first step"},
	{Name: "write_rows", Type: workload.IntParam, Default: int64(1_000_000), Unit: "rows per client", Min: 0, Max: maxRows, Doc: "rows inserted with indexes: 80 % by l.i1, 20 % by l.i2 (form 2020: all by l.i1)"},
	{Name: "query_seconds", Type: workload.FloatParam, Later: true, Default: 300.0, Unit: "s", Min: 0.1, Doc: "planned duration of every query step"},
	{Name: "rates", Type: workload.IntsParam, Later: true, Default: []int64{100, 500, 1000}, Unit: "rows/s per client", Min: 1, Doc: "rates of the writers in the query steps"},
	{Name: "loops", Type: workload.IntParam, Later: true, Default: int64(1), Min: 1, Max: 10, Doc: "number of runs of each rate (form 2020)"},
	{Name: "bound", Type: workload.StringParam, Later: true, Default: "work", Enum: []string{"work", "time"}, Doc: "query steps end when the writers have inserted rate × query_seconds rows (work: later if the rate is missed) or after query_seconds (time)"},
	{Name: "pace", Type: workload.StringParam, Later: true, Default: string(pace.Even), Enum: pace.Kinds(), Doc: "how paced writers spread their batches over a second; the original uses burst"},
	{Name: "deletes", Type: workload.BoolParam, Default: true, Doc: "once the indexes exist, delete the oldest row for every row inserted, so that the table keeps its size"},
	{Name: "load_batch", Type: workload.IntParam, Default: int64(100), Unit: "rows", Min: 1, Max: 10_000, Doc: "rows per commit of the load"},
	{Name: "write_batch", Type: workload.IntParam, Default: int64(50), Unit: "rows", Min: 1, Max: 10_000, Doc: "rows per commit of l.i1 and of the writers in query steps; at most the rate"},
	{Name: "small_batch", Type: workload.IntParam, Default: int64(5), Unit: "rows", Min: 1, Max: 10_000, Doc: "rows per commit of l.i2"},
	{Name: "secondary", Type: workload.IntParam, Default: int64(3), Min: 0, Max: 3, Doc: "number of secondary indexes"},
	{Name: "index_build", Type: workload.StringParam, Default: "each", Enum: []string{"each", "together"}, Doc: "build the indexes with one statement each, or together with one"},
	{Name: "rows_per_query", Type: workload.IntParam, Later: true, Default: int64(10), Min: 1, Max: 10_000, Doc: "entries fetched by a range query, keys by a point query"},
	{Name: "cashregisters", Type: workload.IntParam, Default: int64(1000), Min: 1, Max: math.MaxInt32, Doc: "number of cash registers"},
	{Name: "products", Type: workload.IntParam, Default: int64(10_000), Min: 1, Max: math.MaxInt32, Doc: "number of products"},
	{Name: "customers", Type: workload.IntParam, Default: int64(100_000), Min: 1, Max: math.MaxInt32, Doc: "number of customers"},
	{Name: "max_price", Type: workload.IntParam, Default: int64(500), Min: 1, Max: math.MaxInt32, Doc: "upper limit of prices, exclusive"},
	{Name: "data_min", Type: workload.IntParam, Default: int64(10), Unit: "bytes", Min: 0, Max: maxData, Doc: "minimum length of the data column"},
	{Name: "data_max", Type: workload.IntParam, Default: int64(20), Unit: "bytes", Min: 0, Max: maxData, Doc: "maximum length of the data column"},
	{Name: "data_random_pct", Type: workload.IntParam, Default: int64(50), Unit: "%", Min: 0, Max: 100, Doc: "incompressible share of the data column"},
	{Name: "clock_rows", Type: workload.IntParam, Default: int64(10_000), Unit: "rows", Min: 1, Doc: "rows of a table per second of the clock of dateandtime, which is not the wall clock, so that a seed always gives the same rows"},
	{Name: "resync", Type: workload.IntParam, Later: true, Default: int64(1000), Min: 0, Doc: "number of statements after which a deleter reads the least key again; 0: never"},
	{Name: "max_every", Type: workload.IntParam, Later: true, Default: int64(100), Min: 1, Doc: "number of queries after which a point query client reads the greatest key again"},
	{Name: "settle_floor", Type: workload.DurationParam, Default: -time.Second, Min: -1, Doc: "minimum duration of the settle step; negative: 60 s plus 1 s per million rows loaded, at most 1200 s"},
	{Name: "check", Type: workload.StringParam, Later: true, Default: "each", Enum: []string{"each", "last", "none"}, Doc: "steps after which the rows of all tables are counted, outside the measured window; this reads them"},
}

// maxRows exceeds any real load, and is small enough not to overflow.
const maxRows = 1e12

// maxData is the width of the data column.
const maxData = 4000

var presets = []workload.Preset{
	{Name: "quick", Doc: "about a minute per engine on two cores: a first test that shows the shape of the differences", Values: map[string]any{
		"rows": int64(500_000), "write_rows": int64(80_000), "query_seconds": 3.0, "settle_floor": time.Second,
	}},
	{Name: "cached", Doc: "the database fits in memory (the published runs of November 2025: 8 cores, 32 GB)", Values: map[string]any{
		"rows": int64(30_000_000), "write_rows": int64(50_000_000), "query_seconds": 1800.0,
	}},
	{Name: "io-bound", Doc: "the database is several times larger than memory (the published runs of November 2025: 8 cores, 32 GB)", Values: map[string]any{
		"rows": int64(800_000_000), "write_rows": int64(5_000_000), "query_seconds": 1800.0, "check": "last",
	}},
	{Name: "2020", Doc: "the form of July 2020: eight clients, two runs of every rate, no deletes", Values: map[string]any{
		"form": form2020, "schema": schemaClassic, "clients": int64(8), "rows": int64(10_000_000), "write_rows": int64(1_000_000),
		"query_seconds": 1800.0, "rates": []int64{100, 200, 400, 600, 800, 1000}, "loops": int64(2), "deletes": false, "check": "last",
	}},
	{Name: "2016", Doc: "the form of June 2016: indexes from the start, one client, no deletes", Values: map[string]any{
		"form": form2016, "schema": schemaClassic, "rows": int64(250_000_000), "query_seconds": 5000.0,
		"rates": []int64{1000, 100}, "deletes": false, "write_batch": int64(100), "check": "last",
	}},
}

// New returns a run.
func (Workload) New(p workload.Params) (workload.Run, error) {
	r := &run{p: p, form: p.String("form"), classic: p.String("schema") == schemaClassic, clients: int(p.Int("clients"))}
	rows, batch := p.Int("rows"), p.Int("load_batch")
	tooFew := p.Bool("deletes") && rows < 20*max(p.Int("write_batch"), p.Int("small_batch"))
	if err := cmp.Or(
		workload.RefuseIf(p.Int("data_min") > p.Int("data_max"), "data_min", "lower data_min or raise data_max",
			"%d is above data_max %d", p.Int("data_min"), p.Int("data_max")),
		workload.RefuseIf(p.Bool("one_table") && p.Bool("deletes") && r.clients > 1, "one_table", "set deletes: false, or remove one_table",
			"clients that delete from one table would delete each other's rows"),
		workload.RefuseIf(rows < batch, "rows", "raise rows or lower load_batch", "%d rows are fewer than one load_batch of %d", rows, batch),
		workload.RefuseIf(tooFew, "rows", "raise rows to at least 20 batches", "%d rows are too few for deletes in batches of %d", rows, p.Int("write_batch")),
	); err != nil {
		return nil, err
	}
	r.tables = r.clients
	if p.Bool("one_table") {
		r.tables = 1
	}
	return r, r.choose()
}

// run is the workload with its parameters.
type run struct {
	p       workload.Params
	form    string
	classic bool
	clients int
	tables  int
	steps   []workload.Step
}

// choose builds the steps and keeps those that parameter steps names.
func (r *run) choose() error {
	r.steps = r.allSteps()
	want := r.p.Strings("steps")
	if len(want) == 0 {
		judge(r.steps)
		return nil
	}
	names := quantity.Texts(r.steps, func(s workload.Step) string { return s.Name })
	for _, w := range want {
		if !slices.Contains(names, w) {
			return &workload.ParamError{Param: "steps",
				Reason: fmt.Sprintf("there is no step %q", w), Help: fmt.Sprintf("the steps of form %s are %v", r.form, names)}
		}
	}
	r.steps = slices.DeleteFunc(r.steps, func(s workload.Step) bool { return !slices.Contains(want, s.Name) })
	judge(r.steps)
	return nil
}

func (r *run) Steps() []workload.Step { return r.steps }

// Needs returns nothing: operations are single statements.
func (r *run) Needs() []model.Capability { return nil }

// Estimate sums the rows that the steps insert; with deletes the tables keep the size of
// the load.
func (r *run) Estimate([]workload.Step) workload.Live {
	rows := r.p.Int("rows") + r.p.Int("load_batch")
	if !r.p.Bool("deletes") {
		steps := 1.0 // steps per rate
		if r.form == form2023 {
			steps = 2 // range and point queries
		}
		if r.form != form2016 {
			rows += r.p.Int("write_rows")
		}
		for _, rate := range r.p.Ints("rates") {
			rows += int64(float64(rate) * r.p.Float("query_seconds") * float64(r.p.Int("loops")) * steps)
		}
	}
	return r.live(rows*int64(r.clients), true)
}

// tableRows returns the number of rows loaded into a table. With deletes, later steps
// keep this number, otherwise they increase it.
func (r *run) tableRows() int64 { return r.p.Int("rows") * int64(r.clients/r.tables) }
