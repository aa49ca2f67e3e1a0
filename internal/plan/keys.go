package plan

import (
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/pace"
	"rumbench/internal/result"
	"rumbench/model"
)

// The keys of plans, a table for each map. A new key is an entry here: it is read,
// described by the JSON Schema, and named by hints. docs/plan.md has a row for each.

// planKeys are the keys of a plan. What names engines and workloads gets its shape
// from the catalog, in [Schema].
var planKeys = table[Plan]{
	valued("name", "The campaign's name. By default the file's, without extension.", oneLine, func(p *Plan, v string) { p.Name = v }),
	part[Plan]("workload", "The workload to run.", word.shape),
	part[Plan]("preset", "A named set of the workload's parameters.", word.shape),
	part[Plan]("params", "Parameters of the workload. They override the preset.", schema{"type": mapOrNull}),
	part[Plan]("common", "Knobs for all targets.", knobKeys.shape().with("type", mapOrNull)),
	part[Plan]("targets", "What to compare.", schema{"type": "array", "minItems": 1}),
	valued("trials", "How often each target runs; with stop the maximum. Default 1.", integer(1, maxTrials), func(p *Plan, v int) { p.Trials = v }),
	valued("order", "The order of the trials. interleaved (the default): blocks of one trial of each target, in a random order and then in its reverse. "+
		"duet: two targets at the same time, each on its own CPUs. sequential: all trials of a target, then the next target.",
		oneOf(Interleaved, Duet, Sequential), func(p *Plan, v Order) { p.Order = v }),
	part[Plan]("question", "What the comparison of the targets is to answer. By default what the workload is about.", questionKeys.shape().with("minProperties", 1)),
	part[Plan]("stop", "When the campaign may end before all trials are done.", stopShape()),
	part[Plan]("rate", "How fast operations arrive at clients that have no rate of their own. By default they go as fast as they can. "+
		"A number of operations per second, a list with a step for each, or a map.", either(listOf(perSecond.shape), rateShape())),
	part[Plan]("find", "Search for the highest rate that keeps a promise about response times, such as p99 < 10ms.", either(promise.shape, findKeys.shape("promise"))),
	valued("seed", "Determines all rows and choices, and the order of interleaved trials. Default 1.", seed, func(p *Plan, v uint64) { p.Seed = v }),
	valued("interval", "The resolution of time series, 100ms to 1m. Default 1s.", duration(100*time.Millisecond, time.Minute), func(p *Plan, v time.Duration) { p.Interval = v }),
	valued("cool_down", "Idle time between trials, up to 24h. Default 0.", duration(0, 24*time.Hour), func(p *Plan, v time.Duration) { p.CoolDown = v }),
	valued("keep", "Keep the data directories after a trial. Default false.", boolean, func(p *Plan, v bool) { p.Keep = v }),
	valued("errors_allowed", "A step is invalid if a greater share of its operations failed. Default 0.", share(0), func(p *Plan, v float64) { p.ErrorsAllowed = v }),
	valued("calibrate", "Measure the client's own cost on the null engine before the trials. Default true.", boolean, func(p *Plan, v bool) { p.Calibrate = v }),
	part[Plan]("published", "Figures from elsewhere, shown in the report beside what was measured.", schema{"type": "array", "items": publishedKeys.shape("source", "hardware", "rows")}),
}

// programKey names a server's program, or the rumbench that runs the trials of an
// engine without a server.
var programKey = valued("binary", "The server's program, or, for an engine in this process, the rumbench that runs its trials; relative to the current directory. Default: the installed one, this one.", word, func(t *Target, v string) { t.Config.Server.Binary = v })

// serverKeys are the keys of targets that only servers have.
var serverKeys = table[Target]{
	valued("storage", "The storage engine, where the engine has several.", word, func(t *Target, v string) { t.Config.Storage = v }),
	valued("server", "The kind of server to start. Default: the engine's first.", word, func(t *Target, v string) { t.Config.Server.Kind = v }),
	part[Target]("dsn", "Attach to a running server instead of starting one: a data source name as its driver writes it, or ${NAME}, from the environment.", word.shape),
	part[Target]("dsn_file", "A file that holds only the dsn, relative to the current directory.", word.shape),
	valued("schema", "The schema in which the tables are created. Default rumbench.", schemaName, func(t *Target, v string) { t.Config.Server.Schema = v }),
}

var knobKeys = table[engine.Config]{
	valued("cache", "The engine's own cache, such as 256MiB.", size, func(c *engine.Config, v int64) { c.Cache = v }),
	valued("durability", "What a commit survives. Default process.", explained(oneOf(model.Durabilities()...), promises()), func(c *engine.Config, v model.Durability) { c.Durability = v }),
	valued("compression", "How data on disk are compressed.", oneOf(model.Compressions()...), func(c *engine.Config, v model.Compression) { c.Compression = v }),
	valued("page", "A page or block, such as 16KiB.", size, func(c *engine.Config, v int64) { c.Page = v }),
	valued("direct_io", "Bypass the page cache of the operating system.", boolean, func(c *engine.Config, v bool) { c.DirectIO = &v }),
	valued("isolation", "The isolation level of every client's transactions; read back on each connection.", oneOf(model.Isolations()...), func(c *engine.Config, v model.Isolation) { c.Isolation = v }),
	valued("protocol", "How statements are sent to a server. prepared (the default): parsed once per client. text: with their values in them, parsed each time.",
		oneOf(engine.Protocols()...), func(c *engine.Config, v engine.Protocol) { c.Protocol = v }),
}

