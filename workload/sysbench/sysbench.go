// Package sysbench is the OLTP suite of sysbench: its tables, its transactions statement
// by statement, the microbenchmarks that Mark Callaghan runs on the same tables, and
// Dimitri Kravtchuk's variants about the cost of isolation levels.
//
// docs/sysbench.md has the sources, and the differences of this implementation.
package sysbench

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"rumbench/model"
	"rumbench/workload"
)

// Workload is the workload, for the registry.
type Workload struct{}

// Info describes the workload.
func (Workload) Info() workload.Info {
	return workload.Info{
		Name:    "sysbench",
		Doc:     "The OLTP suite of sysbench: point and range reads, updates, inserts and deletes, alone and in transactions, at any number of clients.",
		Params:  params,
		Presets: presets,
	}
}

// The values of parameter table_draw.
const (
	drawTransaction = "transaction"
	drawBlock       = "block"
	drawStatement   = "statement"
)

var distributions = []string{uniform, gaussian, gaussian2016, special, special2016, pareto, zipfian}

var params = []workload.Param{
	{Name: "tests", Type: workload.StringsParam, Later: true, Default: []string{"oltp_read_write"}, Doc: "the tests to run after the load, in this order; docs/sysbench.md describes them: " + strings.Join(testNames(), ", ") + "; N is a number. A suffix after a dot distinguishes steps: point-query.pre; settle is a settle step"},
	{Name: "tables", Type: workload.IntsParam, Default: []int64{1}, Min: 1, Max: 1024, Doc: "number of tables; with several numbers the greatest, and each test is run with each of them, on the first tables"},
	{Name: "table_size", Type: workload.IntParam, Default: int64(10_000), Unit: "rows", Min: 1, Max: math.MaxInt32, Doc: "rows of a table, and the range of ids and of values of k"},
	{Name: "clients", Type: workload.IntsParam, Later: true, Default: []int64{1}, Min: 1, Max: 4096, Doc: "number of clients; with several numbers each test is run with each"},
	{Name: "ratios", Type: workload.IntsParam, Later: true, Default: []int64{128, 16, 4, 2, 1}, Min: 1, Max: 1 << 20, Doc: "for tests ratio and ratio-points: transactions per writing one (rw_mode skip), or reads per transaction (repeat)"},
	{Name: "rw_mode", Type: workload.StringParam, Later: true, Default: "skip", Enum: []string{"skip", "repeat"}, Doc: "how a ratio of reads to writes is implemented: most transactions do not write (skip), or all read several times before they write (repeat: they take longer)"},
	{Name: "read_seconds", Type: workload.FloatParam, Later: true, Default: 60.0, Unit: "s", Min: 0.1, Doc: "duration of read steps and of write-only"},
	{Name: "write_seconds", Type: workload.FloatParam, Later: true, Default: 60.0, Unit: "s", Min: 0.1, Doc: "duration of the other steps"},
	{Name: "warmup_seconds", Type: workload.FloatParam, Later: true, Default: 0.0, Unit: "s", Min: 0, Doc: "duration of a warmup step NAME.warmup before each step; 0: none"},
	{Name: "events", Type: workload.IntParam, Later: true, Default: int64(0), Unit: "per client", Min: 0, Doc: "transactions of each client, whatever their duration; 0: steps are limited by time"},
	{Name: "distribution", Type: workload.StringParam, Default: uniform, Enum: distributions, Doc: "distribution of ids, and of k when rows are generated; names with a version are as in that version of sysbench"},
	{Name: "scramble", Type: workload.StringParam, Default: "none", Enum: []string{"none", hash}, Doc: "whether frequent numbers are adjacent, on the same pages (none: as in sysbench), or scattered (hash)"},
	{Name: "pareto_h", Type: workload.FloatParam, Default: 0.2, Min: 0.001, Max: 0.499, Doc: "for pareto: the share h of the numbers that gets 1-h of the draws: with 0.2, 80 % of the draws are on 20 % of the numbers"},
	{Name: "zipfian_exp", Type: workload.FloatParam, Default: 0.8, Min: 0, Max: 10, Doc: "exponent of zipfian and of the test update-zipf"},
	{Name: "spec_iter", Type: workload.IntParam, Default: int64(12), Min: 1, Max: 1000, Doc: "number of draws that gaussian and special average"},
	{Name: "spec_pct", Type: workload.FloatParam, Default: 1.0, Unit: "%", Min: 0, Max: 100, Doc: "for special: share of the numbers that are in the band in the middle"},
	{Name: "spec_res", Type: workload.FloatParam, Default: 75.0, Unit: "%", Min: 0, Max: 99, Doc: "for special: share of the draws that are in the band"},
	{Name: "range_size", Type: workload.IntParam, Later: true, Default: int64(100), Unit: "rows", Min: 1, Max: maxNumber, Doc: "width of the range queries"},
	{Name: "point_selects", Type: workload.IntParam, Later: true, Default: int64(10), Min: 0, Max: 10_000, Doc: "point selects per transaction"},
	{Name: "range_selects", Type: workload.BoolParam, Later: true, Default: true, Doc: "whether transactions have range queries"},
	{Name: "simple_ranges", Type: workload.IntParam, Later: true, Default: int64(1), Min: 0, Max: 1000, Doc: "plain range queries per transaction"},
	{Name: "sum_ranges", Type: workload.IntParam, Later: true, Default: int64(1), Min: 0, Max: 1000, Doc: "range queries with a sum per transaction"},
	{Name: "order_ranges", Type: workload.IntParam, Later: true, Default: int64(1), Min: 0, Max: 1000, Doc: "sorted range queries per transaction"},
	{Name: "distinct_ranges", Type: workload.IntParam, Later: true, Default: int64(1), Min: 0, Max: 1000, Doc: "range queries for distinct values per transaction"},
	{Name: "index_updates", Type: workload.IntParam, Later: true, Default: int64(1), Min: 0, Max: 1000, Doc: "updates of the indexed column per transaction, and per event of oltp_update_index"},
	{Name: "non_index_updates", Type: workload.IntParam, Later: true, Default: int64(1), Min: 0, Max: 1000, Doc: "updates of a column without an index per transaction, and per event of oltp_update_non_index"},
	{Name: "delete_inserts", Type: workload.IntParam, Later: true, Default: int64(1), Min: 0, Max: 1000, Doc: "pairs of a delete and an insert of the same id per transaction"},
	{Name: "skip_trx", Type: workload.BoolParam, Later: true, Default: false, Doc: "no BEGIN and COMMIT: every statement is a separate transaction"},
	{Name: "table_draw", Type: workload.StringParam, Later: true, Default: drawBlock, Enum: []string{drawTransaction, drawBlock, drawStatement}, Doc: "how often a table is drawn: per transaction (as in sysbench of 2016), per block of equal statements (as since 1.0), or per statement"},
	{Name: "k_update", Type: workload.StringParam, Later: true, Default: "plus1", Enum: []string{"plus1", "random"}, Doc: "how updates change k: increment it (as in sysbench: the index entry moves by one place), or set it to a random value"},
	{Name: "random_points", Type: workload.IntParam, Later: true, Default: int64(10), Min: 1, Max: 10_000, Doc: "length of the list of select_random_points"},
	{Name: "number_of_ranges", Type: workload.IntParam, Later: true, Default: int64(10), Min: 1, Max: 1000, Doc: "number of ranges of select_random_ranges"},
	{Name: "delta", Type: workload.IntParam, Later: true, Default: int64(5), Min: 0, Max: maxNumber, Doc: "width of these ranges"},
	{Name: "retry", Type: workload.StringParam, Later: true, Default: string(workload.RetrySame), Enum: []string{string(workload.RetrySame), string(workload.RetryNew), string(workload.RetryNone)}, Doc: "what follows an error that concurrent transactions have caused: the same transaction with the same keys, a new one (as in sysbench), or nothing"},
	{Name: "retry_max", Type: workload.IntParam, Later: true, Default: int64(100), Min: 0, Max: 1_000_000, Doc: "attempts after which a transaction is given up, which is counted; 0: no limit"},
	{Name: "retry_backoff", Type: workload.DurationParam, Later: true, Default: time.Duration(0), Min: 0, Max: 60, Doc: "maximum pause before the second attempt; it doubles with each further one, up to a second"},
	{Name: "load", Type: workload.BoolParam, Default: true, Doc: "create and load the tables first; false: the tests use a database (data:) of an earlier load with the same tables, table_size and distribution"},
	{Name: "load_batch", Type: workload.IntParam, Default: int64(1000), Unit: "rows", Min: 1, Max: 10_000, Doc: "rows per statement and commit of the load"},
	{Name: "load_clients", Type: workload.IntParam, Default: int64(8), Min: 1, Max: 1024, Doc: "number of clients that load, each one table at a time; at most one per table"},
	{Name: "create_secondary", Type: workload.BoolParam, Default: true, Doc: "build the secondary index on k after the load"},
	{Name: "settle_floor", Type: workload.DurationParam, Default: -time.Second, Min: -1, Doc: "minimum duration of settle steps; negative: 60 s plus 1 s per million rows loaded, at most 1200 s"},
	{Name: "check", Type: workload.StringParam, Later: true, Default: "each", Enum: []string{"each", "none"}, Doc: "after steps that change the number of rows or the sum of k, read the tables to check it, outside the measured window"},
}

