package tpcc

import (
	"time"

	"rumbench/workload"
)

// The values of parameters.
const (
	single  = "single"
	batch   = "batch"
	home    = "home"
	anyHome = "any"
	deck    = "deck"
	weights = "weights"

	checkAll  = "all"
	checkFour = "4"
	checkNone = "none"
)

// The sizes of TPC-C, in addition to the number of warehouses.
const (
	standardItems       = 100_000
	standardCustomers   = 3000
	standardUndelivered = 900
)

var params = []workload.Param{
	{Name: "warehouses", Type: workload.IntParam, Default: int64(1), Min: 1, Max: 100_000, Doc: "warehouses loaded, the scale: about 70 MB of user data each"},
	{Name: "clients", Type: workload.IntsParam, Later: true, Default: []int64{1}, Min: 1, Max: 100_000, Doc: "terminals of each mix step, in this order; with waits the standard has ten per warehouse"},
	{Name: "seconds", Type: workload.FloatParam, Later: true, Default: 600.0, Unit: "s", Min: 0.1, Doc: "duration of each mix step"},
	{Name: "warmup_seconds", Type: workload.FloatParam, Later: true, Default: 0.0, Unit: "s", Min: 0, Doc: "duration of a warm-up before the first mix step; 0: none"},
	{Name: "transactions", Type: workload.IntParam, Later: true, Default: int64(0), Unit: "per client", Min: 0, Doc: "transactions of each client in a mix step, whatever its duration; 0: steps are limited by time"},
	{Name: "style", Type: workload.StringParam, Later: true, Default: single, Enum: []string{single, batch}, Doc: "New-Order reads and inserts line by line, or all lines with one statement of each kind; about a third of the round trips"},
	{Name: "binding", Type: workload.StringParam, Later: true, Default: home, Enum: []string{home, anyHome}, Doc: "a terminal has a fixed warehouse, or each transaction draws one"},
	{Name: "mix", Type: workload.StringParam, Later: true, Default: deck, Enum: []string{deck, weights}, Doc: "transactions are drawn from a shuffled deck of 100 per terminal, so that the mix is exact, or each at random"},
	{Name: "waits", Type: workload.FloatParam, Later: true, Default: 0.0, Min: 0, Max: 10, Doc: "keying and think times, as a multiple of the standard's; 0: none, as most published runs of such programs"},
	{Name: "items", Type: workload.IntParam, Default: int64(standardItems), Min: 20, Max: 1e9, Doc: "items, and stocks of each warehouse; other values than 100k are not TPC-C's"},
	{Name: "customers_per_district", Type: workload.IntParam, Default: int64(standardCustomers), Min: 2, Max: 100_000, Doc: "customers, and orders loaded, of each district; other values than 3000 are not TPC-C's"},
	{Name: "new_orders_per_district", Type: workload.IntParam, Default: int64(standardUndelivered), Min: 1, Max: 100_000, Doc: "of these orders, how many are still to be delivered; other values than 900 are not TPC-C's"},
	{Name: "load", Type: workload.BoolParam, Default: true, Doc: "create and load the tables first; false: use a database (data:) of an earlier load with the same sizes and seed"},
	{Name: "load_clients", Type: workload.IntParam, Default: int64(4), Min: 1, Max: 1024, Doc: "clients that load districts and stocks of warehouses in parallel"},
	{Name: "load_batch", Type: workload.IntParam, Default: int64(500), Unit: "rows", Min: 1, Max: 10_000, Doc: "rows per statement and commit of the load"},
	{Name: "retry_max", Type: workload.IntParam, Later: true, Default: int64(10), Min: 0, Max: 1_000_000, Doc: "attempts, all with the same inputs, after which a transaction is given up, which is counted; 0: no limit"},
	{Name: "retry_backoff", Type: workload.DurationParam, Later: true, Default: 5 * time.Millisecond, Min: 0, Max: 60, Doc: "maximum pause before the second attempt; it doubles with each further one, up to a second"},
	{Name: "settle_floor", Type: workload.DurationParam, Default: -time.Second, Min: -1, Doc: "minimum duration of the settle step; negative: 60 s plus 1 s per million rows loaded, at most 1200 s"},
	{Name: "check", Type: workload.StringParam, Later: true, Default: checkAll, Enum: []string{checkFour, checkAll, checkNone}, Doc: "consistency conditions that are checked after the load and after each mix step, outside the measured window: the four that the standard requires, all twelve and the stocks, or none. All takes 16 bytes of memory per customer and stock"},
}

var presets = []workload.Preset{
	{Name: "tiny", Doc: "seconds per engine, a hundredth of the rows: a first test that everything works. Not TPC-C's sizes", Values: map[string]any{
		"warehouses": int64(2), "items": int64(1000), "customers_per_district": int64(30), "new_orders_per_district": int64(9),
		"clients": []int64{2}, "seconds": 5.0, "settle_floor": time.Second,
	}},
	{Name: "quick", Doc: "about a minute per engine on two cores: a warehouse, four terminals without waits", Values: map[string]any{
		"clients": []int64{4}, "seconds": 20.0, "warmup_seconds": 5.0, "load_clients": int64(2), "settle_floor": time.Second,
	}},
	{Name: "cached", Doc: "100 warehouses (10 GB) and as many terminals without waits, as such programs are mostly run; half an hour", Values: map[string]any{
		"warehouses": int64(100), "clients": []int64{100}, "seconds": 1200.0, "warmup_seconds": 600.0, "load_clients": int64(8),
	}},
	{Name: "waits", Doc: "10 warehouses with their 100 terminals and the standard's keying and think times: at most 12.86 New-Orders a minute per warehouse", Values: map[string]any{
		"warehouses": int64(10), "clients": []int64{100}, "waits": 1.0, "seconds": 1200.0, "warmup_seconds": 300.0,
	}},
}
