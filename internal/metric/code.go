package metric

import "maps"

// Effect is what a warning does to what it is attached to.
type Effect int

// The effects. A warning without one limits only how a reader uses a number.
const (
	Disturbs    Effect = iota + 1 // the number may hold what other programs did: it is compared with nothing
	Bounds                        // the number is a lower bound
	Refuses                       // the step's numbers cannot be compared with those of others
	Invalidates                   // what was measured is not what was to be measured: the step is invalid
)

// Kind is everything known about a code.
type Kind struct {
	// Text is the warning's text: {name} is a value, {name:%.0f} one in a format.
	Text string
	// Short are a few words for it, where verdicts show it beside a number.
	Short  string
	Effect Effect
}

// The codes that verdicts, gates and reports decide by.
const (
	SLAMissed          Code = "sla_missed"
	Saturated          Code = "saturated"
	BesideMissed       Code = "beside_missed_promise"
	Disturbed          Code = "disturbed"
	LowerBound         Code = "lower_bound"
	RowsMissing        Code = "rows_missing"
	TooFewRows         Code = "too_few_rows"
	ClientBound        Code = "client_bound"
	ClientWaited       Code = "client_waited"
	ClientWaitedShared Code = "client_waited_shared"
	ClientWaitedOthers Code = "client_waited_others"
	Partial            Code = "partial"
	WrongResult        Code = "wrong_result"
	WrongPlan          Code = "wrong_plan"
	PlanUnknown        Code = "plan_unknown"
	ErrorsAboveAllowed Code = "errors_above_allowed"
)

// clientLoad is how busy the client's processors were, in texts about the client.
const clientLoad = "of the {processors:%.0f} processors that it may use rumbench had {used:%.2f}, and its threads stood in line for {waited:%.2f} more"

// decisive are the codes that something is decided by.
var decisive = map[Code]Kind{
	SLAMissed: {"SLA missed: group {group} was to do {target:%.0f}/s and did {achieved:%.0f}/s", "SLA missed", Refuses},
	Saturated: {"saturated: group {group} fell behind more and more; its rate is above what the engine can do", "saturated", Refuses},

	BesideMissed: {Text: "not comparable: the writers beside it did not hold their rate"},

	Disturbed:  {"disturbed: other programs {did} up to {others:%.1f} MB of the {all:%.1f} MB that the device {did}", "", Disturbs},
	LowerBound: {"lower bound: {written:%.1f} MB were written, and the writing of {deferred:%.1f} MB was put off beyond the end of the step: it was too short for writes to recur", "", Bounds},

	RowsMissing: {Text: "rows were missing: {found:%.4g} of {expected:%.4g} were found for each {op}; what is not there costs less"},
	TooFewRows: {"group {group}: {op}: rows were missing: {found:%.4g} of {expected:%.4g} were found for each {op}; what is not there costs less. The step cannot be compared",
		"rows missing", Refuses},

	ClientBound: {Text: "the client was the bottleneck: in {share:%.0f} % of the samples the server waited for it; " + clientLoad +
		". Give rumbench processors that the server does not use, or another host"},
	ClientWaited: {Text: "the server waited for its clients in {share:%.0f} % of the samples, though they had processors to spare: " + clientLoad +
		". The time went on the way between them, or in waiting for each other: more clients would load the server more"},
	ClientWaitedShared: {Text: "the server waited for its clients in {share:%.0f} % of the samples, since both shared the processors, which were the bottleneck: the server had {server:%.2f}; " + clientLoad},
	ClientWaitedOthers: {Text: "the server waited for its clients in {share:%.0f} % of the samples: " + clientLoad + ", but other programs had some too"},

	Partial:            {Text: "the step did not end: the number is made of the intervals that were written until then"},
	WrongResult:        {"wrong result: {what}", "", Invalidates},
	WrongPlan:          {"wrong plan: {what}", "", Invalidates},
	PlanUnknown:        {"{error}", "", Invalidates},
	ErrorsAboveAllowed: {"{share:%.3g} % of the operations of group {group} failed, {allowed:%.3g} % are allowed (errors_allowed)", "", Invalidates},
}

// kinds are those of all codes.
var kinds = func() map[Code]Kind {
	all := maps.Clone(decisive)
	maps.Copy(all, descriptive)
	return all
}()

// Kind returns what is known about the code; nothing of "".
func (c Code) Kind() Kind { return kinds[c] }
