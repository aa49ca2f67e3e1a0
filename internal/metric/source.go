package metric

// The sources of space_amplification: the space that counts as that of the rows.
const (
	SpaceOfDirectory = "data directory" // of an engine that uses it alone
	SpaceBeyondEmpty = "files of tables and indexes, and all others but redo logs beyond those of the empty server"
	SpaceAndLogs     = "files of tables and indexes, and logs as far as they are written"
)

// WholeSpace reports whether a source of space_amplification includes all space
// of the rows, with old versions, wherever they are kept.
func WholeSpace(source string) bool { return source == SpaceOfDirectory || source == SpaceBeyondEmpty }

// The sources of CPU time.
const (
	OfServer  = "the server's processes"
	OfProcess = "process, engine and client together"
	OfClient  = "rumbench's own process"
	OfAll     = OfServer + " and " + OfClient
)
