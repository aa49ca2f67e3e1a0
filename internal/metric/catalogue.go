package metric

import (
	"strings"
)

// Section is the part of the report that shows a metric, by its heading.
type Section string

// The sections.
const (
	ThroughputTable Section = "Throughput"
	ServiceTable    Section = "Service time"
	ResponseTable   Section = "Response time"
	AttemptsTable   Section = "Attempts and errors"
	AttemptTable    Section = "Time of the attempt that succeeded"
	GivenUpTable    Section = "Time to giving up"
	StatementTable  Section = "Statements"
	ArrivalsTable   Section = "Arrivals"
	SpreadTable     Section = "Spread over the clients"
	PromiseTable    Section = "Promised rates"
	RulesTable      Section = "Rules of a standard"
	CostTable       Section = "Cost"
	EngineTable     Section = "Engine-reported I/O and state"
	RestartTable    Section = "Restart and warm-up"
	SpaceTable      Section = "Space"
	WaitsTables     Section = "Waits"
	PartsTable      Section = "Parts of a step"
	// SharesOfTime are sums that the report shows as shares of each other, next to
	// the statements.
	SharesOfTime Section = "Shares of time"
	// SettledCost is shown in the main table of the step, because it covers
	// several steps.
	SettledCost Section = "Cost over the steps"
)

// Sections are all sections, in the order of the glossary.
var Sections = []Section{ThroughputTable, ServiceTable, ResponseTable, AttemptsTable, AttemptTable, GivenUpTable, StatementTable, SharesOfTime,
	ArrivalsTable, SpreadTable, PromiseTable, RulesTable, CostTable, SettledCost, RestartTable, EngineTable, SpaceTable, WaitsTables, PartsTable}

// makeCatalogue returns the metrics of all sections. A metric is one entry in
// the list of its section; latencies are made from one entry for each family.
func makeCatalogue() (out []Metric) {
	bySection := map[Section][]Metric{
		ThroughputTable: throughput,
		ServiceTable: latencies(Service, "service time", map[Quantile]string{
			Mean: "It hides the tail. Only of imported logs that have nothing better.",
			P50:  "From the operation's actual start to its end. Of an operation that was tried again, from the start of its first attempt: what its user waited, pauses included.",
		}, Mean, P50, P95, P99, P999, Max, Min),
		ResponseTable: append(append(latencies(Response, "response time", map[Quantile]string{
			P50: "From the operation's intended start to its end. Only where a rate was promised or operations arrive by a schedule; it contains the time an operation waited because earlier ones were slow (no coordinated omission). Operations that were due and not done count with their age at the end of the step.",
		}, P50, P95, P99, P999, Max, Min), latencies(Lateness, "lateness", map[Quantile]string{
			P99: "It is actual start − intended start. Only where a rate was promised or operations arrive by a schedule.",
		}, P99, Max)...), Metric{Name: "response_total_s", Unit: "s", Family: Response, Label: "total s", Doc: "Sum of all response times."}),
		AttemptsTable: attempts,
		AttemptTable: latencies(Attempt, "time of the attempt that succeeded", map[Quantile]string{
			P50: "Without the failed ones and the pauses before it. Only where some failed.",
		}, P50, P95, P99, P999, Max),
		GivenUpTable: latencies(GivenUp, "time of operations that were given up", map[Quantile]string{
			P50: "From the start of the first attempt to giving up, pauses included. They are in no other latency. Only where some were given up.",
		}, P50, P99, Max),
		StatementTable: append(statements, latencies(Statement, "time of a statement", map[Quantile]string{
			P50: "Of operations that were done, seen from the client; the operation is the statement's name.",
		}, P50, P95, P99, P999, Max)...),
		SharesOfTime: sums, ArrivalsTable: arrivals, SpreadTable: spread, PromiseTable: promises, RulesTable: rules, CostTable: costs, SettledCost: settled,
		RestartTable: restarts, EngineTable: engines, SpaceTable: space, WaitsTables: waits, PartsTable: parts,
	}
	for _, s := range Sections {
		for _, m := range bySection[s] {
			m.Section = s
			out = append(out, m)
		}
	}
	return out
}

// latencyNames are the names of a distribution's values in column headings and
// in docs, by their names in metrics.
var latencyNames = map[Quantile]struct{ label, doc string }{
	Mean: {"mean", "Mean"}, P50: {"p50", "Median"}, P95: {"p95", "95th percentile of"}, P99: {"p99", "99th percentile of"},
	P999: {"p99.9", "99.9th percentile of"}, Max: {"max", "Greatest"}, Min: {"min", "Least"},
}

func latencyName(f Family, q Quantile) string { return string(f) + "_" + string(q) + "_us" }

