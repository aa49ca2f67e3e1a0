package plan

import (
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/form"
	"rumbench/internal/pace"
	"rumbench/internal/result"
	"rumbench/model"
)

// The keys of plans, a table for each map. A new key is an entry here: it is read,
// described by the JSON Schema, and named by hints. docs/plan.md has a row for each.

// planKeys are the keys of a plan. What names engines and workloads gets its shape
// from the catalog, in [Schema].
var planKeys = form.Table[Plan]{
	form.Valued("name", "The campaign's name. By default the file's, without extension.", form.OneLine, func(p *Plan, v string) { p.Name = v }),
	form.Part[Plan]("workload", "The workload to run.", form.Text.Shape),
	form.Part[Plan]("preset", "A named set of the workload's parameters.", form.Text.Shape),
	form.Part[Plan]("params", "Parameters of the workload. They override the preset.", form.Shape{"type": form.MapOrNull}),
	form.Part[Plan]("common", "Knobs for all targets.", knobKeys.Shape().With("type", form.MapOrNull)),
	form.Part[Plan]("targets", "What to compare.", form.Shape{"type": "array", "minItems": 1}),
	form.Valued("trials", "How often each target runs; with stop the maximum. Default 1.", form.Integer(1, maxTrials), func(p *Plan, v int) { p.Trials = v }),
	form.Valued("order", "The order of the trials. interleaved (the default): blocks of one trial of each target, in a random order and then in its reverse. "+
		"duet: two targets at the same time, each on its own CPUs. sequential: all trials of a target, then the next target.",
		form.OneOf(Interleaved, Duet, Sequential), func(p *Plan, v Order) { p.Order = v }),
	form.Part[Plan]("question", "What the comparison of the targets is to answer. By default what the workload is about.", questionKeys.Shape().With("minProperties", 1)),
	form.Part[Plan]("stop", "When the campaign may end before all trials are done.", stopShape()),
	form.Part[Plan]("rate", "How fast operations arrive at clients that have no rate of their own. By default they go as fast as they can. "+
		"A number of operations per second, a list with a step for each, or a map.", form.Either(form.ListOf(perSecond.Shape), rateShape())),
	form.Part[Plan]("find", "Search for the highest rate that keeps a promise about response times, such as p99 < 10ms.", form.Either(promise.Shape, findKeys.Shape("promise"))),
	form.Valued("seed", "Determines all rows and choices, and the order of interleaved trials. Default 1.", form.Unsigned, func(p *Plan, v uint64) { p.Seed = v }),
	form.Valued("interval", "The resolution of time series, 100ms to 1m. Default 1s.", form.Duration(100*time.Millisecond, time.Minute), func(p *Plan, v time.Duration) { p.Interval = v }),
	form.Valued("cool_down", "Idle time between trials, up to 24h. Default 0.", form.Duration(0, 24*time.Hour), func(p *Plan, v time.Duration) { p.CoolDown = v }),
	form.Valued("keep", "Keep the data directories after a trial. Default false.", form.Boolean, func(p *Plan, v bool) { p.Keep = v }),
	form.Valued("errors_allowed", "A step is invalid if a greater share of its operations failed. Default 0.", form.Share(0), func(p *Plan, v float64) { p.ErrorsAllowed = v }),
	form.Valued("calibrate", "Measure the client's own cost on the null engine before the trials. Default true.", form.Boolean, func(p *Plan, v bool) { p.Calibrate = v }),
	form.Part[Plan]("profile", "Sample which functions use the processors. extra: in one more trial of each target, whose numbers are not compared. inside: in every trial. "+
		"off (the default): not at all.", form.Either(profileMode.Shape, profileKeys.Shape())),
	form.Part[Plan]("published", "Figures from elsewhere, shown in the report beside what was measured.", form.Shape{"type": "array", "items": publishedKeys.Shape("source", "hardware", "rows")}),
}

// programKey names a server's program, or the rumbench that runs the trials of an
// engine without a server.
var programKey = form.Valued("binary", "The server's program, or, for an engine in this process, the rumbench that runs its trials; relative to the current directory. Default: the installed one, this one.", form.Text, func(t *Target, v string) { t.Config.Server.Binary = v })

