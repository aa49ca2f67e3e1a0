// Package metric is the catalogue of everything that rumbench measures: what each
// metric means, the rows that hold its values, and the warnings that limit their
// use. It measures nothing and reads no files.
package metric

// Metric documents a metric. The glossary, the tables' hover texts and `list
// metrics` are made of it.
type Metric struct {
	Name   string
	Unit   string
	Better string // "higher", "lower" or "" where neither is better
	Doc    string // what it means, with its formula
}

// All returns all metrics that rows may hold.
func All() []Metric { return metrics }

// ByName returns the metric of that name, nil if there is none.
func ByName(name string) *Metric {
	for i := range metrics {
		if metrics[i].Name == name {
			return &metrics[i]
		}
	}
	return nil
}

const (
	higher = "higher"
	lower  = "lower"
)

var metrics = []Metric{
	{"duration_s", "s", lower, "Length of the measured window: from the barrier at which all clients start to the end of the last attempt at an operation that began in it; of a step that its time ended, at least that time."},
	{"ops_per_s", "1/s", higher, "Operations completed divided by the length of the window. Failed operations are not counted."},
	{"rows_per_s", "1/s", higher, "Units done (rows inserted, deleted or indexed; queries) divided by the length of the window."},
	{"rows", "count", "", "Units done in the window."},
	{"errors", "count", lower, "Operations that failed, by class in the warnings; they count neither as done nor in latencies."},
	{"errors_conflict", "count", lower, "Attempts that failed because another transaction was in the way and what had been read was not so any more (serialization failures)."},
	{"errors_deadlock", "count", lower, "Attempts that failed because they and others waited for each other."},
	{"errors_lock_timeout", "count", lower, "Attempts that failed because a lock was not to be had, or not in the time that the server allows."},
	{"errors_timeout", "count", lower, "Attempts that took too long and were given up."},
	{"errors_duplicate", "count", lower, "Attempts that failed because a key existed."},
	{"errors_gone", "count", lower, "Attempts that failed because the database or its server was not there any more."},
	{"errors_fatal", "count", lower, "Attempts that failed for any other reason."},
	{"attempts", "count", "", "Attempts at operations, those that failed included. Only where some failed."},
	{"retries", "count", lower, "Attempts that were not an operation's first one."},
	{"given_up", "count", lower, "Operations that were given up: after their greatest number of attempts, or at once, as the workload's retry policy says. They are not operations done; failed_p50_us and its like tell for how long they were tried."},
	{"unfinished", "count", lower, "Operations that were neither done nor given up when the step ended: their last attempt had failed, or was cut off."},
	{"wasted_statements", "count", lower, "Statements executed in attempts that failed. They are not among queries_per_s."},
	{"queries_per_s", "1/s", higher, "Statements executed by operations that were done, divided by the length of the window: reads_per_s + writes_per_s + others_per_s."},
	{"reads_per_s", "1/s", higher, "Of queries_per_s, statements that read."},
	{"writes_per_s", "1/s", higher, "Of queries_per_s, statements that changed something."},
	{"others_per_s", "1/s", "", "Of queries_per_s, all else: begin, commit, rollback, and writes that found nothing to change."},
	{"statements_per_s", "1/s", higher, "How often a statement of operations that were done was executed, divided by the length of the window; the operation is the statement's name."},
	{"fairness_ops_mean", "count", "", "Operations per client of a group, the mean over its clients."},
	{"fairness_ops_stddev", "count", lower, "Operations per client of a group, the standard deviation over its clients (of all of them, not of a sample): 0 is fair."},
	{"rows_found", "count", "", "Rows that an operation found, or changed, on average: rows returned or counted by the engine ÷ operations. At most those expected, where each operation has a number of its own."},
	{"rows_expected", "count", "", "Rows that an operation had to find on average, if the database holds what the workload has put there; absent where the workload cannot know it."},
	{"found_share", "ratio", "", "Rows found ÷ rows expected. Below 0.99 rates and times carry a warning: what is not there costs less. Below 0.9 the step is not compared."},
	{"offered_per_s", "1/s", "", "Operations that arrived at an open group divided by the group's own time, whatever became of them."},
	{"shed", "count", lower, "Operations that arrived at an open group and were dropped, the oldest first, because more waited than the queue may hold."},
	{"abandoned", "count", lower, "Operations of a group with a rate or with arrivals that were due and not done when the time was over: they waited, or were being tried again. They are in the response times with their age at the end, which is less than their response time would have been."},
	{"queue_max", "count", lower, "How many arrived operations waited for a free client at most."},
	{"highest_rate", "1/s", higher, "The highest tried rate of arrivals, in operations a second, at which the plan's promise was kept and the rate was held; the step's notes tell the rates tried and the lowest that broke it. 0: every rate that was tried broke it."},
	{"interval_ops_p50", "1/s", higher, "Units a second that 50 % of the intervals reached or exceeded."},
	{"interval_ops_p95", "1/s", higher, "Units a second that 95 % of the intervals reached or exceeded: the slow tail."},
	{"interval_ops_p99", "1/s", higher, "Units a second that 99 % of the intervals reached or exceeded: the slow tail. Needs ten intervals."},
	{"relative_to_before", "ratio", higher, "Units a second of the step, divided by those of the earlier step that did the same before the data were changed: 0.8 is a fifth slower."},
	{"service_mean_us", "µs", lower, "Mean service time: it hides the tail. Only of imported logs that tell nothing better."},
	{"service_p50_us", "µs", lower, "Median service time: end of the operation − its actual start. Of an operation that was tried again, from the start of its first attempt: what its user waited, pauses included."},
	{"service_p95_us", "µs", lower, "95th percentile of service time."},
	{"service_p99_us", "µs", lower, "99th percentile of service time."},
	{"service_p999_us", "µs", lower, "99.9th percentile of service time."},
	{"service_max_us", "µs", lower, "Greatest service time."},
	{"response_p50_us", "µs", lower, "Median response time: end of the operation − its intended start. Only where a rate was promised or operations arrive by a schedule; it contains the time an operation waited because earlier ones were slow (no coordinated omission). Operations that were due and not done count with their age at the end of the step."},
	{"response_p95_us", "µs", lower, "95th percentile of response time."},
	{"response_p99_us", "µs", lower, "99th percentile of response time."},
	{"response_p999_us", "µs", lower, "99.9th percentile of response time."},
	{"response_max_us", "µs", lower, "Greatest response time."},
	{"service_min_us", "µs", "", "Least service time."},
	{"service_total_s", "s", "", "Sum of all service times: for how long the clients had an operation in progress, all together. ÷ operations it is the mean, which hides the tail."},
	{"response_min_us", "µs", "", "Least response time."},
	{"response_total_s", "s", "", "Sum of all response times."},
	{"statement_total_s", "s", "", "Sum of the times of a statement in operations that were done; ÷ attempt_total_s of these it is the statement's share of them."},
	{"attempt_total_s", "s", "", "Sum of the times of attempts that succeeded, and of statements of failed ones that they went on behind. Where nothing failed it is service_total_s; else the difference is failed attempts and pauses."},
	{"attempt_p50_us", "µs", lower, "Median time of the attempt that succeeded, without the failed ones and the pauses before it. Only where some failed."},
	{"attempt_p95_us", "µs", lower, "95th percentile of the time of the attempt that succeeded."},
	{"attempt_p99_us", "µs", lower, "99th percentile of the time of the attempt that succeeded."},
	{"attempt_p999_us", "µs", lower, "99.9th percentile of the time of the attempt that succeeded."},
	{"attempt_max_us", "µs", lower, "Greatest time of the attempt that succeeded."},
	{"failed_p50_us", "µs", lower, "Median time of operations that were given up: from the start of the first attempt to giving up, pauses included. They are in no other latency. Only where some were given up."},
	{"failed_p99_us", "µs", lower, "99th percentile of the time of operations that were given up."},
	{"failed_max_us", "µs", lower, "Greatest time of operations that were given up."},
	{"statement_p50_us", "µs", lower, "Median time of a statement of operations that were done, seen from the client; the operation is the statement's name."},
	{"statement_p95_us", "µs", lower, "95th percentile of the time of a statement."},
	{"statement_p99_us", "µs", lower, "99th percentile of the time of a statement."},
	{"statement_p999_us", "µs", lower, "99.9th percentile of the time of a statement."},
	{"statement_max_us", "µs", lower, "Greatest time of a statement."},
	{"lateness_p99_us", "µs", lower, "99th percentile of lateness: actual start − intended start. Only where a rate was promised or operations arrive by a schedule."},
	{"lateness_max_us", "µs", lower, "Greatest lateness."},
	{"stalls", "count", lower, "Stalled stretches. Without a rate: runs of intervals with no completed operation, or under 10 % of the step's median; not known where a usual interval holds fewer than three operations. With a rate: runs of intervals with no completed operation although one was due before they began."},
	{"stall_s", "s", lower, "Total length of stalled intervals."},
	{"stall_longest_s", "s", lower, "Longest run of stalled intervals."},
	{"sla_target", "1/s", "", "Units a second promised by a group with a rate, all clients together; of an open group, operations that arrived."},
	{"sla_share", "ratio", higher, "Share of intervals in which at least 95 % of the promised rate was reached, give or take one operation of each client. Intervals too short for ten operations are joined."},
	{"sla_met", "bool", higher, "1 if the group, over its own time and give or take one operation of each client, reached 95 % of what its schedule asked for; otherwise 0: results of groups beside a missed promise are not comparable."},
	{"saturated", "bool", lower, "1 if the promise was missed and lateness grew to the end: the promised rate is above what the engine can do."},
	{"cpu_us", "µs", lower, "CPU time of the engine and its clients together per unit: growth of the CPU clocks of the server's processes and of rumbench's own, or of an embedded engine of the one process that holds both, ÷ units. It is the number to compare embedded engines and servers by."},
	{"server_cpu_us", "µs", lower, "CPU time of the engine's processes per unit: growth of their CPU clocks ÷ units. For an embedded engine it is the process, and the clients are in it; so an embedded engine and a server are not compared by it, but by cpu_us."},
	{"client_cpu_us", "µs", lower, "CPU time that the client itself needs per unit. Beside a server: growth of the CPU clock of rumbench's own process, its driver and collectors included. For an embedded engine an estimate: measured by running the same clients on the null engine before the campaign. The two are not compared with each other."},
	{"host_cpu_us", "µs", lower, "CPU time of the whole machine per unit (user, nice, system, interrupts; not steal, not waiting)."},
	{"cpu_accounted", "ratio", "", "CPU time of the engine's processes, of the client and of the kernel's threads in the window ÷ the time for which the processors were not idle (elapsed time × processors − idle − waiting − stolen). 1: nobody else computed. host_cpu_us is no good for this: it is counted by ticks."},
	{"device_reads", "count", lower, "Read requests that the device under the data directory completed, per unit."},
	{"read_kb", "KB", lower, "KB read from the device per unit (1 KB = 1024 bytes)."},
	{"write_kb", "KB", lower, "KB written to the device per unit, from the start of the window until everything dirty was synced after it. Discards are not in it."},
	{"after_write_kb", "KB", lower, "KB written to the device (or, without a device, by the process) between the end of the step, when everything dirty was synced, and the beginning of the next: background work of the engine that is in no window."},
	{"deferred_kb", "KB", lower, "KB of changes, per unit, that the engine put off beyond the end of the window: the growth of dirty_bytes, 0 where it shrank. They are not in write_kb. Where they are more than a tenth of it, and than 128 KB, write_kb is marked as a lower bound."},
	{"unsettled_write_kb", "KB", lower, "Of a settle step: KB that the steps since the last rest wrote per row that they wrote. What they put off is not in it."},
	{"settled_write_kb", "KB", lower, "Of a settle step: as unsettled_write_kb, with what was written between the steps and by the settle step itself: what a row cost in the end."},
	{"discard_kb", "KB", "", "KB discarded (trimmed) on the device per unit."},
	{"process_read_kb", "KB", lower, "KB that the process caused to be read from storage per unit (/proc/PID/io read_bytes)."},
	{"process_write_kb", "KB", lower, "KB that the process dirtied for storage per unit (/proc/PID/io write_bytes − cancelled_write_bytes). A page dirtied again before it was written counts once."},
	{"journal_kb", "KB", lower, "KB of write_kb that the engine's commits and syncs caused without being the engine's own: the file system's journal and metadata, per unit. An estimate: written by the device − caused by the engine's processes − caused by other processes − rumbench's own files; 0 where that is negative."},
	{"others_write_kb", "KB", "", "KB that all other processes of the machine caused to be written meanwhile, to whatever device; of the whole step. Kernel threads are not among them."},
	{"others_read_kb", "KB", "", "KB that all other processes of the machine read from storage meanwhile, from whatever device; of the whole step."},
	{"engine_write_kb", "KB", lower, "KB that the engine says it wrote per unit, data and logs: the growth of its own counters ÷ units. What lies below it (journal, padding, pages half filled) is not in it."},
	{"engine_read_kb", "KB", lower, "KB that the engine says it read per unit, for operations and background work."},
	{"context_switches", "count", lower, "Context switches of the whole machine per unit."},
	{"live_rows", "count", "", "Rows in the database at the end of the step."},
	{"live_bytes", "B", "", "User bytes alive at the end of the step: values of all rows plus columns and key of all index entries, without overhead."},
	{"db_bytes", "B", "", "Allocated bytes of the data directory at the end of the step, logs included. Of a server that was attached to: what it says that its tables and indexes take. It is shown and not judged, as it holds logs and files of a size of their own; see space_amplification."},
	{"data_bytes", "B", "", "Of db_bytes, the files of tables and indexes, where the engine can tell its files apart."},
	{"log_bytes", "B", "", "Of db_bytes, redo, write-ahead and binary logs, where the engine can tell its files apart."},
	{"space_amplification", "ratio", lower, "Bytes of the files of tables and indexes, and of what all other files but redo logs hold beyond those of the empty server, ÷ live_bytes; db_bytes ÷ live_bytes where the engine cannot tell its files apart. Old versions of rows are in it wherever they are kept; redo logs, whose length is a setting, are not."},
	{"write_amplification", "ratio", lower, "Bytes written to the device (or, without a device, by the process) ÷ user bytes inserted or updated, index entries included."},
	{"engine_write_amplification", "ratio", lower, "Bytes that the engine says it wrote ÷ user bytes inserted or updated, index entries included."},
	{"read_amplification", "ratio", lower, "Bytes read from the device ÷ user bytes that queries returned."},
	{"cache_hit_ratio", "ratio", higher, "1 − misses ÷ lookups of the engine's own cache in the window, for operations, as far as the engine tells those from its background work."},
	{"dirty_bytes", "B", "", "Changed pages, or rows in memory, that the engine had still to write at the end of the step."},
	{"compaction_debt_bytes", "B", "", "Bytes that background merges had still to rewrite at the end of the step, as the engine tells or by its levels' scores: Σ bytes of a level × (1 − 1 ÷ score) where the score is above 1."},
	{"checkpoint_age_bytes", "B", "", "Log written since the last checkpoint at the end of the step: what recovery would have to read."},
	{"engine_stalls", "count", lower, "How often the engine says it held up writes in the window."},
	{"engine_stall_s", "s", lower, "For how long the engine says it held up writes in the window, all sessions together."},
	{"server_memory_bytes", "B", lower, "Proportional set size (PSS) of the engine's processes at the end of the step. For an embedded engine the client is in it, and the mapped part of the page cache."},
	{"drain_s", "s", lower, "Time to sync everything dirty to the device after the window."},
	{"client_share", "ratio", "", "Share of the time of sessions in closed loops in which the server waited for its client: sampled every 100 ms. Servers only. With one client it is the client's part of the round trip; see docs/waits.md for when the client is called the bottleneck."},
	{"server_line_us", "µs", lower, "Time for which threads of the server were ready to run and stood in line for a processor, per unit. Threads that began or ended in the window are not in it, nor the client's."},
	{"think_share", "ratio", "", "Share of the clients' time in the window in which they had no operation in progress: 1 − sum of the times of operations, those given up or unfinished included, ÷ (clients × window). They made rows, waited for their time, for each other, or had done their work."},
	{"wait_share", "ratio", "", "Share of the sessions' time in the window by role, which stands for the operation kind: sampled every 100 ms. Sessions that rest because their clients keep to a rate are left out. All roles of a step sum to 1; one that was not seen has no row."},
	{"wait_us", "µs", "", "Time of sessions by role per unit: the role's wait_share × sessions × window ÷ units. Sampled: a role seen n times is known to about n ± 2√n."},
	{"timed_wait_us", "µs", "", "Time for which sessions waited, by role, per unit, as the server timed it itself; see docs/waits.md for which servers do. Times of waits that sampling cannot see are in it, times on a processor are not."},
	{"client_gc_pause_ms", "ms", lower, "Total stop-the-world time of rumbench's own garbage collector in the window."},
	{"client_sched_p99_us", "µs", lower, "99th percentile of the time that a runnable goroutine of rumbench waited for a processor."},
}
