package plan

import (
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/result"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// The keys of plans, a table for each map. A new key is an entry here: it is read,
// described by the JSON Schema, and named by hints. docs/plan.md has a row for each.

// planKeys are the keys of a plan. Keys that name engines and workloads get
// their shapes from the catalog, in [Schema].
var planKeys = strictyaml.Table[Plan]{
	strictyaml.Valued("name", "The campaign's name. By default the file's, without extension.", strictyaml.OneLine, func(p *Plan, v string) { p.Name = v }),
	strictyaml.Part[Plan]("workload", "The workload to run.", strictyaml.Text.Shape),
	strictyaml.Part[Plan]("preset", "A named set of the workload's parameters.", strictyaml.Text.Shape),
	strictyaml.Part[Plan]("params", "Parameters of the workload. They override the preset.", strictyaml.Shape{"type": strictyaml.MapOrNull}),
	strictyaml.Part[Plan]("common", "Knobs for all targets.", commonKeys.Shape().With("type", strictyaml.MapOrNull)),
	strictyaml.Part[Plan]("targets", "What to compare.", strictyaml.Shape{"type": "array", "minItems": 1}),
	strictyaml.Part[Plan]("levels", "Values of memory, cpus or cache: each target runs with each of them.", levelKeys.Shape().With("minProperties", 1).With("maxProperties", 1)),
	strictyaml.Valued("trials", "How often each target runs; with stop the maximum. Default 1.", strictyaml.Integer(1, maxTrials), func(p *Plan, v int) { p.Trials = v }),
	strictyaml.Valued("order", "The order of the trials. interleaved (the default): blocks of one trial of each target, in a random order and then in its reverse. "+
		"duet: two targets at the same time, each on its own CPUs. sequential: all trials of a target, then the next target.",
		strictyaml.Worded(strictyaml.OneOf(Interleaved, Duet, Sequential), orderWords), func(p *Plan, v Order) { p.Order = v }),
	strictyaml.Part[Plan]("question", "What the comparison of the targets is to answer. By default what the workload is about.", questionKeys.Shape().With("minProperties", 1)),
	strictyaml.Part[Plan]("stop", "When the campaign may end before all trials are done.", stopShape()),
	strictyaml.Part[Plan]("rate", "How fast operations arrive at clients that have no rate of their own. By default they go as fast as they can. "+
		"A number of operations per second, a list with a step for each, or a map.", strictyaml.Either(strictyaml.ListOf(perSecond.Shape), rateShape())),
	strictyaml.Part[Plan]("find", "Search for the highest rate that keeps a promise about response times, such as p99 < 10ms.", strictyaml.Either(promise.Shape, findKeys.Shape("promise"))),
	strictyaml.Valued("seed", "Determines all rows and choices, and the order of interleaved trials: each block of trials draws its own seed from it. "+
		"fixed, or as \"fixed 7\": all trials have the same. Default 1.", seedScalar, func(p *Plan, v Seed) { p.Seed = v }),
	strictyaml.Valued("until", "steady, or as \"steady 8x\": steps that end by time and go as fast as they can last until their rate is steady, "+
		"at most 4 times, or as often as said, as long as planned.", untilScalar, func(p *Plan, v float64) { p.Until = v }),
	strictyaml.Part[Plan]("start", "Load the data once, and begin each trial from a copy.", startKeys.Shape("copy")),
	strictyaml.Valued("interval", "The resolution of time series, 100ms to 1m. Default 1s.", strictyaml.Duration(100*time.Millisecond, time.Minute), func(p *Plan, v time.Duration) { p.Interval = v }),
	strictyaml.Part[Plan]("between", "What happens between trials.", betweenKeys.Shape().With("minProperties", 1)),
	strictyaml.Part[Plan]("machines", "The machines that run the trials. Default: this one.", strictyaml.Shape{"type": "array", "minItems": 1, "items": hostShape()}),
	strictyaml.Part[Plan]("machines_file", "A file that holds only the list of machines, relative to the plan.", strictyaml.Text.Shape),
	strictyaml.Part[Plan]("spread", "Run blocks of trials on several machines at a time.", spreadKeys.Shape("over")),
	strictyaml.Part[Plan]("server_on", "The machine that the server runs on, or the whole trial without clients_on. A list: those of a cluster, one for each dsn.", namesShape),
	strictyaml.Part[Plan]("clients_on", "The machines of the clients, by name or pattern.", namesShape),
	strictyaml.Part[Plan]("fleet", "What happens when a machine is lost.", fleetKeys.Shape()),
	strictyaml.Valued("cool_down", "The same as rest in between.", strictyaml.Duration(0, maxRest), func(p *Plan, v time.Duration) { p.Between.Rest = v }),
	strictyaml.Part[Plan]("before", "Commands to run before the campaign, each trial or each step; rumbench run --hooks allows them.", hookKeys.Shape()),
	strictyaml.Part[Plan]("after", "Commands to run after the campaign, each trial or each step; rumbench run --hooks allows them.", hookKeys.Shape()),
	strictyaml.Part[Plan]("restart", "Steps before which the engine is stopped and started again, by name.", strictyaml.Either(strictyaml.ListOf(strictyaml.Text.Shape), restartKeys.Shape("before"))),
	strictyaml.Valued("keep", "Keep the data directories after a trial. Default false.", strictyaml.Boolean, func(p *Plan, v bool) { p.Keep = v }),
	strictyaml.Valued("errors_allowed", "A step is invalid if a greater share of its operations failed. Default 0.", strictyaml.Share(0), func(p *Plan, v float64) { p.ErrorsAllowed = v }),
	strictyaml.Valued("calibrate", "Measure the client's own cost on the null engine before the trials. Default true.", strictyaml.Boolean, func(p *Plan, v bool) { p.Calibrate = v }),
	strictyaml.Part[Plan]("profile", "Sample which functions use the processors. extra: in one more trial of each target, whose numbers are not compared. inside: in every trial. "+
		"off (the default): not at all.", strictyaml.Either(profileMode.Shape, profileKeys.Shape())),
	strictyaml.Part[Plan]("published", "Figures from elsewhere, shown in the report next to the measured ones.", strictyaml.Shape{"type": "array", "items": publishedKeys.Shape("source", "hardware", "rows")}),
}

// programKey names a server's program, or the rumbench that runs the trials of an
// engine without a server.
var programKey = strictyaml.Part[Target]("binary", "The server's program, or, for an engine in this process, the rumbench that runs its trials; relative to the plan. Of several rumbenches each runs a block of trials in turn. Default: the installed one, this one.", strictyaml.ListOf(strictyaml.Text.Shape))

// serverKeys are the keys of targets that only servers have.
var serverKeys = strictyaml.Table[Target]{
	strictyaml.Valued("storage", "The storage engine, where the engine has several.", strictyaml.Text, func(t *Target, v string) { t.Config.Storage = v }),
	strictyaml.Valued("server", "The kind of server to start. Default: the engine's first.", strictyaml.Text, func(t *Target, v string) { t.Config.Server.Kind = v }),
	strictyaml.Valued("image", "A container image that holds the server's program, such as mysql:8.4; it runs with podman or docker.", strictyaml.Text, func(t *Target, v string) { t.Config.Server.Image = v }),
	strictyaml.Valued("pull", "Whether an image is fetched before the campaign. missing (the default): if it is not on this machine. never: not at all.", strictyaml.OneOf(PullMissing, PullNever), func(t *Target, v Pull) { t.Pull = v }),
	strictyaml.Part[Target]("dsn", "Attach to a running server instead of starting one: a data source name as its driver writes it, or ${NAME}, from the environment. A list: the servers of a cluster, over which the sessions are dealt.", strictyaml.ListOf(strictyaml.Text.Shape)),
	strictyaml.Part[Target]("dsn_file", "A file that holds only the dsn, relative to the plan; of a cluster one in each line.", strictyaml.Text.Shape),
	strictyaml.Valued("schema", "The schema in which the tables are created. Default rumbench.", schemaName, func(t *Target, v string) { t.Config.Server.Schema = v }),
}

var knobKeys = strictyaml.Table[engine.Config]{
	strictyaml.Valued("cache", "The engine's own cache, such as 256MiB.", memory, func(c *engine.Config, v int64) { c.Cache = v }),
	strictyaml.Valued("durability", "What a commit survives. Default process.", strictyaml.Explained(strictyaml.Worded(strictyaml.OneOf(model.Durabilities()...), durabilityWords), promises()), func(c *engine.Config, v model.Durability) { c.Durability = v }),
	strictyaml.Valued("compression", "How data on disk are compressed.", strictyaml.Worded(strictyaml.OneOf(model.Compressions()...), compressionWords), func(c *engine.Config, v model.Compression) { c.Compression = v }),
	strictyaml.Valued("page", "A page or block, such as 16KiB.", strictyaml.Size, func(c *engine.Config, v int64) { c.Page = v }),
	strictyaml.Valued("direct_io", "Bypass the page cache of the operating system.", strictyaml.Boolean, func(c *engine.Config, v bool) { c.DirectIO = &v }),
	strictyaml.Valued("isolation", "The isolation level of every client's transactions; read back on each connection.", strictyaml.Worded(strictyaml.OneOf(model.Isolations()...), isolationWords), func(c *engine.Config, v model.Isolation) { c.Isolation = v }),
	strictyaml.Valued("protocol", "How statements are sent to a server. prepared (the default): parsed once per client. text: with their values in them, parsed each time.",
		strictyaml.Worded(strictyaml.OneOf(engine.Protocols()...), protocolWords), func(c *engine.Config, v engine.Protocol) { c.Protocol = v }),
}

// commonKeys are those of all targets, or of one.
var commonKeys = slices.Concat(strictyaml.Within(knobKeys, func(t *Target) *engine.Config { return &t.Config }),
	strictyaml.Within(machineKeys, func(t *Target) *Machine { return &t.Machine }))

var targetKeys = slices.Concat(strictyaml.Table[Target]{
	strictyaml.Valued("name", "The target's name in results. Default: the engine's name.", fileName, func(t *Target, v string) { t.Name = v }),
	strictyaml.Valued("engine", "The engine.", strictyaml.Text, func(t *Target, v string) { t.Engine = v }),
}, serverKeys, strictyaml.Table[Target]{programKey}, commonKeys, strictyaml.Table[Target]{
	strictyaml.Part[Target]("params", "Parameters of the workload for this target. They override those of the plan.", strictyaml.Shape{"type": strictyaml.MapOrNull}),
	strictyaml.Part[Target]("options", "Options of this engine only, passed on unchanged.", strictyaml.Shape{"type": strictyaml.MapOrNull}),
	strictyaml.Part[Target]("data", "An existing data directory to work on in place, relative to the plan. Default: a new one for each trial.", strictyaml.Text.Shape),
})

var stopKeys = strictyaml.Table[Stop]{
	strictyaml.Valued("precision", "End when the comparison of every target with the first is this precise, such as 2%.", strictyaml.Share(0.001), func(s *Stop, v float64) { s.Precision = v }),
	strictyaml.Valued("min_trials", "Trials of each target before the precision is checked. Default 6, or all.", strictyaml.Integer(2, maxTrials), func(s *Stop, v int) { s.MinTrials = v }),
	strictyaml.Valued("budget", "Begin no block that is not expected to end within it.", strictyaml.Duration(time.Second, maxBudget), func(s *Stop, v time.Duration) { s.Budget = v }),
}

var questionKeys = strictyaml.Table[result.Question]{
	strictyaml.Part[result.Question]("steps", "The steps that are judged, by name. By default those that the workload is about.", strictyaml.ListOf(strictyaml.Text.Shape)),
	strictyaml.Part[result.Question]("metrics", "The metrics that are judged in them. By default those that the workload judges each step by.", strictyaml.ListOf(judgedShape())),
	strictyaml.Valued("worse_by", "The smallest difference for the worse that matters, such as 5%. Default: any.", difference, func(q *result.Question, v float64) { q.WorseBy = v }),
	strictyaml.Valued("better_by", "The smallest difference for the better that matters, such as 5%. Default: any.", difference, func(q *result.Question, v float64) { q.BetterBy = v }),
	strictyaml.Valued("equivalent_within", "How far apart numbers may be and still be called the same. Default: the smaller of the two others, else 1%.",
		difference, func(q *result.Question, v float64) { q.Within = v }),
}

var arrivalKeys = strictyaml.Table[pace.Arrivals]{
	strictyaml.Valued("arrivals", "poisson (the default): at random, as from many independent users. even: evenly spaced. burst: all of a second at its beginning.",
		strictyaml.Worded(strictyaml.OneOf(pace.Poisson, pace.Even, pace.Burst), arrivalWords), func(a *pace.Arrivals, v pace.Kind) { a.Kind = v }),
	strictyaml.Valued("queue", "How many operations may wait for a free client. Beyond that the oldest are shed and counted. Default: any number.",
		strictyaml.Integer[int64](1, math.MaxInt32), func(a *pace.Arrivals, v int64) { a.Queue = v }),
	strictyaml.Valued("lead_in", "How long operations arrive before those that are measured.", strictyaml.Duration(0, time.Hour), func(a *pace.Arrivals, v time.Duration) { a.LeadIn = v.Seconds() }),
}

var rateKeys = append(strictyaml.Table[Rate]{
	strictyaml.Part[Rate]("at", "Operations per second; each element of a list is a separate step.", strictyaml.ListOf(perSecond.Shape)),
	strictyaml.Part[Rate]("ramp", "The rate at the beginning of the step and at its end.", strictyaml.Shape{"type": "array", "items": perSecond.Shape, "minItems": 2, "maxItems": 2}),
	strictyaml.Part[Rate]("steps", "Rates for equal parts of the step's time.", strictyaml.ListOf(perSecond.Shape)),
}, strictyaml.Within(arrivalKeys, func(r *Rate) *pace.Arrivals { return &r.Like })...)

var findKeys = append(strictyaml.Table[Find]{
	strictyaml.Valued("promise", "What must hold of response time: p50, p95, p99, p99.9 or max, and a limit, as in p99 < 10ms.", promise, (*Find).keep),
	strictyaml.Valued("from", "The lowest rate to try. Default: a hundredth of the closed loop's.", perSecond, func(d *Find, v float64) { d.From = v }),
	strictyaml.Valued("to", "The highest rate to try. Default: twice the closed loop's.", perSecond, func(d *Find, v float64) { d.To = v }),
	strictyaml.Valued("precision", "How wide the interval of the answer is to be. Default 5%.", strictyaml.Share(leastPrecision), func(d *Find, v float64) { d.Precision = v }),
	strictyaml.Valued("credit", "By what share of the bytes written the debt of compactions may grow, so that a probe counts as kept. 100%: by any. Default 5%.", strictyaml.Share(0.001), func(d *Find, v float64) { d.Credit = v }),
	strictyaml.Valued("hold", "How long the answer is held, at 95 % of its rate. 0: it is not. Default: four probes.", strictyaml.Duration(0, maxBudget), func(d *Find, v time.Duration) { d.Hold = v.Seconds() }),
	strictyaml.Valued("seconds", "How long each probe is, at least 1s. Default: the step's own time.", strictyaml.Duration(time.Second, maxBudget), func(d *Find, v time.Duration) { d.Seconds = v.Seconds() }),
}, strictyaml.Within(arrivalKeys, func(d *Find) *pace.Arrivals { return &d.Like })...)

var publishedKeys = strictyaml.Table[Published]{
	strictyaml.Valued("source", "Author, title, date, and where it can be read.", strictyaml.Prose, func(p *Published, v string) { p.Source = v }),
	strictyaml.Valued("hardware", "What it was measured on, with versions and sizes.", strictyaml.Prose, func(p *Published, v string) { p.Hardware = v }),
	strictyaml.Valued("note", "What else a reader must know, such as corrections of units.", strictyaml.Prose, func(p *Published, v string) { p.Note = v }),
	strictyaml.Part[Published]("rows", "The configurations.", strictyaml.Shape{"type": "array", "minItems": 1, "items": publishedRowKeys.Shape("name", "figures")}),
}

var publishedRowKeys = strictyaml.Table[PublishedRow]{
	strictyaml.Valued("name", "The configuration's name, as published.", strictyaml.OneLine, func(r *PublishedRow, v string) { r.Name = v }),
	strictyaml.Valued("like", "The corresponding target of this plan.", strictyaml.Text, func(r *PublishedRow, v string) { r.Like = v }),
	strictyaml.Valued("step", "The corresponding step of this run.", strictyaml.Text, func(r *PublishedRow, v string) { r.Step = v }),
	strictyaml.Valued("per", "The unit of the costs, in the words of the results, such as insert row.", strictyaml.OneLine, func(r *PublishedRow, v string) { r.Per = v }),
	strictyaml.Part[PublishedRow]("figures", "The numbers by metric, in the metric's unit.", figuresShape()),
}

// HasKey reports whether a plan may have the key.
func HasKey(name string) bool { return slices.Contains(planKeys.Names(), name) }

var levelKnobs = map[string]strictyaml.ScalarOf[int64]{"memory": memory, "cache": memory,
	"cpus": strictyaml.Integer[int64](1, maxCPUs)}

// levelKeys are the knobs at whose levels all targets can run.
var levelKeys = strictyaml.Table[struct{}]{levelsOf("memory"), levelsOf("cpus"), levelsOf("cache")}

func levelsOf(knob string) strictyaml.Key[struct{}] {
	return strictyaml.Part[struct{}](knob, "Values of "+knob+": each target runs with each of them.",
		strictyaml.Shape{"type": "array", "items": levelKnobs[knob].Shape, "minItems": 2})
}

var hookKeys = strictyaml.Table[Hooks]{
	strictyaml.Valued("campaign", "At this end of the campaign.", strictyaml.Text, func(h *Hooks, v string) { h.Campaign = v }),
	strictyaml.Valued("trial", "At this end of each trial.", strictyaml.Text, func(h *Hooks, v string) { h.Trial = v }),
	strictyaml.Valued("step", "At this end of each step, outside of what is measured.", strictyaml.Text, func(h *Hooks, v string) { h.Step = v }),
}

const maxRest = 24 * time.Hour

var betweenKeys = strictyaml.Table[Between]{
	strictyaml.Valued("trim", "Before each trial, trim the free blocks of the data's file system, as fstrim does; "+"needs root. Default false.", strictyaml.Boolean, func(p *Between, v bool) { p.Trim = v }),
	strictyaml.Valued("rest", "Idle time, up to 24h. Default 0.", strictyaml.Duration(0, maxRest), func(p *Between, v time.Duration) { p.Rest = v }),
}

var hostKeys = strictyaml.Table[Host]{
	strictyaml.Valued("name", "The machine's name in results, or a pattern for several: m[1-3].", strictyaml.OneLine, func(h *Host, v string) { h.Name = v }),
	strictyaml.Valued("ssh", "Where ssh finds it: a host of its configuration, or USER@HOST; with a pattern one for each.", strictyaml.OneLine, func(h *Host, v string) { h.SSH = v }),
	strictyaml.Valued("join", "Others start its agent, with rumbench agent --join FILE, which rumbench run says. "+"Instead of ssh.", strictyaml.Boolean, func(h *Host, v bool) { h.Join = v }),
	strictyaml.Valued("dir", "The directory there that holds the data of trials, an absolute path. "+"Default: rumbench-fleet in the user's home.", strictyaml.OneLine, func(h *Host, v string) { h.Dir = v }),
	strictyaml.Valued("listen", "Its address on the network of the clients, or its name there: a private server "+"listens there, with a password, if clients are on other machines.", strictyaml.OneLine, func(h *Host, v string) { h.Listen = v }),
}

// hostShape is that of a machine: it is reached by ssh, or joins.
func hostShape() strictyaml.Shape {
	s := hostKeys.Shape("name")
	s["oneOf"] = []strictyaml.Shape{{"required": []string{"ssh"}}, {"required": []string{"join"}}}
	return s
}

var namesShape = strictyaml.ListOf(strictyaml.Text.Shape)

var cellKeys = strictyaml.Table[Cell]{
	strictyaml.Part[Cell]("server_on", "The machine that the server runs on. A list: those of a cluster, one for each "+"dsn, in the same order.", namesShape),
	strictyaml.Part[Cell]("clients_on", "The machines of the clients, by name or pattern.", namesShape),
}

var spreadKeys = strictyaml.Table[Fleet]{
	strictyaml.Part[Fleet]("over", "The machines, by name or pattern, or maps of server_on and clients_on: each "+"runs whole blocks of trials.", strictyaml.ListOf(strictyaml.Either(strictyaml.Text.Shape, cellKeys.Shape("server_on")))),
	strictyaml.Valued("mixed", "Allow machines whose processors, memory, kernel or disks differ. Default false.", strictyaml.Boolean, func(f *Fleet, v bool) { f.Mixed = v }),
}

var fleetKeys = strictyaml.Table[Fleet]{
	strictyaml.Valued("retries", "How often a block of trials is run again, on another machine, when its machine was "+"lost. Default 1.", strictyaml.Integer(0, 10), func(f *Fleet, v int) { f.Retries = v }),
	strictyaml.Valued("lost", "After what time without a word a machine is lost, if clients are on other machines than "+"their server. Default 3s.", strictyaml.Duration(time.Second, time.Minute), func(f *Fleet, v time.Duration) { f.Lost = v }),
	strictyaml.Valued("address", "Where agents join that others start: an address of this machine and a port, "+"as in 10.0.0.1:7070. It is open until all have joined.", strictyaml.OneLine, func(f *Fleet, v string) { f.Address = v }),
	strictyaml.Valued("wait", "How long agents are waited for that others start. Default 1h.", strictyaml.Duration(time.Second, 7*24*time.Hour), func(f *Fleet, v time.Duration) { f.Wait = v }),
}

const maxLoads = 20

var startKeys = strictyaml.Table[Start]{
	strictyaml.Valued("copy", "The step after which the data are copied; data: the targets' own data are.", strictyaml.Text, func(s *Start, v string) { s.Copy = v }),
	strictyaml.Valued("loads", "How many times each target is loaded, each with its own seed. "+"Default: as many as there are trials, 20 at most.", strictyaml.Integer(1, maxLoads), func(s *Start, v int) { s.Loads = v }),
	strictyaml.Part[Start]("bases", "A directory that keeps loaded data for later campaigns, relative to the plan. "+"By default they are removed at the end.", strictyaml.Text.Shape),
}

var restartKeys = strictyaml.Table[Restart]{
	strictyaml.Part[Restart]("before", "The steps, by name. A step at several rates restarts before each.", strictyaml.ListOf(strictyaml.Text.Shape)),
	strictyaml.Valued("caches", "dropped (the default): the data leave the page cache of the operating system while the "+"engine is stopped. kept: they stay.", strictyaml.OneOf(workload.CachesDropped, workload.CachesKept), func(r *Restart, v workload.Caches) { r.Caches = v }),
}

var profileMode = strictyaml.OneOf(result.ProfileExtra, result.ProfileInside, result.ProfileSampled, result.ProfileOff)

const (
	keyFiles   = "files"
	keyThreads = "threads"
)

var profileKeys = strictyaml.Table[Profile]{
	strictyaml.Valued("mode", "extra (the default of a map): one more trial of each target, after all others. inside: in "+"every trial. sampled: as without profile, CPU samples of every trial. off: not even these.", profileMode, func(p *Profile, v result.Profiling) { p.Mode = v }),
	strictyaml.Valued("cpu", "CPU samples per second of each processor, 10 to 99. Default 99.", strictyaml.Integer(10, usualHertz), func(p *Profile, v int) { p.Hertz = v }),
	strictyaml.Valued(keyFiles, "Trace which files are read and written; in extra trials only. Default true.", strictyaml.Boolean, func(p *Profile, v bool) { p.Files = v }),
	strictyaml.Valued(keyThreads, "How often per second to look where threads sleep, up to 50, 0 for never; in extra "+"trials only. Default 20.", strictyaml.Integer(0, 50), func(p *Profile, v int) { p.Threads = v }),
}

var machineKeys = strictyaml.Table[Machine]{
	strictyaml.Part[Machine]("cpus", "The CPUs that the engine may use: how many, or a list of them. "+"An embedded engine shares them with its client.", cpusShape),
	strictyaml.Part[Machine]("client_cpus", "The CPUs that the client of a server may use.", cpusShape),
	strictyaml.Valued("memory", "The memory that the engine may use, with the page cache of its files, such as 1GiB.", strictyaml.Size, func(m *Machine, v int64) { m.Memory = v }),
}

var cpusShape = strictyaml.Either(strictyaml.Integer(1, maxCPUs).Shape,
	strictyaml.Shape{"type": "array", "items": strictyaml.Integer(0, maxCPUs).Shape, "minItems": 1})

func rateShape() strictyaml.Shape {
	return rateKeys.Shape().With("oneOf",
		[]strictyaml.Shape{{"required": []string{"at"}}, {"required": []string{"ramp"}}, {"required": []string{"steps"}}})
}

func stopShape() strictyaml.Shape {
	return stopKeys.Shape().
		With("anyOf", []strictyaml.Shape{{"required": []string{"precision"}}, {"required": []string{"budget"}}}).
		With("dependentRequired", strictyaml.Shape{"min_trials": []string{"precision"}})
}

const (
	// usualMinTrials is the default of min_trials, the trials of each target
	// before the precision is checked: with fewer, a confidence interval is
	// mostly chance. It is even, so that every block has been followed by its
	// reverse.
	usualMinTrials = 6
	// maxBudget is the greatest budget of a campaign.
	maxBudget = 1000 * time.Hour
)

// usualHertz is the usual frequency of CPU samples: not 100, so that there is no
// beat with timers.
const usualHertz = 99

const (
	usualPrecision = 0.05
	usualCredit    = 0.05
	leastPrecision = 0.01
	// usualLeadIn is the lead-in of probes in seconds: the first operations of new
	// connections take longer.
	usualLeadIn = 2
)
