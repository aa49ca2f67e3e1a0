package sysbench

import (
	"fmt"
	"time"

	"rumbench/workload"
)

// suite is the sequence that Mark Callaghan has run since 2021: the same reads before and
// after writes show how much the writes slow them down.
var suite = []string{
	"scan.warmpre", "point-query.pre", "random-points-10.pre", "random-points-100.pre", "random-points-1000.pre",
	"read-only-10.pre", "read-only-100.pre", "read-only-10000.pre",
	"points-covered-pk.pre", "points-notcovered-pk.pre", "points-covered-si.pre", "points-notcovered-si.pre",
	"range-covered-pk.pre", "range-notcovered-pk.pre", "range-covered-si.pre", "range-notcovered-si.pre",
	"update-inlist", "update-index", "update-nonindex", "update-one", "update-zipf", "write-only", "read-write-10", "read-write-100", "settle.post",
	"scan.warm", "scan", "read-only-10", "read-only-100", "read-only-10000",
	"read-only-simple", "read-only-sum", "read-only-order", "read-only-distinct", "read-only-count",
	"point-query", "random-points-10", "random-points-100", "random-points-1000", "hot-points",
	"points-covered-pk", "points-notcovered-pk", "range-covered-pk", "range-notcovered-pk",
	"points-covered-si.warm", "points-covered-si", "points-notcovered-si", "range-covered-si", "range-notcovered-si",
	"delete", "insert",
}

// sequence2016 is the sequence in Mark Callaghan's post of 21 November 2016: writes come
// before reads, and insert comes last, because it grows the tables.
var sequence2016 = []string{
	"update-index-trx", "update-nonindex-trx", "read-write-100",
	"read-only-10", "read-only-100", "read-only-1000", "read-only-10000",
	"point-query", "select", "insert",
}

var presets = []workload.Preset{
	{Name: "quick", Doc: "about two minutes per engine on two cores: a first test that shows the shape of the differences", Values: map[string]any{
		"tests":      []string{"oltp_point_select", "oltp_read_only", "oltp_update_non_index", "oltp_update_index", "oltp_write_only", "oltp_read_write", "oltp_insert"},
		"table_size": int64(100_000), "clients": []int64{4}, "read_seconds": 5.0, "write_seconds": 5.0, "settle_floor": time.Second,
	}},
	{Name: "oltp", Doc: "the scripts of sysbench with its defaults but uniform ids, five minutes each", Values: map[string]any{
		"tests":        []string{"oltp_point_select", "oltp_read_only", "select_random_points", "select_random_ranges", "oltp_update_non_index", "oltp_update_index", "oltp_write_only", "oltp_read_write", "oltp_insert"},
		"read_seconds": 300.0, "write_seconds": 300.0,
	}},
	{Name: "2016", Doc: fmt.Sprintf("the sequence of November 2016 at its thirteen levels of concurrency, cached: %d steps; the original sent text, so set protocol: text for the targets", 13*len(sequence2016)), Values: map[string]any{
		"tests": sequence2016, "tables": []int64{8}, "table_size": int64(1_000_000),
		"clients":      []int64{1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 80, 96, 128},
		"read_seconds": 180.0, "write_seconds": 300.0, "distribution": special2016, "table_draw": drawTransaction,
	}},
	{Name: "suite", Doc: "the microbenchmarks with reads before and after the writes, on a server of 8 cores (the published runs since 2021)", Values: map[string]any{
		"tests": suite, "table_size": int64(50_000_000), "read_seconds": 600.0, "write_seconds": 900.0,
	}},
	{Name: "suite-quick", Doc: "the same sequence in about five minutes, to try it out", Values: map[string]any{
		"tests": suite, "table_size": int64(200_000), "read_seconds": 4.0, "write_seconds": 6.0, "settle_floor": time.Second,
	}},
	{Name: "isolation", Doc: "the cost of isolation levels: transactions of many or few statements, with few or many writes, on one table or several (set isolation in each target)", Values: map[string]any{
		"tests": []string{"ratio", "ratio-points"}, "tables": []int64{1, 8, 32}, "table_size": int64(10_000_000), "clients": []int64{64},
		"read_seconds": 120.0, "write_seconds": 120.0, "warmup_seconds": 20.0,
	}},
	{Name: "concurrency", Doc: "point selects and updates from 1 to 1024 clients", Values: map[string]any{
		"tests": []string{"oltp_point_select", "oltp_update_non_index", "oltp_read_write"}, "tables": []int64{8}, "table_size": int64(1_000_000),
		"clients":      []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
		"read_seconds": 60.0, "write_seconds": 60.0,
	}},
}
