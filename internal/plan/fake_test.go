package plan

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/declared"
)

// catalog is a Catalog of fakes.
type catalog struct {
	engines   map[string]engine.Engine
	workloads map[string]workload.Workload
}

func (c catalog) Engine(name string) (engine.Engine, bool) { e, ok := c.engines[name]; return e, ok }
func (c catalog) EngineNames() []string                    { return slices.Sorted(maps.Keys(c.engines)) }
func (c catalog) WorkloadNames() []string                  { return slices.Sorted(maps.Keys(c.workloads)) }
func (c catalog) Workload(name string) (workload.Workload, bool) {
	w, ok := c.workloads[name]
	return w, ok
}

func fakes() catalog {
	return catalog{
		engines: map[string]engine.Engine{
			"null": fakeEngine{name: "null", caps: []model.Capability{model.CapUnique, model.CapTransactions}},
			"pebble": fakeEngine{
				name:         "pebble",
				caps:         []model.Capability{model.CapResults, model.CapUnique},
				options:      []engine.Option{{Name: "mem_table_size", Type: "size", Doc: "bytes of a memtable"}, {Name: "levels", Type: "int", Doc: "number of levels"}},
				compressions: []model.Compression{model.CompressionNone, model.CompressionSnappy, model.CompressionZstd},
				direct:       true,
			},
			"sqlite": fakeEngine{
				name:         "sqlite",
				caps:         []model.Capability{model.CapResults, model.CapUnique, model.CapTransactions},
				compressions: []model.Compression{model.CompressionNone},
				greatestPage: 64 << 10,
			},
		},
		workloads: map[string]workload.Workload{"bank": fakeWorkload{name: "bank", needs: model.CapTransactions}, "ibench": fakeWorkload{name: "ibench", needs: model.CapUnique}},
	}
}

type fakeEngine struct {
	name         string
	caps         []model.Capability
	options      []engine.Option
	compressions []model.Compression
	greatestPage int64
	direct       bool
	servers      []string
}

func (e fakeEngine) Info() engine.Info {
	return engine.Info{Name: e.name, Capabilities: e.caps, Options: e.options, Servers: e.servers, Joins: e.name == "served", SpaceFactor: e.space()}
}

func (e fakeEngine) space() float64 {
	if e.name == "null" {
		return 0
	}
	return 2
}

func (e fakeEngine) Check(c engine.Config) error {
	if e.name == "null" {
		return nil
	}
	if c.Storage != "" && c.Storage != "heap" {
		return engine.Choose("storage", c.Storage, "heap")
	}
	if c.Compression != "" && !slices.Contains(e.compressions, c.Compression) {
		return &engine.KnobError{Knob: "compression", Value: string(c.Compression), Reason: "it has none of that kind"}
	}
	if e.greatestPage > 0 && c.Page > e.greatestPage {
		return &engine.KnobError{Knob: "page", Value: quantity.FormatSize(c.Page), Reason: "its greatest page is " + quantity.FormatSize(e.greatestPage)}
	}
	if c.DirectIO != nil && *c.DirectIO && !e.direct {
		return &engine.KnobError{Knob: "direct_io", Value: "true", Reason: "it cannot bypass the page cache"}
	}
	if err := c.CheckIsolation(model.ReadCommitted); err != nil {
		return err
	}
	if c.Protocol == engine.Text {
		return &engine.KnobError{Knob: "protocol", Value: "text", Reason: "it has no server"}
	}
	if err := c.CheckOptions(e.options); err != nil {
		return err
	}
	if n, ok := c.Options["levels"].(int64); ok && n > 7 {
		return &engine.KnobError{Knob: "options.levels", Value: "8", Reason: "it has at most 7"}
	}
	if c.Durability == model.DurabilityOS && e.name == "pebble" && c.Cache == 4096 {
		return errors.New("it does not like this at all")
	}
	return nil
}

func (e fakeEngine) Open(context.Context, engine.Config) (engine.DB, error) {
	panic("a plan opens nothing")
}

type fakeWorkload struct {
	name  string
	needs model.Capability
}

