package metric

import (
	"maps"
)

// Effect is the effect of a warning on the number or step that it is attached to.
type Effect int

// The effects. A warning without one limits only how a reader uses a number.
const (
	Disturbs    Effect = iota + 1 // the number may include other programs' activity: it is not compared
	Bounds                        // the number is a lower bound
	Refuses                       // the step's numbers cannot be compared with those of others
	Invalidates                   // something else was measured than planned: the step is invalid
)

// Kind is everything known about a code.
type Kind struct {
	// Text is the warning's text: {name} is a value, {name:%.0f} a number in a
	// format, and [ around {name}] is left out if the value is unknown.
	Text string
	// Short is a short form without values, which verdicts show next to a number
	// and the progress after a step; "" if the text itself is short.
	Short  string
	Effect Effect
}

// The codes on which verdicts, gates and reports decide.
const (
	SLAMissed          Code = "sla_missed"
	Saturated          Code = "saturated"
	BesideMissed       Code = "beside_missed_promise"
	Disturbed          Code = "disturbed"
	LowerBound         Code = "lower_bound"
	DoneEarly          Code = "done_early"
	CountedLate        Code = "counted_late"
	RowsMissing        Code = "rows_missing"
	TooFewRows         Code = "too_few_rows"
	ClientBound        Code = "client_bound"
	ClientWaited       Code = "client_waited"
	ClientWaitedShared Code = "client_waited_shared"
	ClientWaitedOthers Code = "client_waited_others"
	ClientPaused       Code = "client_paused"
	MachineFull        Code = "client_machine_full"
	MachineSlow        Code = "client_machine_slow"
	StartsApart        Code = "starts_apart"
	ServersDiffer      Code = "servers_differ"
	ClocksApart        Code = "clocks_apart"
	NotSteady          Code = "not_steady"
	ShortCycle         Code = "short_cycle"
	Stolen             Code = "stolen"
	Throttled          Code = "throttled"
	OnCredit           Code = "on_credit"
	DebtUnknown        Code = "debt_unknown"
	NotHeld            Code = "not_held"
	Partial            Code = "partial"
	WrongResult        Code = "wrong_result"
	WrongPlan          Code = "wrong_plan"
	PlanUnknown        Code = "plan_unknown"
	ErrorsAboveAllowed Code = "errors_above_allowed"
	Contradictory      Code = "contradictory_log"
)

// clientLoad is the part of the client's texts about its processors' load.
const clientLoad = "of the {processors:%.3g} processors that it may use rumbench had {used:%.2f}, and its threads waited for CPU for {waited:%.2f} more"

// AboutClient are the codes about servers that waited for the client.
var AboutClient = []Code{ClientBound, ClientWaited, ClientWaitedShared, ClientWaitedOthers, ClientPaused}