// serverKeys are the keys of targets that only servers have.
var serverKeys = form.Table[Target]{
	form.Valued("storage", "The storage engine, where the engine has several.", form.Text, func(t *Target, v string) { t.Config.Storage = v }),
	form.Valued("server", "The kind of server to start. Default: the engine's first.", form.Text, func(t *Target, v string) { t.Config.Server.Kind = v }),
	form.Part[Target]("dsn", "Attach to a running server instead of starting one: a data source name as its driver writes it, or ${NAME}, from the environment.", form.Text.Shape),
	form.Part[Target]("dsn_file", "A file that holds only the dsn, relative to the current directory.", form.Text.Shape),
	form.Valued("schema", "The schema in which the tables are created. Default rumbench.", schemaName, func(t *Target, v string) { t.Config.Server.Schema = v }),
}

var knobKeys = form.Table[engine.Config]{
	form.Valued("cache", "The engine's own cache, such as 256MiB.", form.Size, func(c *engine.Config, v int64) { c.Cache = v }),
	form.Valued("durability", "What a commit survives. Default process.", form.Explained(form.OneOf(model.Durabilities()...), promises()), func(c *engine.Config, v model.Durability) { c.Durability = v }),
	form.Valued("compression", "How data on disk are compressed.", form.OneOf(model.Compressions()...), func(c *engine.Config, v model.Compression) { c.Compression = v }),
	form.Valued("page", "A page or block, such as 16KiB.", form.Size, func(c *engine.Config, v int64) { c.Page = v }),
	form.Valued("direct_io", "Bypass the page cache of the operating system.", form.Boolean, func(c *engine.Config, v bool) { c.DirectIO = &v }),
	form.Valued("isolation", "The isolation level of every client's transactions; read back on each connection.", form.OneOf(model.Isolations()...), func(c *engine.Config, v model.Isolation) { c.Isolation = v }),
	form.Valued("protocol", "How statements are sent to a server. prepared (the default): parsed once per client. text: with their values in them, parsed each time.",
		form.OneOf(engine.Protocols()...), func(c *engine.Config, v engine.Protocol) { c.Protocol = v }),
}

var targetKeys = slices.Concat(form.Table[Target]{
	form.Valued("name", "The target's name in results. Default: the engine's name.", fileName, func(t *Target, v string) { t.Name = v }),
	form.Valued("engine", "The engine.", form.Text, func(t *Target, v string) { t.Engine = v }),
}, serverKeys, form.Table[Target]{programKey}, form.Within(knobKeys, func(t *Target) *engine.Config { return &t.Config }), form.Table[Target]{
	form.Part[Target]("params", "Parameters of the workload for this target. They override those of the plan.", form.Shape{"type": form.MapOrNull}),
	form.Part[Target]("options", "Options of this engine only, passed on unchanged.", form.Shape{"type": form.MapOrNull}),
	form.Valued("data", "An existing data directory to work on in place, relative to the current directory. Default: a new one for each trial.", directory, func(t *Target, v string) { t.Data = v }),
})

var stopKeys = form.Table[Stop]{
	form.Valued("precision", "End when the comparison of every target with the first is this precise, such as 2%.", form.Share(0.001), func(s *Stop, v float64) { s.Precision = v }),
	form.Valued("min_trials", "Trials of each target before the precision is checked. Default 6, or all.", form.Integer(2, maxTrials), func(s *Stop, v int) { s.MinTrials = v }),
	form.Valued("budget", "Begin no block that is not expected to end within it.", form.Duration(time.Second, maxBudget), func(s *Stop, v time.Duration) { s.Budget = v }),
}

var questionKeys = form.Table[result.Question]{
	form.Part[result.Question]("steps", "The steps that are judged, by name. By default those that the workload is about.", form.ListOf(form.Text.Shape)),
	form.Part[result.Question]("metrics", "The metrics that are judged in them. By default those that the workload judges each step by.", form.ListOf(judgedShape())),
	form.Valued("worse_by", "The smallest difference for the worse that matters, such as 5%. Default: any.", difference, func(q *result.Question, v float64) { q.WorseBy = v }),
	form.Valued("better_by", "The smallest difference for the better that matters, such as 5%. Default: any.", difference, func(q *result.Question, v float64) { q.BetterBy = v }),
	form.Valued("equivalent_within", "How far apart numbers may be and still be called the same. Default: the smaller of the two others, else 1%.",
		difference, func(q *result.Question, v float64) { q.Within = v }),
}