// New returns a run.
func (Workload) New(p workload.Params) (workload.Run, error) {
	r := &run{definitions: definitions{p, p.Int("range_size")}, size: p.Int("table_size"), tables: int(slices.Max(append(p.Ints("tables"), 0)))}
	for _, name := range []string{"tables", "clients", "ratios"} {
		if len(p.Ints(name)) == 0 {
			return nil, &workload.ParamError{Param: name, Reason: "it is empty", Help: "give at least one number"}
		}
	}
	if _, err := newDistribution(p, p.String("distribution"), r.size); err != nil {
		return nil, &workload.ParamError{Param: "distribution", Reason: err.Error(), Help: "see the parameters of the distribution"}
	}
	r.removed = make([]atomic.Int64, r.tables)
	return r, r.build()
}

// run is the workload with its parameters.
type run struct {
	definitions
	size   int64 // rows of a table
	tables int
	steps  []workload.Step
	trx    bool // a step has transactions
	// removed is the number of rows of each table that test delete has taken, in the same
	// order in all steps: each step continues at the end of the previous one.
	removed []atomic.Int64
}

func (r *run) Steps() []workload.Step { return r.steps }

// Needs returns transactions, if a test uses them.
func (r *run) Needs() []model.Capability {
	if r.trx {
		return []model.Capability{model.CapTransactions}
	}
	return nil
}

// maxInsertRate is a generous guess of the rows per second of single inserts.
const maxInsertRate = 30_000

// Estimate returns the size of the load plus the maximum growth by inserts.
func (r *run) Estimate(steps []workload.Step) workload.Live {
	rows := int64(r.tables)*r.size + int64(workload.Growing(steps, maxInsertRate))
	return r.live(rows, r.p.Bool("create_secondary"))
}
