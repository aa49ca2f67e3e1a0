package declared

import (
	"slices"

	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// The keys of workload files, one table for each map. Separate code reads them; here they
// are described once: for validation, for hints, for the JSON Schema and for the
// reference in docs.

// none marks a map whose keys are all read elsewhere.
type none struct{}

// key declares a key.
func key(name, doc string, shape strictyaml.Shape) strictyaml.Key[none] {
	return strictyaml.Part[none](name, doc, shape)
}

var (
	valueOf   = strictyaml.Shape{"$ref": "#/$defs/value"}
	count     = strictyaml.Shape{"type": []string{"integer", "number", "string"}}
	aName     = strictyaml.TextShape
	names     = strictyaml.ListOf(strictyaml.TextShape)
	flag      = strictyaml.Boolean.Shape
	valueMap  = strictyaml.Shape{"type": "object", "minProperties": 1, "additionalProperties": valueOf}
	namesOrIn = strictyaml.Either(names, strictyaml.Shape{"type": "object", "additionalProperties": aName})
)

var fileKeys = strictyaml.Table[none]{
	key("name", "The workload's name, as results show it.", aName),
	key("doc", "What it does, in a sentence.", aName),
	key("params", "Parameters, which a plan's params override.", strictyaml.Shape{"type": "object", "additionalProperties": strictyaml.Shape{"$ref": "#/$defs/param"}}),
	key("presets", "Named sets of parameters.", strictyaml.Shape{"type": "object", "additionalProperties": strictyaml.Shape{"type": "object"}}),
	key("values", "Values with a name, for use in several places: columns, draws and statements take them by their name.", strictyaml.Shape{"type": "object", "additionalProperties": valueOf}),
	key("tables", "The tables, by name.", strictyaml.Shape{"type": "object", "minProperties": 1, "additionalProperties": strictyaml.Shape{"$ref": "#/$defs/table"}}),
	key("operations", "What clients do, by name: a list of statements, or a map. An operation is what is timed.", strictyaml.Shape{"type": "object", "additionalProperties": strictyaml.Either(strictyaml.Shape{"$ref": "#/$defs/statements"}, strictyaml.Shape{"$ref": "#/$defs/operation"})}),
	key("steps", "What is done, in order.", strictyaml.Shape{"type": "array", "minItems": 1, "items": strictyaml.Either(strictyaml.Shape{"const": "settle"}, strictyaml.Shape{"$ref": "#/$defs/step"})}),
	key("checks", "What must be true after each run.", strictyaml.Shape{"type": "array", "items": strictyaml.Shape{"$ref": "#/$defs/check"}}),
}

var paramKeys = strictyaml.Table[none]{
	key("type", "int, float, bool, string or duration. Default int.", strictyaml.Shape{"enum": paramTypes}),
	key("default", "The value without a preset.", strictyaml.Shape{}),
	key("doc", "What it is.", aName),
	key("unit", "Its unit. Numbers with the unit s are also written as durations: 5min.", aName),
	key("min", "The least value. Default 0.", strictyaml.Shape{"type": "number"}),
	key("max", "The greatest value.", strictyaml.Shape{"type": "number"}),
	key("of", "The allowed texts of a string.", names),
}

var tableKeys = strictyaml.Table[none]{
	key("columns", "The columns, in order.", strictyaml.Shape{"type": "object", "minProperties": 1, "additionalProperties": strictyaml.Shape{"$ref": "#/$defs/column"}}),
	key("key", "The primary key's columns. Default: the first column.", names),
	key("indexes", "Secondary indexes by name: a list of columns, or a map.", strictyaml.Shape{"type": "object", "additionalProperties": strictyaml.Either(names, strictyaml.Shape{"$ref": "#/$defs/index"})}),
}

var columnKeys = strictyaml.Table[none]{
	key("type", "int64, int32, float, timestamp, text, bytes or uuid: a type of its own on postgres, mongodb and tarantool, 16 bytes elsewhere. Default: that of the value.", strictyaml.Shape{"enum": typeNames()}),
	key("value", "The value in each row: a number, an expression, or a generator.", valueOf),
	key("auto", "The engine assigns ascending integers from 1. The column is the whole key.", flag),
	key("max", "The greatest length in bytes of a text. Default: that of its generator.", count),
	key("copies", "The number of columns of the kind, NAME0 to NAME9 for 10. NAME alone means any one of them in set, NAME* each of them.", count),
}

var indexKeys = strictyaml.Table[none]{
	key("columns", "The columns, in order.", names),
	key("unique", "No two entries are equal.", flag),
	key("include", "Columns that are stored in the entries, but not part of their order.", names),
}

var operationKeys = strictyaml.Table[none]{
	key("do", "The statements, in order.", strictyaml.Shape{"$ref": "#/$defs/statements"}),
	key("draw", "Values that are drawn before the first statement, by name.", valueMap),
	key("transaction", "The statements are one transaction: true, its isolation level, or a parameter of type bool.", strictyaml.Shape{"type": []string{"boolean", "string"}}),
}

// The kinds of statements, which are also their first keys.
const (
	sInsert = "insert"
	sGet    = "get"
	sScan   = "scan"
	sUpdate = "update"
	sDelete = "delete"
	sOwn    = "sql"
)

var kinds = []string{sInsert, sGet, sScan, sUpdate, sDelete, sOwn}

var generic = kinds[:5]

// statementKey is a key of some kinds of statements.
type statementKey struct {
	strictyaml.Key[none]
	list []string
}

var statementKeys = []statementKey{
	{key(sInsert, "Insert into a table. Columns get their own values.", aName), []string{sInsert}},
	{key(sGet, "Read rows of a table by key.", aName), []string{sGet}},
	{key(sScan, "Read rows of a table in the order of its key, or of an index.", aName), []string{sScan}},
	{key(sUpdate, "Change rows of a table by key.", aName), []string{sUpdate}},
	{key(sDelete, "Delete rows of a table by key.", aName), []string{sDelete}},
	{key("row", "The number of a row, from 0 in the order of inserts: usually a distribution. An insert replaces nothing unless conflict says so. A scan begins at the row.", valueOf), generic},
	{key("key", "The key's columns, instead of a row.", valueMap), []string{sGet, sUpdate, sDelete}},
	{key("rows", "How many rows one statement inserts, or reads by keys that are drawn one by one. Default 1.", count), []string{sInsert, sGet}},
	{key("index", "The index that is read.", aName), []string{sGet, sScan, sUpdate}},
	{key("equal", "Columns of the index, or of the key, that are compared for equality.", valueMap), []string{sGet, sScan, sUpdate}},
	{key("from", "The least value of the next column of the index.", valueOf), []string{sScan}},
	{key("above", "The values of the next column are greater.", valueOf), []string{sScan}},
	{key("to", "The greatest value of the next column of the index.", valueOf), []string{sScan}},
	{key("below", "The values of the next column are less.", valueOf), []string{sScan}},
	{key("limit", "How many rows are read at most. Less than 1 counts as 1.", valueOf), []string{sScan}},
	{key("descending", "From the end.", flag), []string{sScan}},
	{key("read", "The columns that are returned, or a map of columns to names under which later statements use the values of the first row. Without such a row an operation that uses them ends. Default: all columns.", namesOrIn), []string{sGet, sScan}},
	{key("count", "Count the rows, and carry the number on under this name.", aName), []string{sScan}},
	{key("sum", "Sum a column, and carry it on: {column: name}.", strictyaml.Shape{"type": "object", "additionalProperties": aName, "maxProperties": 1}), []string{sScan}},
	{key("number", "Carry the number that the engine has assigned on under this name.", aName), []string{sInsert}},
	{key("set", "New values by column, or columns that get new values of their own.", strictyaml.Either(names, valueMap)), []string{sInsert, sUpdate}},
	{key("add", "Numbers that are added, by column: an integer or a float.", valueMap), []string{sUpdate}},
	{key("conflict", "What an insert does where the key exists: ignore it, replace the row, or {add: [columns]}. Default: it fails.", strictyaml.Either(strictyaml.Shape{"enum": []string{"ignore", "replace"}}, strictyaml.Shape{"type": "object", "properties": strictyaml.Shape{"add": names}, "required": []string{"add"}, "additionalProperties": false})), []string{sInsert}},
	{key("lock", "No other session changes the rows until the transaction ends.", flag), []string{sGet}},
	{key(sOwn, "SQL by engine, as in {mysql: SELECT ...}, with :NAME for a value. On these engines it is executed instead of the statement; alone it makes the file refuse others.", strictyaml.Shape{"type": "object", "minProperties": 1, "additionalProperties": aName}), kinds},
	{key("returns", "The columns that the SQL returns, with their types. Later statements use the values of the first row by these names. Default: it returns no rows.", strictyaml.Shape{"type": "object", "additionalProperties": strictyaml.Shape{"enum": typeNames()}}), []string{sOwn}},
	{key("expect", "How many rows it should find. Fewer are reported, and results with far too few are not compared. Default: those that exist, if that is known, and 1 if later statements use what it carries on. 0: it may find none.", count), []string{sGet, sScan, sUpdate, sDelete, sOwn}},
	{key("require", "How many rows it must find, in a transaction. With fewer, others were faster: the transaction is undone and repeated. Where a parameter turns the transaction off, it is what `expect` is.", count), []string{sUpdate, sDelete}},
}

// keysOf returns the keys of a kind of statements.
func keysOf(kind string) (out strictyaml.Table[none]) {
	for _, k := range statementKeys {
		if slices.Contains(k.list, kind) {
			out = append(out, k.Key)
		}
	}
	return out
}

// The kinds of steps, which are also their first keys.
const (
	stepLoad    = "load"
	stepIndex   = "index"
	stepSettle  = "settle"
	stepRestart = "restart"
	stepRun     = "run"
)

var common = strictyaml.Table[none]{
	key("doc", "The question that the step answers.", aName),
}

var stepKinds = map[string]strictyaml.Table[none]{
	stepLoad: append(strictyaml.Table[none]{
		key(stepLoad, "Insert rows into a table, in the order of their numbers.", aName),
		key("rows", "How many. 0: the step is left out.", valueOf),
		key("clients", "How many clients insert. Default 1.", count),
		key("batch", "Rows of one statement. Default 100.", count),
		key("clear", "Remove all rows before.", flag),
		key("name", "The step's name. Default: load, with the table's name if there are several.", aName),
	}, common...),
	stepIndex: append(strictyaml.Table[none]{
		key(stepIndex, "Build secondary indexes of a table.", aName),
		key("indexes", "Which ones. Default: all.", names),
		key("groups", "Groups of clients that read concurrently, as those of a run.", strictyaml.Shape{"type": "object", "additionalProperties": strictyaml.Shape{"$ref": "#/$defs/group"}}),
		key("name", "The step's name. Default: index, with the table's name if there are several.", aName),
	}, common...),
	stepSettle: append(strictyaml.Table[none]{
		key(stepSettle, "Let the engine come to rest, for at least this many seconds, or a duration such as 1min.", strictyaml.Shape{"type": []string{"string", "number"}}),
	}, common...),
	stepRestart: append(strictyaml.Table[none]{
		key(stepRestart, "Stop the engine and start it again. dropped: the data leave the page cache meanwhile. kept: they stay.",
			strictyaml.OneOf(workload.CachesDropped, workload.CachesKept).Shape),
	}, common...),
	stepRun: append(strictyaml.Table[none]{
		key(stepRun, "Let clients do operations: the step's name.", aName),
		key("seconds", "How long: seconds, or a duration such as 5min. 0: the step is left out.", valueOf),
		key("groups", "Groups of clients by name. The step is about the first one.", strictyaml.Shape{"type": "object", "minProperties": 1, "additionalProperties": strictyaml.Shape{"$ref": "#/$defs/group"}}),
		key("warmup", "It only prepares the next step.", flag),
		key("judged", "The metrics by which targets are compared. Default: the rate; for a single run also latency and costs.", names),
	}, common...),
}

var stepNames = []string{stepLoad, stepIndex, stepSettle, stepRestart, stepRun}

var groupKeys = strictyaml.Table[none]{
	key("clients", "How many. Default 1.", count),
	key("do", "The operation.", aName),
	key("mix", "Operations and their shares, of any sum.", valueMap),
	key("sequence", "Operations, done in turn.", names),
	key("operations", "How many the group does in all, the same number for each client. Default: until the time is over.", valueOf),
	key("rate", "Operations per second of the whole group, as in 500 or 500/s, or a daily curve. 0, the default: as many as possible.", strictyaml.Either(valueOf, strictyaml.Shape{"$ref": "#/$defs/rate"})),
	key("pace", "even or poisson. Default even.", strictyaml.Shape{"enum": []string{"even", "poisson"}}),
	key("retry", "What follows a failure because of others: same, new (with new values), or none. Default same.", strictyaml.Shape{"enum": []string{"same", "new", "none"}}),
}

var rateKeys = strictyaml.Table[none]{
	key("mean", "Operations per second on average. 0: as many as possible.", valueOf),
	key("amplitude", "How much more and less it becomes.", valueOf),
	key("period", "The length of a day: seconds, or a duration.", valueOf),
}

var checkKeys = strictyaml.Table[none]{
	key("name", "What is checked.", aName),
	key("expect", "A condition on parameters, count(TABLE), sum(TABLE, COLUMN) and done(OPERATION). Within { } a comma needs quotes: \"sum(accounts, balance) == 0\".", aName),
}

// paramTypes are the types of parameters.
var paramTypes = []string{"int", "float", "bool", "string", "duration"}
