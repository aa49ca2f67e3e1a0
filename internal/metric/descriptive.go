package metric

// The codes of warnings that only inform the reader: about numbers, steps,
// trials and imported logs.
const (
	Overflow          Code = "overflow"
	Failed            Code = "failed"
	FailedOperations  Code = "failed_operations"
	OperationsGivenUp Code = "given_up"
	Shed              Code = "shed"
	ShedUntimed       Code = "shed_untimed"
	NotDone           Code = "not_done"
	RuleMissed        Code = "rule_missed"
	SourceUnknown     Code = "source_unknown"
	CounterReset      Code = "counter_reset"
	CountedByTicks    Code = "counted_by_ticks"
	UnexplainedIO     Code = "unexplained_io"
	ImpossibleIO      Code = "impossible_io"
	ProcessorsShared  Code = "processors_shared"
	RanAlone          Code = "ran_alone"
	WaitsUnknown      Code = "waits_unknown"
	SeenLate          Code = "seen_late"
	AttachedSpace     Code = "attached_space"
	EmptyUnknown      Code = "empty_unknown"
	StepNotEnded      Code = "step_not_ended"
	PlanChanged       Code = "plan_changed"
	WholeTableRead    Code = "whole_table_read"
	NoRateSearched    Code = "no_rate_searched"
	FewBeyond         Code = "few_beyond_percentile"
	ProbesTooShort    Code = "probes_too_short"
	SearchWide        Code = "search_wide"
	ProbesDisturbed   Code = "probes_disturbed"
	NotObserved       Code = "not_observed"
	NoProfile         Code = "no_profile"
	SessionsRenewed   Code = "sessions_renewed"
	SettingChanged    Code = "setting_changed"
	DataChanged       Code = "data_changed"
	NoEffect          Code = "no_effect"
	Duet              Code = "duet"
	AtEnd             Code = "at_end"
	PartialLog        Code = "partial_log"
	Compatible        Code = "compatible"
	Imported          Code = "imported"
	ProfileSum        Code = "profile_sum"
	ProfileLost       Code = "profile_lost"
	ProfileOverBudget Code = "profile_over_budget"
	ProfileRoots      Code = "profile_roots"
	ProfileUserOnly   Code = "profile_user_only"
	ProfileThrottled  Code = "profile_throttled"
	MediaErrors       Code = "media_errors"
	Multiplexed       Code = "multiplexed"
	EstimatedSize     Code = "estimated_size"
)