// latencies returns the metrics of a distribution; extra adds the properties of
// single quantiles.
func latencies(f Family, noun string, extra map[Quantile]string, quantiles ...Quantile) (out []Metric) {
	for _, q := range quantiles {
		n := latencyNames[q]
		m := Metric{Name: latencyName(f, q), Unit: "µs", Better: Lower, Family: f, Quantile: q, Label: n.label, Doc: strings.TrimSpace(n.doc + " " + noun + ". " + extra[q])}
		switch {
		case q == Min:
			m.Better = ""
		case f == Lateness:
			m.Label = "lateness " + n.label
		case q == P99 && f == Service:
			m.Headline = Judged
		case q == P99 && f == Response:
			m.StandsIn = latencyName(Service, q)
		case q == Mean:
			m.See = "import.md"
		}
		out = append(out, m)
	}
	return out
}

var throughput = []Metric{
	{Name: "rows_per_s", Unit: "1/s", Better: Higher, Family: Throughput, Label: "rate/s", Headline: Judged, Doc: "Units done (rows inserted, deleted or indexed; queries) per second.", Formula: "rows ÷ duration_s"},
	{Name: "ops_per_s", Unit: "1/s", Better: Higher, Family: Throughput, Label: "ops/s", Doc: "Operations completed per second. Failed operations are not counted.", Formula: "operations ÷ duration_s"},
	{Name: "queries_per_s", Unit: "1/s", Better: Higher, Family: Throughput, Label: "statements/s", Doc: "Statements executed by operations that were done, per second; absent where they are not counted.", Formula: "reads_per_s + writes_per_s + others_per_s"},
	{Name: "reads_per_s", Unit: "1/s", Better: Higher, Family: Throughput, Label: "reads/s", Doc: "Of queries_per_s, statements that read."},
	{Name: "writes_per_s", Unit: "1/s", Better: Higher, Family: Throughput, Label: "writes/s", Doc: "Of queries_per_s, statements that changed something."},
	{Name: "others_per_s", Unit: "1/s", Family: Throughput, Label: "others/s", Doc: "Of queries_per_s, all else: begin, commit, rollback, and writes that found nothing to change."},
	{Name: "rows", Unit: "count", Family: Throughput, Label: "units done", Doc: "Units done in the window: rows, or operations where these are what is counted."},
	{Name: "rows_found", Unit: "count", Family: Throughput, Per: PerOperation, Doc: "Rows that an operation found, or changed, on average: rows that the engine returned, counted or changed. At most those expected, if each operation has its own number.", Formula: "rows found ÷ operations", See: "method.md#rows-that-are-not-there"},
	{Name: "rows_expected", Unit: "count", Family: Throughput, Per: PerOperation, Doc: "Rows that an operation had to find on average, if the database holds what the workload has put there; absent where the workload cannot know it."},
	{Name: "found_share", Unit: "ratio", Family: Throughput, Doc: "Share of the expected rows that were found. Below 0.99 rates and times carry a warning: missing rows make operations cheaper. Below 0.9 the step is not compared.", Formula: "rows found ÷ rows expected"},
	{Name: "interval_ops_p50", Unit: "1/s", Better: Higher, Family: Stalls, Label: "50 % of intervals ≥", Doc: "Units a second that 50 % of the intervals reached or exceeded. Needs ten intervals with enough operations.", See: "method.md#intervals"},
	{Name: "interval_ops_p95", Unit: "1/s", Better: Higher, Family: Stalls, Label: "95 % of intervals ≥", Doc: "Units a second that 95 % of the intervals reached or exceeded: the slow tail."},
	{Name: "interval_ops_p99", Unit: "1/s", Better: Higher, Family: Stalls, Label: "99 % of intervals ≥", Doc: "Units a second that 99 % of the intervals reached or exceeded: the slow tail. Needs ten intervals."},
	{Name: "interval_ops_error", Unit: "ratio", Family: Stalls, Label: "error of the mean", Doc: "Half the 95 % interval of the mean rate within the run, as a share of it, from intervals that are not independent. It says nothing about another run.", See: "method.md#intervals"},
	{Name: "relative_to_before", Unit: "ratio", Better: Higher, Family: Throughput, Doc: "Units a second of the step relative to the earlier step that did the same before the data were changed: 0.8 is a fifth slower.", Formula: "rows_per_s ÷ rows_per_s of the earlier step"},
	{Name: "errors", Unit: "count", Better: Lower, Family: Failures, Doc: "Operations that failed, by class in the warnings; they count neither as done nor in latencies."},
	{Name: "duration_s", Unit: "s", Better: Lower, Family: Throughput, Label: "window s", Doc: "Length of the measured window: from the barrier at which all clients start to the end of the last attempt at an operation that began in it; of a step that its time ended, at least that time.", See: "method.md#the-window"},
	{Name: "stalls", Unit: "count", Better: Lower, Family: Stalls, Doc: "Stalled stretches: gaps between completed operations at least as long as an interval, and runs of stalled intervals. Without a rate, an interval is stalled with no completed operation, or under 10 % of the step's median; not known where a usual interval holds fewer than three operations. With a rate: with no completed operation although one was due before it began; with arrivals, although one was in flight all the time."},
	{Name: "stall_s", Unit: "s", Better: Lower, Family: Stalls, Label: "stalled s", Headline: Followed, Doc: "Total length of the stalls, in milliseconds from operation to operation; of logs in whole intervals."},
	{Name: "stall_longest_s", Unit: "s", Better: Lower, Family: Stalls, Label: "longest stall s", Doc: "Longest stall."},
	{Name: "think_share", Unit: "ratio", Family: Client, Label: "thinking", Doc: "Share of the clients' time in the window in which they had no operation in progress: they made rows, waited for their time, for each other, or had done their work. Operations that were given up or unfinished were in progress too.", Formula: "1 − sum of the times of operations ÷ (clients × window)", See: "why.md#waits"},
}

