package remark

import "rumbench/internal/metric"

// The table, in order of rank.
var (
	// Nothing can be concluded, or not what was asked.
	DurabilityDiffers = enter("durability_differs", Remark{Text: "Durability differs: {levels}. Ratios between them compare different durability.", Doubt: Poor})
	OtherWork         = enter("other_work", Remark{Text: "{target} is not compared with {base}[ in {steps}]: {reason}.", Doubt: Poor})
	HostsDiffer       = enter("hosts_differ", Remark{Text: "Trials ran on hosts that differ: {facts}[; and {more:%.0f} more, see “Machine and versions”].", Doubt: Poor})
	NotComparable     = enter("not_comparable", Remark{Text: "{target} in {step} cannot be compared: {reason}.", Doubt: Poor})
	NoResult          = enter("no_result", Remark{Text: "{target} has no result in {step}.", Doubt: Poor})
	NothingMeasured   = enter("nothing_measured", Remark{Text: "Nothing that was asked about was measured.", Doubt: Poor})
	TrialsFailed      = enter("trials_failed", Remark{Text: "{failed:%.0f} of {all:%.0f} trials did not end normally.", Doubt: Poor})

	// Something else was measured than planned.
	WrongResult        = enter("wrong_result", Remark{Text: "wrong result: {what}", Short: "wrong result", Effect: metric.Invalidates})
	WrongPlan          = enter("wrong_plan", Remark{Text: "wrong plan: {what}", Short: "wrong plan", Effect: metric.Invalidates})
	PlanUnknown        = enter("plan_unknown", Remark{Text: "{error}", Effect: metric.Invalidates})
	ErrorsAboveAllowed = enter("errors_above_allowed", Remark{Text: "{share:%.3g} % of the operations of group {group} failed, {allowed:%.3g} % are allowed (errors_allowed)", Short: "too many operations failed", Effect: metric.Invalidates})

	// The step's numbers are not those of others.
	SLAMissed  = enter("sla_missed", Remark{Text: "SLA missed: group {group} was to do {target:%.0f}/s and did {achieved:%.0f}/s", Short: "SLA missed", Effect: metric.Refuses})
	Saturated  = enter("saturated", Remark{Text: "saturated: group {group} fell behind more and more; its rate is above what the engine can do", Short: "saturated", Effect: metric.Refuses})
	TooFewRows = enter("too_few_rows", Remark{Text: "group {group}: {op}: rows were missing: {found:%.4g} of {expected:%.4g} were found for each {op}; missing rows make operations cheaper. The step cannot be compared",
		Short: "rows missing", Effect: metric.Refuses})
	Contradictory = enter("contradictory_log", Remark{Text: "{reason}", Short: "its log contradicts itself", Effect: metric.Refuses})

	// A number holds what others did, or is a bound.
	Disturbed   = enter("disturbed", Remark{Text: "disturbed: other programs {did} up to {others:%.1f} MiB of the {all:%.1f} MiB that the device {did}", Short: "device disturbed by other programs", Effect: metric.Disturbs})
	LowerBound  = enter("lower_bound", Remark{Text: "lower bound: {written:%.1f} MiB were written, and {deferred:%.1f} MiB more were still unwritten at the end of the step: it was too short for writes to recur", Short: "writes are a lower bound", Effect: metric.Bounds})
	DoneEarly   = enter("done_early", Remark{Text: "lower bound: group {group} had done its operations after {end:%.3g} of {seconds:%.3g} s, and its rates are over the whole step", Short: "its operations were done early", Effect: metric.Bounds})
	CountedLate = enter("counted_late", Remark{Text: "lower bound: the server's counters lag by up to {lag:%.3g} s, and the step took {seconds:%.3g} s", Short: "the server counts late", Effect: metric.Bounds})

	// What limits conclusions about targets.
	ProcessorsShared = enter("processors_shared", Remark{Text: "other programs took part of the processors[, {share:%.0f} %]: of {all:%.2f} s of CPU time {worker} used {server:%.2f} s[, rumbench {client:%.2f} s][, the load {load:%.2f} s][, the kernel's threads {kernel:%.2f} s]", Short: "other programs used the processors",
		Several: "Other programs used up to {share:%.0f} % of the processors ({target} in {step}): rates, latencies and costs are those of a busy machine.", Worst: true, Doubt: Fair})
	RanApart        = enter("ran_apart", Remark{Text: "{targets} did not run side by side with {base}: what the machine did in between is in every difference.", Doubt: Fair})
	FewTrials       = enter("few_trials", Remark{Text: "{caution}", Doubt: Fair})
	FewMachines     = enter("few_machines", Remark{Before: "trials on {machines:%.0f} machines prove nothing, as each counts once: take one, or at least {least:%.0f}"})
	OneLoad         = enter("one_load", Remark{Text: "All trials of a target begin with copies of one load: intervals are of that load, and do not cover how much loads differ."})
	DurabilityMeans = enter("durability_means", Remark{Text: "The level of durability means different things to the targets.", Doubt: Fair})
	OnCredit        = enter("on_credit", Remark{Text: "kept on credit: the work that the engine put off grew by {grown:%.1f} MiB, {share:%.0f} % of the {written:%.1f} MiB that it wrote; a longer step would be slower",
		Short:   "kept on credit",
		Several: "In {step} rates were kept on credit: compactions have still to do, of what was written, {each}. A longer step would be slower.",
		Each:    "{target} {share:digits} %", Doubt: Fair})
	CachesDiffer       = enter("caches_differ", Remark{Text: "Caches are not equal: {caches}. Reads, CPU and memory depend on it.", Doubt: Fair})
	CachesDifferCached = enter("caches_differ_cached", Remark{Text: "Caches are not equal: {caches}. All have the page cache besides: what one of them misses costs it CPU, and reads only beyond that.", Doubt: Fair})
	PageCacheApart     = enter("page_cache_apart", Remark{Before: "bypassing the page cache: {direct}; with it as a second cache: {cached}"})
	Contained          = enter("contained", Remark{Text: "{target} ran in a container, whose filter of system calls costs time.", Doubt: Fair})
	MemoryDiffers      = enter("memory_differs", Remark{Text: "Memory is not equal: in {step} the servers took {each}.", Doubt: Fair})
	FitsCache          = enter("fits_cache", Remark{When: fits, Before: "the data of about {data:bytes} fit in {each}: little or nothing will be read from the device",
		BeforeEach: "{target}'s {place} of {cache:bytes}",
		Several:    "All data are in the cache: {data:bytes} of data, a cache of {cache:bytes}. With more data than cache the order may be another.", Doubt: Fair})
	ShortCycle = enter("short_cycle", Remark{Text: "{seen} in the window: what recurs while rows are written was seen fewer than 3 times, so that the rate and the slowest operations depend on where in this cycle the step began",
		Short:   "shorter than the engine's cycle",
		Several: "Too short for what engines do from time to time: in {step} {each}[; too few also in {elsewhere}]. What that costs is not in the numbers.",
		Each:    "{target} saw {seen}", Doubt: Fair})
	TooShort = enter("too_short", Remark{When: brief, Unless: ShortCycle, Before: "too short for checkpoints and compactions to recur: {each}", BeforeEach: "{step} (about {seconds:digits} s)",
		Several: "On {target} {step} ran for only {seconds:digits} s: too short for checkpoints and compactions to recur.", Doubt: Fair})
	NoLatency = enter("no_latency", Remark{Text: "Latency was not measured in {step}.", Doubt: Fair})

	// The clients.
	ClientBound = enter("client_bound", Remark{Text: "the client was the bottleneck: in {share:%.0f} % of the samples the server waited for it; " + clientLoad +
		". Give rumbench processors that the server does not use, or another host", Short: "the client was the bottleneck",
		Several: waitedForClients, Doubt: Fair})
	ClientWaited = enter("client_waited", Remark{Text: "the server waited for its clients in {share:%.0f} % of the samples, though they had processors to spare: " + clientLoad +
		". The time went on the way between them, or in waiting for each other: more clients would load the server more", Short: "the server waited for its clients",
		Several: waitedForClients, Doubt: Fair})
	ClientWaitedShared = enter("client_waited_shared", Remark{Text: "the server waited for its clients in {share:%.0f} % of the samples, since both shared the processors, which were the bottleneck: the server had {server:%.2f}; " + clientLoad,
		Short:   "client and server shared the processors",
		Several: waitedForClients, Doubt: Fair})
	ClientWaitedOthers = enter("client_waited_others", Remark{Text: "the server waited for its clients in {share:%.0f} % of the samples: " + clientLoad + ", but other programs had some too",
		Short:   "other programs took the client's processors",
		Several: waitedForClients, Doubt: Fair})
	ClientPaused = enter("client_paused", Remark{Text: "the server waited for its clients in {share:%.0f} % of the samples: for {paused:%.0f} % of their time these had no operation in progress, as in think times, or in waiting for each other; " + clientLoad,
		Short: "the clients paused"})
	MachineFull = enter("client_machine_full", Remark{Text: "client machine {machine} had no reserve: {what}; throughput and latencies may be its, not the server's",
		Short: "a client machine had no reserve"})
	MachineSlow = enter("client_machine_slow", Remark{Text: "the p99 on client machine {machine} was {own:%.0f} µs, over twice the median of the others: it, or its network, was slow",
		Short: "a client machine was slow"})
	StartsApart = enter("starts_apart", Remark{Text: "the client machines began {spread:%.3g} ms apart, more than 5 % of an interval", Short: "the machines began apart"})
	ClocksApart = enter("clocks_apart", Remark{Text: "the clocks of the machines are compared with an error of up to {bound:%.3g} ms, more than a tenth of an interval: work near an interval's end may be counted in the next",
		Short: "intervals are blurred"})

	// The machines.
	TwoModes      = enter("two_modes", Remark{Text: "In {step} the trials fall into two groups, {ratio} apart: {low} below, and {high} above; {differ}.", Doubt: Fair})
	Drifts        = enter("drifts", Remark{Text: "{target} drifted in {step}: levels that run first are {ratio} as fast as those that run last. Every second trial has them in the reverse order.", Doubt: Fair})
	MachineUneven = enter("machine_uneven", Remark{Text: "{machine} was not equally fast: {load} took {ratio} as long just before {slowest} as before {fastest}.[ It also has the lowest rate of its target in {step}: {share} the median of the others.]", Doubt: Fair})
	MachineApart  = enter("machine_apart", Remark{Text: "Machine {machine} is {ratio} as fast as the others in {step} ({low} to {high}): see what differs, or leave it out.", Doubt: Fair})
	TimerDue      = enter("timer_due", Remark{Before: "{timer} is due on {at} and reads or writes much; the campaign is expected to take {length}"})
	Stolen        = enter("stolen", Remark{Text: "other guests of the machine's host took {share:%.2g} % of the processors' time (steal)", Short: "other guests took processors"})
	Throttled     = enter("throttled", Remark{Text: "heat slowed the {what} down {n:%.0f} times", Short: "heat slowed the machine down"})
	ServersDiffer = enter("servers_differ", Remark{Text: "the servers differ in {what}: the first has {first}, number {n:%.0f} has {own}; the settings shown are those of the first",
		Short: "the servers differ"})

	// The window, and what was done in it.
	BesideMissed = enter("beside_missed_promise", Remark{Text: "not comparable: the concurrent writers missed their rate", Short: "the concurrent writers missed their rate"})
	RowsMissing  = enter("rows_missing", Remark{Text: "rows were missing: {found:%.4g} of {expected:%.4g} were found for each {op}; missing rows make operations cheaper", Short: "rows were missing"})
	NotSteady    = enter("not_steady", Remark{Text: "the rate of group {group} was {shape} in the window, from {first:%.3g}/s to {last:%.3g}/s: its mean depends on how long the step lasts", Short: "the rate was not steady"})
	DebtUnknown  = enter("debt_unknown", Remark{Text: "the engine reports no debt of compactions: only that the rate was held shows that it was not kept on credit", Short: "whether on credit is not known"})
	NotHeld      = enter("not_held", Remark{Text: "{promise} was kept in probes of {probe:%.3g} s at {kept:%.5g}/s, and not for {seconds:%.3g} s at {rate:%.5g}/s: {broke}", Short: "the rate was not held"})
	Partial      = enter("partial", Remark{Text: "the step did not end: the number is made of the intervals that were written until then", Short: "the step did not end"})

	// Promises and operations, for information.
	RuleMissed        = enter("rule_missed", Remark{Text: "{op}: the 90th percentile is {took:%.3g} s, and the workload's standard asks for {limit:%.3g} s at most", Short: "slower than the standard asks"})
	Failed            = enter("failed", Remark{Text: "{n:%.0f} × {class}, first: {first}"})
	FailedOperations  = enter("failed_operations", Remark{Text: "group {group}: {n:%.0f} failed operations: {errors}", Short: "operations failed"})
	OperationsGivenUp = enter("given_up", Remark{Text: "group {group}: {n:%.0f} failed operations: {errors}; {given_up:%.0f} were given up because of “retry: none”, and are in no rate and no service time", Short: "operations were given up"})
	Shed              = enter("shed", Remark{Text: "group {group}: of {offered:%.0f} operations that arrived {shed:%.0f} were shed, as more than {queue:%.0f} waited", Short: "operations were shed"})
	ShedUntimed       = enter("shed_untimed", Remark{Text: "of {offered:%.0f} operations that arrived {shed:%.0f} were shed: these are in no response time", Short: "operations were shed"})
	NotDone           = enter("not_done", Remark{Text: "{n:%.0f} of {due:%.0f} operations were not done; their response time is at least their age at the end, by which they count{under}", Short: "operations were not done"})
	Overflow          = enter("overflow", Remark{Text: "{n:%.0f} latencies above an hour"})
	SessionsRenewed   = enter("sessions_renewed", Remark{Text: "{n:%.0f} connections were ended while their clients were idle, and opened again: the costs include that. See timeouts of the server (idle_session_timeout), a proxy (timeout client, timeout server) or a pooler (client_idle_timeout)", Short: "idle connections were opened again"})
	RanAlone          = enter("ran_alone", Remark{Text: "it ran alone for the last {seconds:%.3g} s, {share:%.0f} % of its time: the other trial of the duet was over", Short: "it ran alone for a part of its time"})
	Duet              = enter("duet", Remark{Text: "a duet: another target ran at the same time on the other half of the processors; what is counted for the whole machine or its devices covers both trials and is omitted"})
	StepNotEnded      = enter("step_not_ended", Remark{Text: "the step did not end: {why}", Short: "the step did not end"})
	AtEnd             = enter("at_end", Remark{Text: "at the end: {why}"})
	PlanChanged       = enter("plan_changed", Remark{Text: "the plan changed between the beginning and the end of the step: {changes}", Short: "the plan changed during the step"})
	WholeTableRead    = enter("whole_table_read", Remark{Text: "statements read whole tables to find their rows: {statements}", Short: "statements read whole tables"})

	// What was counted, and what not.
	UnexplainedIO  = enter("unexplained_io", Remark{Text: "the device {did} {all:%.1f} MiB, of which {worker} caused {own:%.1f} MiB: the rest is the file system's own (journal, metadata), or of {others}", Short: "the device did more than the engine"})
	ImpossibleIO   = enter("impossible_io", Remark{Text: "the KB that {worker} {did} are unknown: the kernel counted {own:%.1f} MiB[ and {others:%.1f} MiB for other processes], but the disks {did} only {all:%.1f} MiB in all; see docs/method.md on large folios", Short: "the processes' I/O is overcounted"})
	MediaErrors    = enter("media_errors", Remark{Text: "the drive reported {n:%.0f} errors of its media or of data integrity"})
	CountedByTicks = enter("counted_by_ticks", Remark{Text: "the kernel counts by ticks, and the window is shorter than a second"})
	Multiplexed    = enter("multiplexed", Remark{Text: "estimated: the processor counted it for {share:%.0f} % of the time only, as it has too few counters"})
	WaitsUnknown   = enter("waits_unknown", Remark{Text: "what sessions waited for is not known of some moments: {why}", Short: "waits are not known of some moments"})
	SeenLate       = enter("seen_late", Remark{Text: "{moved:%.0f} of {n:%.0f} samples in which sessions waited for their clients count as running: their threads ran for longer than they were seen at work"})
	SettingChanged = enter("setting_changed", Remark{Text: "setting {setting} was {before} before the restart and is {after} after it", Short: "a setting changed at the restart"})
	DataChanged    = enter("data_changed", Remark{Text: "the data was changed by an earlier run of this trial, which did not end"})
	NoEffect       = enter("no_effect", Remark{Text: "{setting} is {value}, and the server has no {effect}: it ignores what it cannot have", Short: "a setting has no effect"})
	AttachedSpace  = enter("attached_space", Remark{Text: "of a server that was attached to, old versions of rows and logs outside of tables and indexes are unknown and not in it"})
	EmptyUnknown   = enter("empty_unknown", Remark{Text: "the server's files were not measured when it was empty: old versions of rows outside of tables and indexes are not in it"})
	EstimatedSize  = enter("estimated_size", Remark{Text: "the engine's estimate"})
	CounterReset   = enter("counter_reset", Remark{Text: "counter {counter} was reset during the step: its figure begins there", Short: "a counter was reset"})
	SourceUnknown  = enter("source_unknown", Remark{Text: "no figures of source {source}: {why}", Short: "some figures are missing"})
	NotObserved    = enter("not_observed", Remark{Text: "{what}"})

	// Searches of a rate.
	NoRateSearched  = enter("no_rate_searched", Remark{Text: "no rate was searched for: the step completed no operations without one", Short: "no rate was searched for"})
	ProbesTooShort  = enter("probes_too_short", Remark{Text: "no rate was searched for: at the {closed:%.10g}/s of the closed loop probes of {usual:%.10g} s, and ten times as long, have too few operations for {promise}; set seconds to {seconds:%.0f} or more (find: seconds)"})
	FewBeyond       = enter("few_beyond_percentile", Remark{Text: "{promise} at {rate:%.10g}/s rests on only {n:%.0f} operations, {beyond:%.1f} of them beyond the percentile: probe for longer (find: seconds)"})
	SearchWide      = enter("search_wide", Remark{Text: "the interval of the answer is wider than the precision that was asked for: {width}, not {precision:%.2g} %; probes of the same rates disagreed. Longer probes may agree (find: seconds)"})
	ProbesDisturbed = enter("probes_disturbed", Remark{Text: "other programs disturbed {n:%.0f} of the {probes:%.0f} probes while these broke the promise: {repeated:%.0f} were repeated and do not count, {counted:%.0f} do"})

	// Profiles.
	NoProfile         = enter("no_profile", Remark{Text: "no profile of {what}: {why}"})
	ProfileSum        = enter("profile_sum", Remark{Text: "CPU profile: {why}[; {stolen:%.2f} s of the processors were stolen, which the samples have in them and the kernel's accounting has not]"})
	ProfileLost       = enter("profile_lost", Remark{Text: "no CPU profile: the kernel could not deliver {lost:%.0f} of {records:%.0f} samples"})
	ProfileOverBudget = enter("profile_over_budget", Remark{Text: "no CPU profile: the sampler used more CPU time than its budget of {budget:%.2g} % of each processor, and stopped itself"})
	ProfileRoots      = enter("profile_roots", Remark{Text: "CPU profile: only {share:%.0f} % of the server's stacks reach the function that their thread began with: it was built without frame pointers, and totals of callers are too small"})
	ProfileUserOnly   = enter("profile_user_only", Remark{Text: "CPU profile: without the kernel's functions, as the right to sample all processes is missing"})
	ProfileThrottled  = enter("profile_throttled", Remark{Text: "CPU profile: the kernel paused the sampling timers {times:%.0f} times, and samples are missing"})

	// Imported logs.
	Imported   = enter("imported", Remark{Text: "{what}"})
	Compatible = enter("compatible", Remark{Text: "imported with the arithmetic of published scripts: means of iostat and vmstat have the same bias as in those scripts"})
	PartialLog = enter("partial_log", Remark{Text: "the log has no final figures: the number is made of the intervals that it has"})
)

// clientLoad is the part of the clients' texts about their processors' load.
const clientLoad = "of the {processors:%.3g} processors that it may use rumbench had {used:%.2f}, and its threads waited for CPU for {waited:%.2f} more"

// waitedForClients is said of several targets in place of the four texts of one.
const waitedForClients = "In {step} {target} waited for the clients in {share:digits} % of the samples: its rate is partly theirs."

// AboutClient are the codes about servers that waited for the client.
var AboutClient = []metric.Code{ClientBound, ClientWaited, ClientWaitedShared, ClientWaitedOthers, ClientPaused}