func (w fakeWorkload) Info() workload.Info {
	return workload.Info{
		Name: w.name,
		Params: []workload.Param{
			{Name: "rows", Type: workload.IntParam, Default: int64(1000), Min: 1, Doc: "rows to insert"},
			{Name: "batch", Type: workload.IntParam, Default: int64(10), Min: 1, Max: 10000, Doc: "rows in an insert"},
			{Name: "mode", Type: workload.StringParam, Default: "append", Enum: []string{"append", "random"}, Doc: "where rows go"},
			{Name: "label", Type: workload.StringParam, Default: "", Doc: "any text"},
			{Name: "pause", Type: workload.DurationParam, Default: time.Duration(0), Doc: "time between steps"},
			{Name: "rates", Type: workload.IntsParam, Default: []int64{100}, Doc: "inserts a second"},
			{Name: "check", Type: workload.BoolParam, Default: true, Doc: "verify the rows"},
			{Name: "skew", Type: workload.FloatParam, Default: 0.5, Max: 2, Doc: "of the distribution"},
		},
		Presets: []workload.Preset{
			{Name: "quick", Values: map[string]any{"rows": int64(100)}},
			{Name: "broken", Values: map[string]any{"rows": int64(1)}},
		},
	}
}

func (w fakeWorkload) New(p workload.Params) (workload.Run, error) {
	if p.Int("batch") > p.Int("rows") {
		return nil, &workload.ParamError{Param: "batch", Reason: "more than all rows", Help: "lower it to rows or less"}
	}
	if p.String("label") == "nonsense" {
		return nil, errors.New("this makes no sense")
	}
	if p.String("label") == "loose" && !p.Bool("check") {
		w.needs = ""
	}
	return fakeRun{w.needs, p.String("label") == "short", p.Int("rows")}, nil
}

type fakeRun struct {
	needs model.Capability
	short bool // it has fewer steps
	rows  int64
}

func (r fakeRun) Schema() model.Schema {
	return model.Schema{Tables: []model.Table{{Name: "t", Columns: []model.Column{{Name: "id", Type: model.Int}}, Key: []string{"id"}}}}
}
func (r fakeRun) Needs() []model.Capability {
	return slices.DeleteFunc([]model.Capability{r.needs}, func(c model.Capability) bool { return c == "" })
}
func (r fakeRun) Steps() []workload.Step {
	if r.needs == model.CapTransactions { // of the bank: nothing is bounded by time
		return []workload.Step{{Name: "load", Creates: true, Groups: []workload.Group{{Work: 1}}}, {Name: "settle", Settle: &workload.Settle{}}}
	}
	if r.short {
		return []workload.Step{{Name: "load", Creates: true, Groups: []workload.Group{{Work: 1}}}}
	}
	query := []workload.OpKind{{Name: "range", Unit: "query", Of: "query"}}
	return []workload.Step{
		{Name: "load", Creates: true, Divides: true, Groups: []workload.Group{{Clients: 1, Work: 1}}},
		{Name: "query", Divides: true, Primary: "query", Seconds: 60, Groups: []workload.Group{
			{Name: "insert", Clients: 1, Rate: 10, Ops: []workload.OpKind{{Name: "insert", Unit: "row"}}}, {Name: "query", Clients: 8, Ops: query},
		}},
		{Name: "again", Divides: true, Primary: "query", Before: "query", Base: "sweep", Axes: []workload.Axis{{Name: "clients", Value: 8}}, Seconds: 30,
			Groups: []workload.Group{{Name: "query", Clients: 8, Ops: query}}},
	}
}
func (r fakeRun) Estimate([]workload.Step) workload.Live { return workload.Live{Rows: r.rows} }

func (catalog) ReadWorkload(file string, content []byte) (workload.Workload, error) {
	w, err := declared.Read(file, content)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func (catalog) WorkloadOf(n *strictyaml.Node) (workload.Workload, error) {
	w, err := declared.Of(n)
	if err != nil {
		return nil, err
	}
	return w, nil
}
