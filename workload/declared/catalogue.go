package declared

func init() { // the generators of values use this list
	generators = []generator{
		{"const", "always the same", []argument{{"value", "a text or a number", ""}}, true, buildConst},
		{"sequence", "ascending numbers: from + row * step", []argument{{"from", "of row 0", "0"}, {"step", "from row to row", "1"}}, false, buildSequence},
		{"uniform", "all numbers alike", []argument{{"from", "the least", ""}, {"to", "the greatest", ""}}, false, buildUniform},
		{"any", "all rows alike", []argument{over}, false, buildAny},
		{"zipf", "row r, in a random order, with a frequency proportional to r^-theta", []argument{over, {"theta", "the exponent", "0.99"}}, false, buildZipf},
		{"scrambled_zipf", "YCSB's zipfian: a Zipfian over 10^10 numbers, hashed", []argument{over, {"new", "rows that the run may insert", "0"}, {"theta", "the exponent", "0.99"}}, false, buildScrambled},
		{"latest", "YCSB's latest: Zipfian, the newest rows most often", []argument{over, {"theta", "the exponent", "0.99"}}, false, buildLatest},
		{"hotspot", "a share of the draws among the first share of the numbers", []argument{over, {"numbers", "their share", "0.2"}, {"draws", "their share of the draws", "0.8"}}, false, buildHotspot},
		{"newest", "YCSB's exponential: the newest rows exponentially more often", []argument{over, {"share", "of the draws in the newest", "0.95"}, {"of", "the newest are this share of the rows", "0.8571428571"}}, false, buildNewest},
		{"hot_ranges", "ranges of adjacent rows are hot, as in FAST'20: of shares a*e^(b*x) + c*e^(d*x)", []argument{over, {"ranges", "how many", "30"},
			{"a", "", "14.18"}, {"b", "", "-2.917"}, {"c", "", "0.0164"}, {"d", "", "-0.08082"}, {"power", "the exponent of the power law within a range; 0: uniform", "0.3467"}}, false, buildHotRanges},
		{"gaussian", "a bell over the numbers, as in sysbench", []argument{over}, false, buildGaussian},
		{"pareto", "self-similar: a share of the numbers gets the rest of the draws", []argument{over, {"share", "of the numbers", "0.2"}}, false, buildPareto},
		{"normal", "normally distributed", []argument{{"mean", "", "0"}, {"deviation", "", "1"}}, false, buildNormal},
		{"sizes", "a generalized Pareto distribution, rounded up", []argument{{"k", "", "0.2615"}, {"sigma", "", "25.45"}, {"theta", "", "0"}, {"min", "", "1"}, {"max", "", ""}}, false, buildSizes},
		{"choice", "one of several texts or numbers, with weights: {new: 70, paid: 30}", nil, true, buildChoice},
		{"select", "the generator that a string parameter names: {by: PARAMETER, NAME: VALUE, …}", nil, true, buildSelect},
		{"text", "random characters", []argument{{"size", "bytes", ""}, {"compress", "the share that zlib saves, in blocks of 16 KB of values of 100 bytes and more; of text at least a quarter", "0"}, {"check", "the first 8 bytes prove the others, and readers check them: true or false", "false"}}, false, buildText},
		{"bytes", "random bytes, for a column of type bytes", []argument{{"size", "bytes", ""}, {"compress", "the share that zlib saves, in blocks of 16 KB of values of 100 bytes and more; of text at least a quarter", "0"}, {"check", "as of text", "false"}}, false, buildText},
		{"uuid", "a UUID, for a column of type uuid", []argument{{"version", "4: random; 7: after a time, of a millisecond per row from 2026-01-01 on", "4"}, {"of", "the number of milliseconds of version 7", "row"}}, false, buildUUID},
		{"decimal", "a number in decimal digits, after a prefix", []argument{{"of", "the number", "row"}, {"prefix", "a text, as {const: s}", "''"}, {"digits", "at least, with leading zeros", "1"}, {"length", "bytes at least, with zeros after the digits", "0"}}, false, buildDecimal},
		{"fnv", "a number's 64-bit FNV-1a hash without sign, as YCSB makes keys", []argument{{"of", "the number", "row"}}, false, buildFNV},
		{"permute", "a number of 0…over-1 in a random order, each once", []argument{{"of", "the number", "row"}, {"over", "how many numbers", ""}}, false, buildPermute},
		{"clock", "logical time: a step per row from 2026-01-01 on", []argument{{"step", "in seconds", "1"}, {"of", "the number of steps", "row"}}, false, buildClock},
		{"json", "an object of fields with values: {name: {text: 10}}", nil, true, buildJSON},
	}
}