var attempts = []Metric{
	{Name: "attempts", Unit: "count", Family: Failures, Doc: "Attempts at operations, those that failed included. Only where some failed."},
	{Name: "retries", Unit: "count", Better: Lower, Family: Failures, Doc: "Attempts that were not an operation's first one."},
	{Name: "given_up", Unit: "count", Better: Lower, Family: Failures, Label: "given up", Doc: "Operations that were given up: after their greatest number of attempts, or at once, as the workload's retry policy says. They are not operations done; failed_p50_us and its like are for how long they were tried.", See: "plan.md#retries"},
	{Name: "unfinished", Unit: "count", Better: Lower, Family: Failures, Doc: "Operations that were neither done nor given up when the step ended: their last attempt had failed, or was cut off."},
	{Name: "wasted_statements", Unit: "count", Better: Lower, Family: Failures, Label: "wasted statements", Doc: "Statements executed in attempts that failed. They are not among queries_per_s."},
	{Name: "errors_conflict", Unit: "count", Better: Lower, Family: ErrorClass, Label: "conflicts", Doc: "Attempts that failed because a conflicting transaction changed rows that were read (serialization failures)."},
	{Name: "errors_deadlock", Unit: "count", Better: Lower, Family: ErrorClass, Label: "deadlocks", Doc: "Attempts that failed because they and others waited for each other."},
	{Name: "errors_lock_timeout", Unit: "count", Better: Lower, Family: ErrorClass, Label: "lock timeouts", Doc: "Attempts that failed because a lock could not be acquired, or not in the time that the server allows."},
	{Name: "errors_timeout", Unit: "count", Better: Lower, Family: ErrorClass, Label: "timeouts", Doc: "Attempts that took too long and were given up."},
	{Name: "errors_duplicate", Unit: "count", Better: Lower, Family: ErrorClass, Label: "duplicate keys", Doc: "Attempts that failed because a key existed."},
	{Name: "errors_gone", Unit: "count", Better: Lower, Family: ErrorClass, Label: "server gone", Doc: "Attempts that failed because the database or its server was gone."},
	{Name: "errors_fatal", Unit: "count", Better: Lower, Family: ErrorClass, Label: "other errors", Doc: "Attempts that failed for any other reason."},
}

var statements = []Metric{
	{Name: "statements_per_s", Unit: "1/s", Better: Higher, Family: Statement, Label: "executed/s", Doc: "How often a statement of operations that were done was executed per second; the operation is the statement's name.", Formula: "executions ÷ duration_s"},
}

var sums = []Metric{
	{Name: "service_total_s", Unit: "s", Family: Service, Doc: "Sum of all service times: for how long the clients had an operation in progress, all together. ÷ operations it is the mean, which hides the tail."},
	{Name: "attempt_total_s", Unit: "s", Family: Attempt, Doc: "Sum of the times of attempts that succeeded, and of statements of failed ones that they went on behind. Where nothing failed it is service_total_s; else the difference is failed attempts and pauses."},
	{Name: "statement_total_s", Unit: "s", Family: Statement, Doc: "Sum of the times of a statement in operations that were done; ÷ attempt_total_s of these it is the statement's share of them."},
}

var arrivals = []Metric{
	{Name: "offered_per_s", Unit: "1/s", Family: Arrivals, Label: "arrived/s", Doc: "Operations that arrived at an open group per second of the group's own time, completed or not.", Formula: "arrivals ÷ the group's own time"},
	{Name: "shed", Unit: "count", Better: Lower, Family: Arrivals, Doc: "Operations that arrived at an open group and were dropped, the oldest first, because more waited than the queue may hold."},
	{Name: "abandoned", Unit: "count", Better: Lower, Family: Arrivals, Doc: "Operations of a group with a rate or with arrivals that were due and not done when the time was over: they waited, or were being tried again. They are in the response times with their age at the end, which is less than their response time would have been.", See: "method.md#coordinated-omission"},
	{Name: "queue_max", Unit: "count", Better: Lower, Family: Arrivals, Label: "longest queue", Doc: "How many arrived operations waited for a free client at most."},
	{Name: "highest_rate", Unit: "1/s", Better: Higher, Family: Arrivals, Label: "highest rate/s", Doc: "The highest tried rate of arrivals, in operations a second, at which the plan's promise was kept and the rate was held, by most of its probes. The step's notes have the interval and the rates tried. 0: none did.", See: "plan.md#finding-a-rate"},
}

