package account

import (
	"rumbench/engine"
	"rumbench/internal/fsize"
	"rumbench/internal/metric"
	"rumbench/workload"
)

// Space is what a database took at the end of a step.
type Space struct {
	Live   workload.Live
	Hosted bool // see Observed
	// Memory is of the engine's processes; 0: not known.
	Memory       int64
	MemorySource string
	// Sizes are those that the engine knows, and Attached is whether its files are
	// not ours to look at.
	Sizes    []engine.Size
	Attached bool
	// Files are the sizes of the files by class, and Empty what they were when the
	// server was empty; nil if that was not measured. Where classes are not Apart
	// all are of the rows.
	Files map[engine.FileClass]fsize.Sum
	Empty map[engine.FileClass]int64
	Apart bool
}

// Space adds sizes and memory at the end of the step.
func (b *Builder) Space(z *Space) {
	b.Put("live_rows", float64(z.Live.Rows))
	b.Put("live_bytes", float64(z.Live.Bytes))
	if z.Memory > 0 {
		b.Put("server_memory_bytes", float64(z.Memory), Source(z.MemorySource+", "+processSource(z.Hosted)))
	}
	amplification := func(bytes int64, more ...With) {
		if z.Live.Bytes > 0 {
			b.Put("space_amplification", float64(bytes)/float64(z.Live.Bytes), more...)
		}
	}
	if z.Attached {
		for _, size := range z.Sizes {
			if from := Source(ownAccount + ", " + size.Kind); size.Object == "" && size.Bytes > 0 {
				b.Put("db_bytes", float64(size.Bytes), from)
				amplification(size.Bytes, from, Warned(metric.Warn(metric.AttachedSpace, nil)))
			}
		}
		return
	}
	var total int64
	for _, n := range z.Files {
		total += n.Allocated
	}
	if total == 0 {
		return // an engine in memory has no files
	}
	b.Put("db_bytes", float64(total), Source(metric.SpaceOfDirectory))
	if !z.Apart {
		amplification(total, Source(metric.SpaceOfDirectory))
		return
	}
	logs := z.Files[engine.LogFile].Allocated + z.Files[engine.RedoFile].Allocated + z.Files[engine.SpareFile].Allocated
	b.Put("data_bytes", float64(z.Files[engine.DataFile].Allocated), Source("files of tables and indexes"))
	b.Put("log_bytes", float64(logs), Source("files of logs"))
	bytes, from, warned := z.ofRows()
	amplification(bytes, Source(from), Warned(warned...))
}

// ofRows is the space that an engine takes for its rows: the files of
// tables and indexes, and what all others hold beyond those of the server when
// it was empty, as far as they are written. Old versions of rows are in it,
// wherever they are kept. Its own tables are not, nor is a redo log whose files
// are used again: how much there is of it says how far a setting lets it run
// ahead of the last checkpoint, and nothing of the rows. Where the empty server
// is unknown, logs that grow are all that is counted beside tables and indexes.
func (z *Space) ofRows() (bytes int64, from string, warned []metric.Warning) {
	bytes = z.Files[engine.DataFile].Allocated
	if z.Empty == nil {
		return bytes + z.Files[engine.LogFile].Used, metric.SpaceAndLogs, []metric.Warning{metric.Warn(metric.EmptyUnknown, nil)}
	}
	for class, sum := range z.Files {
		if class != engine.DataFile && class != engine.SpareFile && class != engine.RedoFile {
			bytes += max(0, sum.Used-z.Empty[class])
		}
	}
	return bytes, metric.SpaceBeyondEmpty, nil
}
