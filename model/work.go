package model

// Work counts the work of operations.
type Work struct {
	Rows  int64 // units done
	Bytes int64 // user bytes written (index entries included) or returned
	// Expected is how many rows the operations should find or change, given what
	// the workload has stored; 0: unknown. Found is how many they found, at most
	// Expected if that is known. Fewer are a finding, not an error.
	Expected, Found int64
	// Reads, Writes and Others count the statements executed: reads, writes that
	// changed something, and all others: begin, commit, rollback, and writes that
	// changed nothing.
	Reads, Writes, Others int64
}

// Add adds the work of more operations.
func (w *Work) Add(o *Work) {
	w.Rows += o.Rows
	w.Bytes += o.Bytes
	w.Expected += o.Expected
	w.Found += o.Found
	w.Reads += o.Reads
	w.Writes += o.Writes
	w.Others += o.Others
}

// Statements returns the number of statements.
func (w *Work) Statements() int64 { return w.Reads + w.Writes + w.Others }

// Lap is the time of one statement of an operation.
type Lap struct {
	Part int   // position of the statement in the operation
	Time int64 // in nanoseconds
}
