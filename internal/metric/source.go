package metric

// The sources of space_amplification: what is counted as the space of the rows.
const (
	SpaceOfDirectory = "data directory" // of an engine that has it for itself
	SpaceBeyondEmpty = "files of tables and indexes, and all others but redo logs beyond those of the empty server"
	SpaceAndLogs     = "files of tables and indexes, and logs as far as they are written"
)

// WholeSpace tells whether a source of space_amplification is all that the rows
// take, old versions of them included, wherever they are kept.
func WholeSpace(source string) bool { return source == SpaceOfDirectory || source == SpaceBeyondEmpty }

// The sources of CPU time. Builds that wrote no Hosting tell by them where the
// engine was.
const (
	OfServer  = "the server's processes"
	OfProcess = "process, engine and client together"
	OfClient  = "rumbench's own process"
	OfAll     = OfServer + " and " + OfClient
)