var arrivalKeys = form.Table[pace.Arrivals]{
	form.Valued("arrivals", "poisson (the default): at random, as from many independent users. even: evenly spaced. burst: all of a second at its beginning.",
		form.OneOf(pace.Poisson, pace.Even, pace.Burst), func(a *pace.Arrivals, v pace.Kind) { a.Kind = v }),
	form.Valued("queue", "How many operations may wait for a free client. Beyond that the oldest are shed and counted. Default: any number.",
		form.Integer[int64](1, math.MaxInt32), func(a *pace.Arrivals, v int64) { a.Queue = v }),
	form.Valued("lead_in", "How long operations arrive before those that are measured.", form.Duration(0, time.Hour), func(a *pace.Arrivals, v time.Duration) { a.LeadIn = v.Seconds() }),
}

var rateKeys = append(form.Table[Rate]{
	form.Part[Rate]("at", "Operations per second; each element of a list is a step of its own.", form.ListOf(perSecond.Shape)),
	form.Part[Rate]("ramp", "The rate at the beginning of the step and at its end.", form.Shape{"type": "array", "items": perSecond.Shape, "minItems": 2, "maxItems": 2}),
	form.Part[Rate]("steps", "Rates for equal parts of the step's time.", form.ListOf(perSecond.Shape)),
}, form.Within(arrivalKeys, func(r *Rate) *pace.Arrivals { return &r.Like })...)

var findKeys = append(form.Table[Find]{
	form.Valued("promise", "What must hold of response time: p50, p95, p99, p99.9 or max, and a limit, as in p99 < 10ms.", promise, (*Find).keep),
	form.Valued("from", "The lowest rate to try. Default: a hundredth of the closed loop's.", perSecond, func(d *Find, v float64) { d.From = v }),
	form.Valued("to", "The highest rate to try. Default: twice the closed loop's.", perSecond, func(d *Find, v float64) { d.To = v }),
	form.Valued("precision", "How wide the interval of the answer is to be. Default 5%.", form.Share(leastPrecision), func(d *Find, v float64) { d.Precision = v }),
	form.Valued("seconds", "How long each probe is, at least 1s. Default: the step's own time.", form.Duration(time.Second, maxBudget), func(d *Find, v time.Duration) { d.Seconds = v.Seconds() }),
}, form.Within(arrivalKeys, func(d *Find) *pace.Arrivals { return &d.Like })...)

var publishedKeys = form.Table[Published]{
	form.Valued("source", "Author, title, date, and where it can be read.", form.Prose, func(p *Published, v string) { p.Source = v }),
	form.Valued("hardware", "What it was measured on, with versions and sizes.", form.Prose, func(p *Published, v string) { p.Hardware = v }),
	form.Valued("note", "What else a reader must know, such as corrections of units.", form.Prose, func(p *Published, v string) { p.Note = v }),
	form.Part[Published]("rows", "The configurations.", form.Shape{"type": "array", "minItems": 1, "items": publishedRowKeys.Shape("name", "figures")}),
}

var publishedRowKeys = form.Table[PublishedRow]{
	form.Valued("name", "The configuration's name, as published.", form.OneLine, func(r *PublishedRow, v string) { r.Name = v }),
	form.Valued("like", "The corresponding target of this plan.", form.Text, func(r *PublishedRow, v string) { r.Like = v }),
	form.Valued("step", "The corresponding step of this run.", form.Text, func(r *PublishedRow, v string) { r.Step = v }),
	form.Valued("per", "The unit of the costs, in the words of the results, such as insert row.", form.OneLine, func(r *PublishedRow, v string) { r.Per = v }),
	form.Part[PublishedRow]("figures", "The numbers by metric, in the metric's unit.", figuresShape()),
}