// descriptive are those codes.
var descriptive = map[Code]Kind{
	Overflow:          {Text: "{n:%.0f} latencies above an hour"},
	Failed:            {Text: "{n:%.0f} × {class}, first: {first}"},
	FailedOperations:  {Text: "group {group}: {n:%.0f} failed operations: {errors}", Short: "operations failed"},
	OperationsGivenUp: {Text: "group {group}: {n:%.0f} failed operations: {errors}; {given_up:%.0f} were given up because of “retry: none”, and are in no rate and no service time", Short: "operations were given up"},
	Shed:              {Text: "group {group}: of {offered:%.0f} operations that arrived {shed:%.0f} were shed, as more than {queue:%.0f} waited", Short: "operations were shed"},
	ShedUntimed:       {Text: "of {offered:%.0f} operations that arrived {shed:%.0f} were shed: these are in no response time", Short: "operations were shed"},
	NotDone:           {Text: "{n:%.0f} of {due:%.0f} operations were not done; their response time is at least their age at the end, by which they count{under}", Short: "operations were not done"},
	RuleMissed:        {Text: "{op}: the 90th percentile is {took:%.3g} s, and the workload's standard asks for {limit:%.3g} s at most", Short: "slower than the standard asks"},
	SourceUnknown:     {Text: "no figures of source {source}: {why}", Short: "some figures are missing"},
	CounterReset:      {Text: "counter {counter} was reset during the step: its figure begins there", Short: "a counter was reset"},
	CountedByTicks:    {Text: "the kernel counts by ticks, and the window is shorter than a second"},
	UnexplainedIO:     {Text: "the device {did} {all:%.1f} MiB, of which {worker} caused {own:%.1f} MiB: the rest is the file system's own (journal, metadata), or of {others}", Short: "the device did more than the engine"},
	ImpossibleIO:      {Text: "the KB that {worker} {did} are unknown: the kernel counted {own:%.1f} MiB[ and {others:%.1f} MiB for other processes], but the disks {did} only {all:%.1f} MiB in all; see docs/method.md on large folios", Short: "the processes' I/O is overcounted"},
	ProcessorsShared:  {Text: "other programs took part of the processors[, {share:%.0f} %]: of {all:%.2f} s of CPU time {worker} used {server:%.2f} s[, rumbench {client:%.2f} s][, the load {load:%.2f} s][, the kernel's threads {kernel:%.2f} s]", Short: "other programs used the processors"},
	RanAlone:          {Text: "it ran alone for the last {seconds:%.3g} s, {share:%.0f} % of its time: the other trial of the duet was over", Short: "it ran alone for a part of its time"},
	SeenLate:          {Text: "{moved:%.0f} of {n:%.0f} samples in which sessions waited for their clients count as running: their threads ran for longer than they were seen at work"},
	WaitsUnknown:      {Text: "what sessions waited for is not known of some moments: {why}", Short: "waits are not known of some moments"},
	AttachedSpace:     {Text: "of a server that was attached to, old versions of rows and logs outside of tables and indexes are unknown and not in it"},
	EmptyUnknown:      {Text: "the server's files were not measured when it was empty: old versions of rows outside of tables and indexes are not in it"},
	StepNotEnded:      {Text: "the step did not end: {why}", Short: "the step did not end"},
	PlanChanged:       {Text: "the plan changed between the beginning and the end of the step: {changes}", Short: "the plan changed during the step"},
	WholeTableRead:    {Text: "statements read whole tables to find their rows: {statements}", Short: "statements read whole tables"},
	NoRateSearched:    {Text: "no rate was searched for: the step completed no operations without one", Short: "no rate was searched for"},
	FewBeyond:         {Text: "{promise} at {rate:%.10g}/s rests on only {n:%.0f} operations, {beyond:%.1f} of them beyond the percentile: probe for longer (find: seconds)"},
	ProbesTooShort:    {Text: "no rate was searched for: at the {closed:%.10g}/s of the closed loop probes of {usual:%.10g} s, and ten times as long, have too few operations for {promise}; set seconds to {seconds:%.0f} or more (find: seconds)"},
	SearchWide:        {Text: "the interval of the answer is wider than the precision that was asked for: {width}, not {precision:%.2g} %; probes of the same rates disagreed. Longer probes may agree (find: seconds)"},
	ProbesDisturbed:   {Text: "other programs disturbed {n:%.0f} of the {probes:%.0f} probes while these broke the promise: {repeated:%.0f} were repeated and do not count, {counted:%.0f} do"},
	SessionsRenewed:   {Text: "{n:%.0f} connections were ended while their clients were idle, and opened again: the costs include that. See timeouts of the server (idle_session_timeout), a proxy (timeout client, timeout server) or a pooler (client_idle_timeout)", Short: "idle connections were opened again"},
	SettingChanged:    {Text: "setting {setting} was {before} before the restart and is {after} after it", Short: "a setting changed at the restart"},
	NoEffect:          {Text: "{setting} is {value}, and the server has no {effect}: it ignores what it cannot have", Short: "a setting has no effect"},
	DataChanged:       {Text: "the data was changed by an earlier run of this trial, which did not end"},
	Duet:              {Text: "a duet: another target ran at the same time on the other half of the processors; what is counted for the whole machine or its devices covers both trials and is omitted"},
	NotObserved:       {Text: "{what}"},
	NoProfile:         {Text: "no profile of {what}: {why}"},
	AtEnd:             {Text: "at the end: {why}"},
	PartialLog:        {Text: "the log has no final figures: the number is made of the intervals that it has"},
	Compatible:        {Text: "imported with the arithmetic of published scripts: means of iostat and vmstat have the same bias as in those scripts"},
	Imported:          {Text: "{what}"},

	ProfileSum:        {Text: "CPU profile: {why}[; {stolen:%.2f} s of the processors were stolen, which the samples have in them and the kernel's accounting has not]"},
	ProfileLost:       {Text: "no CPU profile: the kernel could not deliver {lost:%.0f} of {records:%.0f} samples"},
	ProfileOverBudget: {Text: "no CPU profile: the sampler used more CPU time than its budget of {budget:%.2g} % of each processor, and stopped itself"},
	ProfileRoots:      {Text: "CPU profile: only {share:%.0f} % of the server's stacks reach the function that their thread began with: it was built without frame pointers, and totals of callers are too small"},
	Multiplexed:       {Text: "estimated: the processor counted it for {share:%.0f} % of the time only, as it has too few counters"},
	EstimatedSize:     {Text: "the engine's estimate"},
	MediaErrors:       {Text: "the drive reported {n:%.0f} errors of its media or of data integrity"},
	ProfileThrottled:  {Text: "CPU profile: the kernel paused the sampling timers {times:%.0f} times, and samples are missing"},
	ProfileUserOnly:   {Text: "CPU profile: without the kernel's functions, as the right to sample all processes is missing"},
}
