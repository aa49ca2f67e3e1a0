// Package sysbench is the OLTP suite of sysbench: its tables, its
// transactions statement by statement, the microbenchmarks that Mark Callaghan
// runs on the same tables, and the variants of Dimitri Kravtchuk that ask what
// isolation levels cost.
//
// docs/sysbench.md tells the sources, and in what this implementation differs.
package sysbench

import (
	"fmt"
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

// How a transaction chooses the tables of its statements.
const (
	drawTransaction = "transaction"
	drawBlock       = "block"
	drawStatement   = "statement"
)

var distributions = []string{uniform, gaussian, gaussian2016, special, special2016, pareto, zipfian}

var params = []workload.Param{
	{Name: "tests", Type: workload.StringsParam, Default: []string{"oltp_read_write"}, Doc: "what is run after the load, in this order, each described in docs/sysbench.md: " + strings.Join(testNames(), ", ") + "; N stands for a number. What follows a dot only tells steps apart: point-query.pre; settle is a step of rest"},
	{Name: "tables", Type: workload.IntsParam, Default: []int64{1}, Min: 1, Max: 1024, Doc: "how many tables there are; with several numbers the greatest, and each test is run on the first of them"},
	{Name: "table_size", Type: workload.IntParam, Default: int64(10_000), Unit: "rows", Min: 1, Max: math.MaxInt32, Doc: "rows of a table; also the ids that are drawn, and the values of k"},
	{Name: "clients", Type: workload.IntsParam, Default: []int64{1}, Min: 1, Max: 4096, Doc: "concurrent clients; with several numbers each test is run with each"},
	{Name: "ratios", Type: workload.IntsParam, Default: []int64{128, 16, 4, 2, 1}, Min: 1, Max: 1 << 20, Doc: "of the tests ratio and ratio-points: one transaction of so many writes (rw_mode skip), or every one reads so many times (repeat)"},
	{Name: "rw_mode", Type: workload.StringParam, Default: "skip", Enum: []string{"skip", "repeat"}, Doc: "how a ratio of reads to writes is made: most transactions write nothing (skip), or all read several times before they write (repeat: they last longer)"},
	{Name: "read_seconds", Type: workload.FloatParam, Default: 60.0, Unit: "s", Min: 0.1, Doc: "length of the steps that read, and of write-only"},
	{Name: "write_seconds", Type: workload.FloatParam, Default: 60.0, Unit: "s", Min: 0.1, Doc: "length of the other steps"},
	{Name: "warmup_seconds", Type: workload.FloatParam, Default: 0.0, Unit: "s", Min: 0, Doc: "before each step the same is run for so long as a step of its own, named NAME.warmup; 0: not"},
	{Name: "events", Type: workload.IntParam, Default: int64(0), Unit: "per client", Min: 0, Doc: "each client does so many transactions, however long they take, instead of stopping by the clock; 0: the clock"},
	{Name: "distribution", Type: workload.StringParam, Default: uniform, Enum: distributions, Doc: "how ids are drawn, and the values of k when rows are made; names with a version are as in that version of sysbench"},
	{Name: "scramble", Type: workload.StringParam, Default: "none", Enum: []string{"none", hash}, Doc: "whether numbers that are drawn often lie side by side, on the same pages (none: as in sysbench), or anywhere (hash)"},
	{Name: "pareto_h", Type: workload.FloatParam, Default: 0.2, Min: 0.001, Max: 0.499, Doc: "of pareto: this share of the numbers is left to the rest of the draws: 0.2 is 80 % of the draws on 20 % of the numbers"},
	{Name: "zipfian_exp", Type: workload.FloatParam, Default: 0.8, Min: 0, Max: 10, Doc: "exponent of zipfian and of the test update-zipf"},
	{Name: "spec_iter", Type: workload.IntParam, Default: int64(12), Min: 1, Max: 1000, Doc: "draws of which gaussian and special take the mean"},
	{Name: "spec_pct", Type: workload.FloatParam, Default: 1.0, Unit: "%", Min: 0, Max: 100, Doc: "of special: share of the numbers that are in the band in the middle"},
	{Name: "spec_res", Type: workload.FloatParam, Default: 75.0, Unit: "%", Min: 0, Max: 99, Doc: "of special: share of the draws that fall on the band"},
	{Name: "range_size", Type: workload.IntParam, Default: int64(100), Unit: "rows", Min: 1, Max: greatest, Doc: "width of the range queries"},
	{Name: "point_selects", Type: workload.IntParam, Default: int64(10), Min: 0, Max: 10_000, Doc: "point selects of a transaction"},
	{Name: "range_selects", Type: workload.BoolParam, Default: true, Doc: "whether transactions have range queries"},
	{Name: "simple_ranges", Type: workload.IntParam, Default: int64(1), Min: 0, Max: 1000, Doc: "plain range queries of a transaction"},
	{Name: "sum_ranges", Type: workload.IntParam, Default: int64(1), Min: 0, Max: 1000, Doc: "range queries with a sum of a transaction"},
	{Name: "order_ranges", Type: workload.IntParam, Default: int64(1), Min: 0, Max: 1000, Doc: "sorted range queries of a transaction"},
	{Name: "distinct_ranges", Type: workload.IntParam, Default: int64(1), Min: 0, Max: 1000, Doc: "range queries of distinct values of a transaction"},
	{Name: "index_updates", Type: workload.IntParam, Default: int64(1), Min: 0, Max: 1000, Doc: "updates of the indexed column of a transaction, and of an event of oltp_update_index"},
	{Name: "non_index_updates", Type: workload.IntParam, Default: int64(1), Min: 0, Max: 1000, Doc: "updates of a column without an index of a transaction, and of an event of oltp_update_non_index"},
	{Name: "delete_inserts", Type: workload.IntParam, Default: int64(1), Min: 0, Max: 1000, Doc: "pairs of a delete and an insert of the same id of a transaction"},
	{Name: "skip_trx", Type: workload.BoolParam, Default: false, Doc: "no BEGIN and COMMIT: every statement is a transaction of its own"},
	{Name: "table_draw", Type: workload.StringParam, Default: drawBlock, Enum: []string{drawTransaction, drawBlock, drawStatement}, Doc: "how often a table is drawn: once for a transaction (as sysbench did in 2016), for each block of equal statements (as since 1.0), or for each statement"},
	{Name: "k_update", Type: workload.StringParam, Default: "plus1", Enum: []string{"plus1", "random"}, Doc: "what updates make of k: one more (as sysbench: the index entry moves to the next place), or a value drawn anew"},
	{Name: "random_points", Type: workload.IntParam, Default: int64(10), Min: 1, Max: 10_000, Doc: "values of the list of select_random_points"},
	{Name: "number_of_ranges", Type: workload.IntParam, Default: int64(10), Min: 1, Max: 1000, Doc: "ranges of select_random_ranges"},
	{Name: "delta", Type: workload.IntParam, Default: int64(5), Min: 0, Max: greatest, Doc: "width of these ranges"},
	{Name: "retry", Type: workload.StringParam, Default: string(workload.RetrySame), Enum: []string{string(workload.RetrySame), string(workload.RetryNew), string(workload.RetryNone)}, Doc: "what is done after an error for which others are the cause: the same transaction again with the same keys, a new one (as sysbench does), or nothing"},
	{Name: "retry_max", Type: workload.IntParam, Default: int64(100), Min: 0, Max: 1_000_000, Doc: "attempts of a transaction before it is given up, which is counted; 0: any number"},
	{Name: "retry_backoff", Type: workload.DurationParam, Default: time.Duration(0), Min: 0, Max: 60, Doc: "longest pause before the second attempt; it doubles with every further one, up to a second"},
	{Name: "load", Type: workload.BoolParam, Default: true, Doc: "make and fill the tables first; false: the tests work on a database (data:) that an earlier load has left, with the same tables, table_size and distribution"},
	{Name: "load_batch", Type: workload.IntParam, Default: int64(1000), Unit: "rows", Min: 1, Max: 10_000, Doc: "rows of a statement, and a commit, of the load"},
	{Name: "load_clients", Type: workload.IntParam, Default: int64(8), Min: 1, Max: 1024, Doc: "clients that load, one table at a time each; not more than there are tables"},
	{Name: "create_secondary", Type: workload.BoolParam, Default: true, Doc: "build the secondary index on k after the load"},
	{Name: "settle_floor", Type: workload.DurationParam, Default: -time.Second, Min: -1, Doc: "least length of settle steps; negative: 60 s and a second per million rows loaded, at most 1200 s"},
	{Name: "check", Type: workload.StringParam, Default: "each", Enum: []string{"each", "none"}, Doc: "after steps that change the number of rows, or the sum of k, the tables are read to see whether it is what it has to be; outside of the measured window"},
}

// New makes a run.
func (Workload) New(p workload.Params) (workload.Run, error) {
	r := &run{p: p, rangeSize: p.Int("range_size"), size: p.Int("table_size"), tables: int(slices.Max(append(p.Ints("tables"), 0)))}
	for _, name := range []string{"tables", "clients", "ratios"} {
		if len(p.Ints(name)) == 0 {
			return nil, &workload.ParamError{Param: name, Reason: "it is empty", Hint: "give one number or more"}
		}
	}
	if _, err := newDistribution(p, p.String("distribution"), r.size); err != nil {
		return nil, &workload.ParamError{Param: "distribution", Reason: err.Error(), Hint: "see the parameters of the distribution"}
	}
	r.removed = make([]atomic.Int64, r.tables)
	return r, r.build()
}

// run is the workload with its parameters.
type run struct {
	p         workload.Params
	rangeSize int64
	size      int64 // rows of a table
	tables    int
	steps     []workload.Step
	trx       bool    // a step has transactions
	inserting float64 // seconds of the steps that add rows
	// removed is how many rows of each table the test delete has taken, in an
	// order that is the same for all: a step goes on where the one before stopped.
	removed []atomic.Int64
}

// Steps returns the steps.
func (r *run) Steps() []workload.Step { return r.steps }

// Needs are transactions, if any test has them.
func (r *run) Needs() []model.Capability {
	if r.trx {
		return []model.Capability{model.CapTransactions}
	}
	return nil
}

// fastInserts is a generous guess of how many rows a second are inserted one
// by one on one table after the other.
const fastInserts = 30_000

// Estimate returns the size of the load, and of what inserts may add to it.
func (r *run) Estimate() workload.Live {
	rows := int64(r.tables)*r.size + int64(r.inserting*fastInserts)
	return r.live(rows, r.p.Bool("create_secondary"))
}

// clientsError returns the refusal of a test that cannot be run on several tables.
func clientsError(name string) error {
	return &workload.ParamError{Param: "tables", Reason: fmt.Sprintf("test %s works on one table", name), Hint: "set tables: 1, or leave the test out"}
}