var spread = []Metric{
	{Name: "fairness_ops_mean", Unit: "count", Family: Spread, Label: "ops per client", Doc: "Operations per client of a group, the mean over its clients."},
	{Name: "fairness_ops_stddev", Unit: "count", Better: Lower, Family: Spread, Label: "standard deviation", Doc: "Operations per client of a group, the standard deviation over its clients (of all of them, not of a sample): 0 is fair."},
}

var promises = []Metric{
	{Name: "sla_target", Unit: "1/s", Family: Promise, Doc: "Units a second promised by a group with a rate, all clients together; of an open group, operations that arrived."},
	{Name: "sla_share", Unit: "ratio", Better: Higher, Family: Promise, Doc: "Share of intervals in which at least 95 % of the promised rate was reached, within one operation of each client. Intervals too short for ten operations are joined; absent where the step is too short for that."},
	{Name: "sla_met", Unit: "bool", Better: Higher, Family: Promise, Doc: "1 if the group, over its own time and within one operation of each client, reached 95 % of what its schedule asked for (the promised rate, or less if a random schedule asked for less); otherwise 0: results of groups that ran next to a missed promise are not comparable."},
	{Name: "saturated", Unit: "bool", Better: Lower, Family: Promise, Doc: "1 if the promise was missed and lateness grew to the end: the promised rate is above what the engine can do."},
	{Name: "sla_achieved", Unit: "1/s", Family: Promise, Uncompared: true, Doc: "Units a second that a group with a rate did on average over its own time."},
	{Name: "sla_worst", Unit: "1/s", Family: Promise, Uncompared: true, Doc: "Units a second of a group with a rate in its worst interval."},
	{Name: "sla_backlog", Unit: "count", Family: Promise, Uncompared: true, Doc: "Units that were due by the planned end but not done by then."},
	{Name: "sla_lateness_s", Unit: "s", Family: Promise, Uncompared: true, Doc: "Greatest lateness of a group with a rate."},
}

// rules are the metrics of workloads that follow a standard, see workload.Rules.
var rules = []Metric{
	{Name: "ruled_p90_us", Unit: "µs", Better: Lower, Family: Promise, Label: "p90", Doc: "90th percentile of the times of an operation whose workload follows a standard that limits it: response times with a rate or arrivals, service times otherwise."},
	{Name: "rule_met", Unit: "bool", Better: Higher, Family: Promise, Label: "within the limit", Doc: "1 if ruled_p90_us is within the limit of the workload's standard, otherwise 0."},
	{Name: "ops_per_min", Unit: "1/min", Better: Higher, Family: Promise, Label: "operations/min", Doc: "Operations per minute of the window, of workloads whose standard counts so. Of new_order in tpcc it is what others call tpmC or NOPM; unaudited.", Formula: "operations ÷ duration_s × 60"},
	{Name: "efficiency", Unit: "ratio", Better: Higher, Family: Promise, Doc: "ops_per_min ÷ the most that the waits between operations allow; absent without waits."},
}