// decisive are the codes on which something is decided.
var decisive = map[Code]Kind{
	SLAMissed: {Text: "SLA missed: group {group} was to do {target:%.0f}/s and did {achieved:%.0f}/s", Short: "SLA missed", Effect: Refuses},
	Saturated: {Text: "saturated: group {group} fell behind more and more; its rate is above what the engine can do", Short: "saturated", Effect: Refuses},

	BesideMissed: {Text: "not comparable: the concurrent writers missed their rate", Short: "the concurrent writers missed their rate"},

	Disturbed:  {Text: "disturbed: other programs {did} up to {others:%.1f} MiB of the {all:%.1f} MiB that the device {did}", Short: "device disturbed by other programs", Effect: Disturbs},
	LowerBound: {Text: "lower bound: {written:%.1f} MiB were written, and {deferred:%.1f} MiB more were still unwritten at the end of the step: it was too short for writes to recur", Short: "writes are a lower bound", Effect: Bounds},

	DoneEarly:   {Text: "lower bound: group {group} had done its operations after {end:%.3g} of {seconds:%.3g} s, and its rates are over the whole step", Short: "its operations were done early", Effect: Bounds},
	CountedLate: {Text: "lower bound: the server's counters lag by up to {lag:%.3g} s, and the step took {seconds:%.3g} s", Short: "the server counts late", Effect: Bounds},
	RowsMissing: {Text: "rows were missing: {found:%.4g} of {expected:%.4g} were found for each {op}; missing rows make operations cheaper", Short: "rows were missing"},
	TooFewRows: {Text: "group {group}: {op}: rows were missing: {found:%.4g} of {expected:%.4g} were found for each {op}; missing rows make operations cheaper. The step cannot be compared",
		Short: "rows missing", Effect: Refuses},

	ClientBound: {Text: "the client was the bottleneck: in {share:%.0f} % of the samples the server waited for it; " + clientLoad +
		". Give rumbench processors that the server does not use, or another host", Short: "the client was the bottleneck"},
	ClientWaited: {Text: "the server waited for its clients in {share:%.0f} % of the samples, though they had processors to spare: " + clientLoad +
		". The time went on the way between them, or in waiting for each other: more clients would load the server more", Short: "the server waited for its clients"},
	ClientWaitedShared: {Text: "the server waited for its clients in {share:%.0f} % of the samples, since both shared the processors, which were the bottleneck: the server had {server:%.2f}; " + clientLoad,
		Short: "client and server shared the processors"},
	ClientPaused: {Text: "the server waited for its clients in {share:%.0f} % of the samples: for {paused:%.0f} % of their time these had no operation in progress, as in think times, or in waiting for each other; " + clientLoad,
		Short: "the clients paused"},
	ClientWaitedOthers: {Text: "the server waited for its clients in {share:%.0f} % of the samples: " + clientLoad + ", but other programs had some too",
		Short: "other programs took the client's processors"},

	MachineFull: {Text: "client machine {machine} had no reserve: {what}; throughput and latencies may be its, not the server's",
		Short: "a client machine had no reserve"},
	MachineSlow: {Text: "the p99 on client machine {machine} was {own:%.0f} µs, over twice the median of the others: it, or its network, was slow",
		Short: "a client machine was slow"},
	ServersDiffer: {Text: "the servers differ in {what}: the first has {first}, number {n:%.0f} has {own}; the settings shown are those of the first",
		Short: "the servers differ"},
	StartsApart: {Text: "the client machines began {spread:%.3g} ms apart, more than 5 % of an interval", Short: "the machines began apart"},
	ClocksApart: {Text: "the clocks of the machines are compared with an error of up to {bound:%.3g} ms, more than a tenth of an interval: work near an interval's end may be counted in the next",
		Short: "intervals are blurred"},

	NotSteady: {Text: "the rate of group {group} was {shape} in the window, from {first:%.3g}/s to {last:%.3g}/s: its mean depends on how long the step lasts", Short: "the rate was not steady"},
	ShortCycle: {Text: "{seen} in the window: what recurs while rows are written was seen fewer than 3 times, so that the rate and the slowest operations depend on where in this cycle the step began",
		Short: "shorter than the engine's cycle"},

	Stolen:    {Text: "other guests of the machine's host took {share:%.2g} % of the processors' time (steal)", Short: "other guests took processors"},
	Throttled: {Text: "heat slowed the {what} down {n:%.0f} times", Short: "heat slowed the machine down"},
	OnCredit: {Text: "kept on credit: the work that the engine put off grew by {grown:%.1f} MiB, {share:%.0f} % of the {written:%.1f} MiB that it wrote; a longer step would be slower",
		Short: "kept on credit"},
	DebtUnknown: {Text: "the engine reports no debt of compactions: only that the rate was held shows that it was not kept on credit", Short: "whether on credit is not known"},
	NotHeld:     {Text: "{promise} was kept in probes of {probe:%.3g} s at {kept:%.5g}/s, and not for {seconds:%.3g} s at {rate:%.5g}/s: {broke}", Short: "the rate was not held"},

	Partial:            {Text: "the step did not end: the number is made of the intervals that were written until then", Short: "the step did not end"},
	WrongResult:        {Text: "wrong result: {what}", Short: "wrong result", Effect: Invalidates},
	WrongPlan:          {Text: "wrong plan: {what}", Short: "wrong plan", Effect: Invalidates},
	PlanUnknown:        {Text: "{error}", Effect: Invalidates},
	ErrorsAboveAllowed: {Text: "{share:%.3g} % of the operations of group {group} failed, {allowed:%.3g} % are allowed (errors_allowed)", Short: "too many operations failed", Effect: Invalidates},
	Contradictory:      {Text: "{reason}", Short: "its log contradicts itself", Effect: Refuses},
}

// kinds are those of all codes.
var kinds = func() map[Code]Kind {
	all := maps.Clone(decisive)
	maps.Copy(all, descriptive)
	return all
}()

// Kind returns the code's Kind, the zero Kind for "".
func (c Code) Kind() Kind { return kinds[c] }