var targetKeys = slices.Concat(table[Target]{
	valued("name", "The target's name in results. Default: the engine's name.", fileName, func(t *Target, v string) { t.Name = v }),
	valued("engine", "The engine.", word, func(t *Target, v string) { t.Engine = v }),
}, serverKeys, table[Target]{programKey}, within(knobKeys, func(t *Target) *engine.Config { return &t.Config }), table[Target]{
	part[Target]("params", "Parameters of the workload for this target. They override those of the plan.", schema{"type": mapOrNull}),
	part[Target]("options", "Options of this engine only, passed on unchanged.", schema{"type": mapOrNull}),
	valued("data", "An existing data directory to work on in place, relative to the current directory. Default: a new one for each trial.", directory, func(t *Target, v string) { t.Data = v }),
})

var stopKeys = table[Stop]{
	valued("precision", "End when the comparison of every target with the first is this precise, such as 2%.", share(0.001), func(s *Stop, v float64) { s.Precision = v }),
	valued("min_trials", "Trials of each target before the precision is checked. Default 6, or all.", integer(2, maxTrials), func(s *Stop, v int) { s.MinTrials = v }),
	valued("budget", "Begin no block that is not expected to end within it.", duration(time.Second, maxBudget), func(s *Stop, v time.Duration) { s.Budget = v }),
}

var questionKeys = table[result.Question]{
	part[result.Question]("steps", "The steps that are judged, by name. By default those that the workload is about.", listOf(word.shape)),
	part[result.Question]("metrics", "The metrics that are judged in them. By default those that the workload judges each step by.", listOf(judgedShape())),
	valued("worse_by", "The smallest difference for the worse that matters, such as 5%. Default: any.", difference, func(q *result.Question, v float64) { q.WorseBy = v }),
	valued("better_by", "The smallest difference for the better that matters, such as 5%. Default: any.", difference, func(q *result.Question, v float64) { q.BetterBy = v }),
	valued("equivalent_within", "How far apart numbers may be and still be called the same. Default: the smaller of the two others, else 1%.",
		difference, func(q *result.Question, v float64) { q.Within = v }),
}

var arrivalKeys = table[pace.Arrivals]{
	valued("arrivals", "poisson (the default): at random, as from many independent users. even: evenly spaced. burst: all of a second at its beginning.",
		oneOf(pace.Poisson, pace.Even, pace.Burst), func(a *pace.Arrivals, v pace.Kind) { a.Kind = v }),
	valued("queue", "How many operations may wait for a free client. Beyond that the oldest are shed and counted. Default: any number.",
		integer[int64](1, math.MaxInt32), func(a *pace.Arrivals, v int64) { a.Queue = v }),
	valued("lead_in", "How long operations arrive before those that are measured.", duration(0, time.Hour), func(a *pace.Arrivals, v time.Duration) { a.LeadIn = v.Seconds() }),
}

var rateKeys = append(table[Rate]{
	part[Rate]("at", "Operations per second; each element of a list is a step of its own.", listOf(perSecond.shape)),
	part[Rate]("ramp", "The rate at the beginning of the step and at its end.", schema{"type": "array", "items": perSecond.shape, "minItems": 2, "maxItems": 2}),
	part[Rate]("steps", "Rates for equal parts of the step's time.", listOf(perSecond.shape)),
}, within(arrivalKeys, func(r *Rate) *pace.Arrivals { return &r.Like })...)

var findKeys = append(table[Find]{
	valued("promise", "What must hold of response time: p50, p95, p99, p99.9 or max, and a limit, as in p99 < 10ms.", promise, (*Find).keep),
	valued("from", "The lowest rate to try. Default: a hundredth of the closed loop's.", perSecond, func(d *Find, v float64) { d.From = v }),
	valued("to", "The highest rate to try. Default: twice the closed loop's.", perSecond, func(d *Find, v float64) { d.To = v }),
	valued("precision", "How wide the interval of the answer is to be. Default 5%.", share(leastPrecision), func(d *Find, v float64) { d.Precision = v }),
	valued("seconds", "How long each probe is, at least 1s. Default: the step's own time.", duration(time.Second, maxBudget), func(d *Find, v time.Duration) { d.Seconds = v.Seconds() }),
}, within(arrivalKeys, func(d *Find) *pace.Arrivals { return &d.Like })...)

var publishedKeys = table[Published]{
	valued("source", "Author, title, date, and where it can be read.", prose, func(p *Published, v string) { p.Source = v }),
	valued("hardware", "What it was measured on, with versions and sizes.", prose, func(p *Published, v string) { p.Hardware = v }),
	valued("note", "What else a reader must know, such as corrections of units.", prose, func(p *Published, v string) { p.Note = v }),
	part[Published]("rows", "The configurations.", schema{"type": "array", "minItems": 1, "items": publishedRowKeys.shape("name", "figures")}),
}

var publishedRowKeys = table[PublishedRow]{
	valued("name", "The configuration's name, as published.", oneLine, func(r *PublishedRow, v string) { r.Name = v }),
	valued("like", "The corresponding target of this plan.", word, func(r *PublishedRow, v string) { r.Like = v }),
	valued("step", "The corresponding step of this run.", word, func(r *PublishedRow, v string) { r.Step = v }),
	valued("per", "The unit of the costs, in the words of the results, such as insert row.", oneLine, func(r *PublishedRow, v string) { r.Per = v }),
	part[PublishedRow]("figures", "The numbers by metric, in the metric's unit.", figuresShape()),
}
