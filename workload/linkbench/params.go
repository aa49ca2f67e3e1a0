package linkbench

import (
	"maps"
	"slices"
	"time"

	"rumbench/workload"
)

// The values of parameters.
const (
	dialect2013 = "2013"
	dialect2020 = "2020"
	ascending   = "ascending"
	descending  = "descending"
	scattered   = "scattered"
	ranges      = "ranges"
	mixed       = "profile"
)

var params = []workload.Param{
	{Name: "profile", Type: workload.StringParam, Default: profileRUM, Enum: slices.Sorted(maps.Keys(profiles)), Doc: "the constants and rules of a generation: fb2011 (Facebook's, behind the figures of 2016), mdc2017 (Callaghan's fork, behind those of 2020), or rum: those of 2017 with defects removed, and lists of bounded length"},
	{Name: "dialect", Type: workload.StringParam, Default: dialect2020, Enum: []string{dialect2013, dialect2020}, Doc: "the statements of link writes: 2013 inserts or keeps the link, and then changes an existing one; 2020 inserts or updates, and on failure does the other in a second transaction"},
	{Name: "mix", Type: workload.StringParam, Later: true, Default: mixed, Enum: append([]string{mixed}, kindNames[:]...), Doc: "profile: the operations of the profile; the name of an operation: 91 % of it and 1 % of each other"},
	{Name: "maxid", Type: workload.IntParam, Default: int64(1_000_000), Unit: "nodes", Min: 16, Max: maxNodes, Doc: "nodes loaded, with ids from 1; InnoDB takes about 2 KB on disk for each"},
	{Name: "link_types", Type: workload.IntParam, Default: int64(2), Min: 1, Max: 16, Doc: "types of links"},
	{Name: "clients", Type: workload.IntsParam, Later: true, Default: []int64{1}, Min: 1, Max: 4096, Doc: "clients of each request step, in this order; a number may be repeated"},
	{Name: "seconds", Type: workload.FloatParam, Later: true, Default: 300.0, Unit: "s", Min: 0.1, Doc: "duration of each request step"},
	{Name: "warmup_seconds", Type: workload.FloatParam, Later: true, Default: 0.0, Unit: "s", Min: 0, Doc: "duration of a warm-up before the first request step; 0: none"},
	{Name: "transactions", Type: workload.IntParam, Later: true, Default: int64(0), Unit: "per client", Min: 0, Doc: "transactions of each client in a request step, whatever its duration; 0: steps are limited by time"},
	{Name: "atomic", Type: workload.BoolParam, Default: true, Doc: "link writes are transactions; false: each statement alone, as measured for MongoDB 3.2, after which counts may differ from their links"},
	{Name: "locality", Type: workload.StringParam, Default: scattered, Enum: []string{scattered, ranges}, Doc: "whether frequently used ids are scattered over all pages, as in the original, or come in ranges of 64"},
	{Name: "index", Type: workload.StringParam, Default: "covering", Enum: []string{"covering", "plain"}, Doc: "whether the index on links holds version and data too"},
	{Name: "list_limit", Type: workload.IntParam, Later: true, Default: int64(10_000), Unit: "links", Min: 2, Max: 1_000_000, Doc: "links that a list returns at most; a longer list is continued by history reads"},
	{Name: "load", Type: workload.BoolParam, Default: true, Doc: "create and load the tables first; false: use a database (data:) of an earlier load with the same parameters and seed"},
	{Name: "load_clients", Type: workload.IntParam, Default: int64(8), Min: 1, Max: 1024, Doc: "clients that load links and counts, in addition to the one that loads nodes"},
	{Name: "load_batch", Type: workload.IntParam, Default: int64(1000), Unit: "rows", Min: 1, Max: 10_000, Doc: "rows per statement and commit of the load"},
	{Name: "load_order", Type: workload.StringParam, Default: ascending, Enum: []string{ascending, descending}, Doc: "order of the chunks of 2048 ids whose links are loaded; the original loads the highest first"},
	{Name: "retry_max", Type: workload.IntParam, Later: true, Default: int64(1000), Min: 0, Max: 1_000_000, Doc: "attempts after which a transaction is given up, which is counted; 0: no limit"},
	{Name: "retry_backoff", Type: workload.DurationParam, Later: true, Default: 20 * time.Millisecond, Min: 0, Max: 60, Doc: "maximum pause before the second attempt; it doubles with each further one, up to a second"},
	{Name: "settle_floor", Type: workload.DurationParam, Default: -time.Second, Min: -1, Doc: "minimum duration of the settle step; negative: 60 s plus 1 s per million nodes loaded, at most 1200 s"},
	{Name: "check", Type: workload.StringParam, Later: true, Default: "last", Enum: []string{"each", "last", "none"}, Doc: "request steps after which all links and counts are read and compared, outside the measured window"},
}

// maxNodes exceeds any real load, and is small enough not to overflow.
const maxNodes = 1e12

var presets = []workload.Preset{
	{Name: "quick", Doc: "about a minute per engine on two cores: a first test that shows the shape of the differences", Values: map[string]any{
		"maxid": int64(100_000), "clients": []int64{4}, "seconds": 20.0, "warmup_seconds": 5.0, "load_clients": int64(2), "settle_floor": time.Second,
	}},
	{Name: "2016", Doc: "the runs published in 2016 with 50 GB of memory: a billion nodes, 24 hours of 16 clients", Values: map[string]any{
		"profile": profile2011, "dialect": dialect2013, "maxid": int64(1_000_000_000), "clients": slices.Repeat([]int64{16}, 24), "seconds": 3600.0,
		"load_order": descending, "load_clients": int64(1),
	}},
	{Name: "2020", Doc: "the cached runs published in 2020 on 16 cores: ten million nodes, six hours of 8 to 16 clients; with maxid 500M they were I/O-bound", Values: map[string]any{
		"profile": profile2017, "maxid": int64(10_000_000), "clients": []int64{8, 8, 12, 12, 16, 16}, "seconds": 3600.0, "warmup_seconds": 600.0,
		"load_order": descending,
	}},
}