var costs = []Metric{
	{Name: "cpu_us", Unit: "µs", Better: Lower, Family: CPU, Label: "CPU µs", Per: PerUnit, Headline: Judged, Doc: "CPU time of the engine and its clients together: growth of the CPU clocks of the server's processes and of rumbench's own, or of an embedded engine of the one process that holds both. It is the number to compare embedded engines and servers by. Rows with a label subsystem split it by CPU samples."},
	{Name: "server_cpu_us", Unit: "µs", Better: Lower, Family: CPU, Label: "server CPU µs", Per: PerUnit, Split: true, Doc: "CPU time of the engine's processes: growth of their CPU clocks. For an embedded engine it is the process, and the clients are in it; so an embedded engine and a server are not compared by it, but by cpu_us."},
	{Name: "client_cpu_us", Unit: "µs", Better: Lower, Family: CPU, Label: "client CPU µs", Per: PerUnit, Split: true, Doc: "CPU time that the client itself needs. Beside a server: growth of the CPU clock of rumbench's own process, its driver and collectors included; of clients on other machines, the sum over their processes. For an embedded engine an estimate: measured by running the same clients on the null engine before the campaign. The two are not compared with each other."},
	{Name: "host_cpu_us", Unit: "µs", Better: Lower, Family: CPU, Label: "host CPU µs", Per: PerUnit, StandsIn: "cpu_us", Doc: "CPU time of the whole machine (user, nice, system, interrupts; not steal, not waiting)."},
	{Name: "context_switches", Unit: "count", Better: Lower, Family: CPU, Label: "context switches", Per: PerUnit, Doc: "Context switches of the whole machine."},
	{Name: "instructions", Unit: "count", Better: Lower, Family: CPU, Label: "instructions", Per: PerUnit, Doc: "Instructions of the engine's processes, kernel included, by the processors' own counters (PMU); of an embedded engine with its client. In profiled trials only, and absent without a PMU, as in most virtual machines, or if rumbench may not open it."},
	{Name: "cycles", Unit: "count", Better: Lower, Family: CPU, Label: "cycles", Per: PerUnit, Doc: "Cycles of the engine's processes, kernel included, by the processors' own counters (PMU); of an embedded engine with its client. In profiled trials only, and absent without a PMU, as in most virtual machines, or if rumbench may not open it."},
	{Name: "llc_misses", Unit: "count", Better: Lower, Family: CPU, Label: "LLC misses", Per: PerUnit, Doc: "Misses of the last level cache of the engine's processes, kernel included, by the processors' own counters (PMU); of an embedded engine with its client. In profiled trials only, and absent without a PMU, as in most virtual machines, or if rumbench may not open it."},
	{Name: "dtlb_misses", Unit: "count", Better: Lower, Family: CPU, Label: "dTLB misses", Per: PerUnit, Doc: "Misses of the data TLB by reads of the engine's processes, kernel included, by the processors' own counters (PMU); of an embedded engine with its client. In profiled trials only, and absent without a PMU, as in most virtual machines, or if rumbench may not open it."},
	{Name: "device_reads", Unit: "count", Better: Lower, Family: Storage, Label: "device reads", Per: PerUnit, Doc: "Read requests that the device under the data directory completed."},
	{Name: "read_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "read KB", Per: PerUnit, Headline: Judged, Doc: "KB read from the device (1 KB = 1024 bytes)."},
	{Name: "write_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "written KB", Per: PerWritten, Headline: Judged, Doc: "KB written to the device, from the start of the window until everything dirty was synced after it. Discards are not in it, nor rumbench's own series and latency files."},
	{Name: "deferred_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "deferred KB", Per: PerWritten, Doc: "KB of changes that the engine put off beyond the end of the window: the growth of dirty_bytes, 0 where it shrank. They are not in write_kb. Where they are more than a tenth of it, and than 128 KB, write_kb is marked as a lower bound."},
	{Name: "debt_growth_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "debt growth KB", Per: PerWritten, Doc: "KB by which the work grew in the window that compactions have still to do; 0 where it shrank. Dirty pages, logs and memtables are bounded, and not in it. Where it is more than a tenth of what was written, and than 128 KB, rates and latencies are marked: they were kept on credit."},
	{Name: "journal_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "journal KB", Per: PerWritten, Doc: "KB of write_kb that the engine's commits and syncs caused without being the engine's own: the file system's journal and metadata. An estimate; 0 where it is negative.", Formula: "written by the device − caused by the engine's processes − caused by other processes − rumbench's own files", See: "method.md#device-or-process"},
	{Name: "discard_kb", Unit: "KB", Family: Storage, Label: "discarded KB", Per: PerWritten, Doc: "KB discarded (trimmed) on the device."},
	{Name: "media_write_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "media KB", Per: PerWritten, Doc: "KB that the NVMe drive wrote to its media, for the host and for its own housekeeping, until everything dirty was synced: of the whole drive. Absent unless the drive reports it (OCP page C0h) and rumbench may ask (root).", See: "method.md#what-a-rate-stands-for"},
	{Name: "process_read_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "process read KB", Per: PerUnit, StandsIn: "read_kb", Doc: "KB that the engine's processes caused to be read from storage (/proc/PID/io read_bytes)."},
	{Name: "process_write_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "process written KB", Per: PerWritten, StandsIn: "write_kb", Doc: "KB that the engine's processes dirtied for storage (/proc/PID/io write_bytes − cancelled_write_bytes), for an embedded engine less rumbench's own series and latency files. A page dirtied again before it was written counts once."},
	{Name: "after_write_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "written afterwards KB", Doc: "KB written to the device (or, without a device, by the engine's processes) between the end of the step, when everything dirty was synced, and the beginning of the next, less the result file: background work of the engine that is in no window. Of the whole step."},
	{Name: "write_amplification", Unit: "ratio", Better: Lower, Family: Storage, Label: "write amplification", Doc: "Bytes written to the device (or, without a device, by the engine's processes) for each user byte inserted or updated, index entries included.", Formula: "bytes written ÷ user bytes inserted or updated"},
	{Name: "read_amplification", Unit: "ratio", Better: Lower, Family: Storage, Label: "read amplification", Doc: "Bytes read from the device for each user byte that queries returned.", Formula: "bytes read ÷ user bytes returned"},
	{Name: "media_ratio", Unit: "ratio", Better: Lower, Family: Storage, Label: "media ÷ written", Doc: "The drive's write amplification: bytes that the NVMe drive wrote to its media for each byte that it was sent, both by its own counters; absent below 64 MiB.", Formula: "media written ÷ host written"},
	{Name: "device_temperature_c", Unit: "°C", Family: Storage, Label: "drive's temperature", Doc: "Composite temperature of the NVMe drive after the step; of several, the highest."},
	{Name: "server_memory_bytes", Unit: "B", Better: Lower, Family: Memory, Label: "memory (PSS)", Doc: "Proportional set size (PSS) of the engine's processes after the sync that follows the window, before the database is read to check it. For an embedded engine the client is in it, and the mapped part of the page cache."},
	{Name: "server_runqueue_us", Unit: "µs", Better: Lower, Family: Waits, Label: "run-queue delay µs", Per: PerUnit, Doc: "Run-queue delay of the server: time for which its threads were ready to run and waited for CPU. Threads that began or ended in the window are not in it, nor the client's.", See: "why.md#waits"},
	{Name: "cpu_accounted", Unit: "ratio", Family: CPU, Label: "CPU accounted for", Doc: "Share of the machine's CPU time that the engine's processes, the client and the kernel's threads used; 1: no other program used CPU. host_cpu_us is too coarse for this: it counts ticks. Of the whole step.", Formula: "their CPU time ÷ (elapsed time × processors − idle − waiting − stolen)", See: "method.md#cpu-of-server-and-client"},
	{Name: "others_read_kb", Unit: "KB", Family: Storage, Label: "others read KB", Doc: "KB that all other processes of the machine read from storage during the step, from any device; of the whole step."},
	{Name: "others_write_kb", Unit: "KB", Family: Storage, Label: "others written KB", Doc: "KB that all other processes of the machine caused to be written during the step, to any device; of the whole step. Kernel threads are not among them."},
	{Name: "drain_s", Unit: "s", Better: Lower, Family: Storage, Label: "drain s", Doc: "Time to sync everything dirty to the device after the window. Of the whole step."},
	{Name: "client_gc_pause_ms", Unit: "ms", Better: Lower, Family: Client, Label: "client GC ms", Doc: "Total stop-the-world time of rumbench's own garbage collector in the window."},
	{Name: "client_sched_p99_us", Unit: "µs", Better: Lower, Family: Client, Label: "client sched p99 µs", Doc: "99th percentile of the time that a runnable goroutine of rumbench waited for a processor."},
}

var settled = []Metric{
	{Name: "unsettled_write_kb", Unit: "KB", Better: Lower, Family: Storage, Per: PerWritten, Doc: "Of a settle step: KB that the steps since the last rest wrote per row that they wrote. What they put off is not in it."},
	{Name: "settled_write_kb", Unit: "KB", Better: Lower, Family: Storage, Per: PerWritten, Doc: "Of a settle step: as unsettled_write_kb, with what was written between the steps and by the settle step itself: what a row cost in the end."},
}

var restarts = []Metric{
	{Name: "stop_s", Unit: "s", Better: Lower, Family: Restarts, Label: "stop s", Doc: "Time of a clean stop of the engine. Of the whole step.", See: "plan.md#restarts"},
	{Name: "start_s", Unit: "s", Better: Lower, Family: Restarts, Label: "start s", Doc: "Time from the start of the engine until it answers. Of the whole step."},
	{Name: "warm_s", Unit: "s", Better: Lower, Family: Restarts, Label: "warm after s", Doc: "Time after a restart until the rate reaches 95 % of its last level, the median of the intervals in the last third of the step: the beginning of the first interval that does, with one of the next two. Only without a rate, and if the rate was level in that third.", See: "plan.md#restarts"},
	{Name: "warm_read_kb", Unit: "KB", Better: Lower, Family: Storage, Label: "read until warm KB", Doc: "KB read from the device (or, without a device, by the engine's processes) until warm_s. Of the whole step."},
	{Name: "first_minute_p99_us", Unit: "µs", Better: Lower, Family: Restarts, Label: "p99 of first minute", Doc: "99th percentile of the primary operation in the first minute after a restart: of response times if operations have a rate, else of service times. Only of steps that last a minute."},
}

var engines = []Metric{
	{Name: "engine_write_kb", Unit: "KB", Better: Lower, Family: Engine, Label: "written KB", Per: PerWritten, Doc: "KB that the engine reports to have written, data and logs: the growth of its own counters. What lies below it (journal, padding, pages half filled) is not in it."},
	{Name: "engine_read_kb", Unit: "KB", Better: Lower, Family: Engine, Label: "read KB", Per: PerUnit, Doc: "KB that the engine reports to have read, for operations and background work. PostgreSQL reports it from version 16 on."},
	{Name: "part_kb", Unit: "KB", Family: Engine, Label: "of them", Per: PerWritten, Doc: "Parts of what the engine writes, by its own counters; the part is shown as the operation kind. Pages in the log are those logged whole, at most."},
	{Name: "rows_examined", Unit: "count", Family: Engine, Label: "rows examined", Per: PerUnit, Doc: "Rows and index entries that the storage handed to statements, by the server's counters."},
	{Name: "cache_misses", Unit: "count", Family: Engine, Label: "cache misses", Per: PerUnit, Doc: "Pages or blocks that were not in the engine's cache. They may come from the page cache; some engines count those of compactions, too."},
	{Name: "log_syncs", Unit: "count", Family: Engine, Label: "log syncs", Per: PerWritten, Doc: "Syncs of the redo or write-ahead log, by the engine's own counters. A group of commits needs one."},
	{Name: "row_lookups", Unit: "count", Better: Lower, Family: Engine, Label: "row look-ups", Per: PerUnit, Doc: "Rows and index entries that operations read by their key, before they wrote them or behind an index entry: of embedded key-value engines. Their options updates, upserts and indexes avoid some."},
	{Name: "engine_write_amplification", Unit: "ratio", Better: Lower, Family: Engine, Label: "write amplification", Doc: "Bytes that the engine reports to have written for each user byte inserted or updated, index entries included.", Formula: "bytes written by the engine's counters ÷ user bytes inserted or updated"},
	{Name: "cache_hit_ratio", Unit: "ratio", Better: Higher, Family: Engine, Label: "cache hits", Doc: "Share of the lookups in the engine's own cache that found what they looked for, for operations, as far as the engine counts those apart from its background work; a miss may still be found in the page cache. PostgreSQL reports it from version 16 on.", Formula: "1 − misses ÷ lookups"},
	{Name: "dirty_bytes", Unit: "B", Family: Engine, Label: "dirty", Doc: "Changed pages, or rows in memory, that the engine had still to write at the end of the step."},
	{Name: "compaction_debt_bytes", Unit: "B", Family: Engine, Label: "compaction debt", Doc: "Bytes that background merges had still to rewrite at the end of the step, as the engine reports or by its levels' scores: Σ bytes of a level × (1 − 1 ÷ score) where the score is above 1."},
	{Name: "checkpoint_age_bytes", Unit: "B", Family: Engine, Label: "checkpoint age", Doc: "Log written since the last checkpoint at the end of the step: what recovery would have to read."},
	{Name: "engine_stalls", Unit: "count", Better: Lower, Family: Engine, Label: "stalls", Doc: "How often the engine reports to have held up writes in the window."},
	{Name: "engine_stall_s", Unit: "s", Better: Lower, Family: Engine, Label: "stalled s", Doc: "For how long the engine reports to have held up writes in the window, all sessions together."},
}

var space = []Metric{
	{Name: "live_rows", Unit: "count", Family: Space, Label: "live rows", Doc: "Rows in the database at the end of the step."},
	{Name: "live_bytes", Unit: "B", Family: Space, Label: "live data", Doc: "User bytes alive at the end of the step: values of all rows plus columns and key of all index entries, without overhead."},
	{Name: "db_bytes", Unit: "B", Family: Space, Label: "on disk", JudgedBy: "space_amplification", Doc: "Allocated bytes of the data directory at the end of the step, logs included. Of an attached server: the size of tables and indexes that it reports. It is shown and not judged, as it holds logs and files of a size of their own; see space_amplification."},
	{Name: "data_bytes", Unit: "B", Family: Space, Label: "tables and indexes", JudgedBy: "space_amplification", Doc: "Of db_bytes, the files of tables and indexes, where the engine's files can be distinguished."},
	{Name: "log_bytes", Unit: "B", Family: Space, Label: "logs", JudgedBy: "space_amplification", Doc: "Of db_bytes, redo, write-ahead and binary logs, where the engine's files can be distinguished."},
	{Name: "space_amplification", Unit: "ratio", Better: Lower, Family: Space, Label: "space amplification", Headline: Judged, Doc: "Bytes of the files of tables and indexes, and of what all other files but redo logs hold beyond those of the empty server, ÷ live_bytes; db_bytes ÷ live_bytes where its files cannot be distinguished. Old versions of rows are in it wherever they are kept; redo logs, whose length is a setting, are not. Of a server that was attached to, tables and indexes only.", See: "decisions/0002-what-writes-and-space-contain.md"},
	{Name: "space_part", Unit: "ratio", Family: Space, Label: "of it", Doc: "Parts of space_amplification, which sum to it, by the class of files, which is shown as the operation kind: data (tables and indexes), and what log, system (undo, old row versions) and temp files hold beyond those of the empty server.", See: "method.md#space-and-memory"},
}

var waits = []Metric{
	{Name: "wait_share", Unit: "ratio", Family: Waits, Doc: "Share of the sessions' time in the window by role, which is shown as the operation kind: sampled every 100 ms. Sessions that rest because their clients keep to a rate are left out. All roles of a step sum to 1; one that was not seen has no row.", See: "why.md#waits"},
	{Name: "wait_us", Unit: "µs", Family: Waits, Per: PerUnit, Doc: "Time of sessions by role. Sampled: a role seen n times is known to about n ± 2√n.", Formula: "the role's wait_share × sessions × window ÷ units"},
	{Name: "timed_wait_us", Unit: "µs", Family: Waits, Per: PerUnit, Doc: "Time for which sessions waited, by role, as the server timed it itself. Times of waits that sampling cannot see are in it, times on a processor are not.", See: "why.md#waits"},
	{Name: "thread_us", Unit: "µs", Family: Waits, Per: PerUnit, Doc: "Time of the threads that serve sessions, by activity, which is shown as the operation kind. Counted by the kernel, not sampled; all of a step sum to sessions × window ÷ units.", See: "why.md#how-a-difference-is-split"},
	{Name: "busiest_thread", Unit: "ratio", Family: Waits, Doc: "Share of the window for which the thread of the server that ran most ran; its name is shown as the operation kind. Near 1 that thread is a limit, however many processors there are. Counted by the kernel.", See: "why.md#what-limits"},
	{Name: "client_share", Unit: "ratio", Family: Waits, Label: "client’s share", Doc: "Share of the time of sessions in closed loops in which the server waited for its client: sampled every 100 ms. Servers only. With one client it is the client's part of the round trip.", See: "why.md#waits"},
}

// parts are figures of single machines and of tables, as their labels say, and what searches for a rate ask for.
// Other metrics have numbers of parts, too.
var parts = []Metric{
	{Name: "object_bytes", Unit: "B", Family: Space, Uncompared: true, Doc: "Size of a table or an index, or of the whole database, as the engine reports it; a warning marks estimates."},
	{Name: "debt_growth_share", Unit: "ratio", Family: Storage, Uncompared: true, Doc: "Growth of the work that compactions have still to do, as a share of the bytes written in the window; 0 where it is below 128 KB. Searches for a rate have a limit of it.", See: "plan.md#finding-a-rate"},
	{Name: "processors_busy", Unit: "ratio", Family: CPU, Uncompared: true, Label: "processors busy", Doc: "Share of the machine's processors that was busy in the window, of all programs."},
	{Name: "network_busy", Unit: "ratio", Family: Client, Uncompared: true, Label: "network busy", Doc: "Share of the speed of the machine's busiest network interface."},
	{Name: "network_sent_kb", Unit: "KB", Family: Client, Per: PerUnit, Uncompared: true, Label: "sent KB", Doc: "KB that all network interfaces of the machine sent, without what it sent to itself."},
	{Name: "network_received_kb", Unit: "KB", Family: Client, Per: PerUnit, Uncompared: true, Label: "received KB", Doc: "KB that all network interfaces of the machine received, without what it sent to itself."},
	{Name: "segments_resent", Unit: "count", Family: Client, Uncompared: true, Label: "sent again", Doc: "TCP segments that the machine sent again."},
	{Name: "round_trip_us", Unit: "µs", Family: Client, Uncompared: true, Label: "round trip", Doc: "Median of the least round trips of the machine's connections to the server, as its kernel measured them."},
	{Name: "round_trip_min_us", Unit: "µs", Family: Client, Uncompared: true, Label: "network at least", Doc: "Least round trip of the machine's connections to the server, as its kernel measured it: no operation can take less."},
	{Name: "client_runqueue_us", Unit: "µs", Family: Client, Per: PerUnit, Uncompared: true, Doc: "Time for which threads of rumbench on the machine were ready to run and waited for a processor."},
	{Name: "clock_error_ms", Unit: "ms", Family: Client, Uncompared: true, Label: "clock within", Doc: "Bound of the error of the machine's clock against the coordinator's."},
	{Name: "start_late_ms", Unit: "ms", Family: Client, Uncompared: true, Doc: "How long after the common start the machine's clients began."},
	{Name: "counted_apart_ms", Unit: "ms", Family: Client, Uncompared: true, Label: "counted within", Doc: "By how much the counts of the machine may have been read earlier or later than those of the cluster's first."},
	{Name: "sessions", Unit: "count", Family: Client, Uncompared: true, Label: "sessions", Doc: "Sessions of clients that the machine of a server was dealt."},
}
