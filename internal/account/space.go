package account

import (
	"maps"
	"slices"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/workload"
)

// Space is the space occupied by a database at the end of a step.
type Space struct {
	Live   workload.Live
	Hosted bool // see Observed
	// Memory is that of the engine's processes; 0: unknown.
	Memory       int64
	MemorySource string
	// Sizes are those that the engine reports. Attached: its files cannot be read.
	Sizes    []engine.Size
	Attached bool
	// Files are the sizes of the files by class, and Empty those of the empty
	// server; nil if not measured. If classes are not Apart, all files belong to
	// the rows.
	Files map[engine.FileClass]fsize.Sum
	Empty map[engine.FileClass]int64
	Apart bool
	// Messages are the bytes of what the server printed, a log that is not among the Files.
	Messages int64
}

// GrownBytes is the name of a counter: the bytes by which the files of a class grew over a
// step.
func GrownBytes(class engine.FileClass) string { return "files.grown_bytes." + string(class) }

// used returns the written bytes of a class of files.
func (z *Space) used(class engine.FileClass) int64 {
	if class == engine.MessageFile {
		return z.Files[class].Used + z.Messages
	}
	return z.Files[class].Used
}

// Growth adds how the files of each class grew between the ends of two steps. Files of a fixed
// size, and those that are removed, say nothing about what was written.
func (b *Builder) Growth(previousSpace, after *Space) {
	if !after.Apart {
		return
	}
	classes := slices.AppendSeq([]engine.FileClass{engine.MessageFile}, maps.Keys(after.Files))
	slices.Sort(classes)
	for _, class := range slices.Compact(classes) {
		if grown := after.used(class) - previousSpace.used(class); grown >= 0 {
			b.Counters = append(b.Counters, observe.Change{Name: GrownBytes(class), Kind: engine.Counter, Unit: "bytes",
				Value: float64(grown)})
		}
	}
}

// ObjectSize adds the size of a table, an index or the whole database.
func (b *Builder) ObjectSize(z engine.Size) {
	var warned []metric.Warning
	if z.Kind == engine.Estimate {
		warned = append(warned, metric.Warn(remark.EstimatedSize, nil))
	}
	b.Put(metric.ObjectBytes, float64(z.Bytes), Labelled(metric.Labels{Object: z.Object}), Source(ownAccount),
		Warned(warned...))
}

// Space adds sizes and memory at the end of the step.
func (b *Builder) Space(z *Space) {
	live := z.Live.Bytes > 0 && !z.Live.Partial
	if !z.Live.Partial {
		b.Put(metric.LiveRows, float64(z.Live.Rows))
		b.Put(metric.LiveBytes, float64(z.Live.Bytes))
	}
	if z.Memory > 0 {
		b.Put(metric.ServerMemoryBytes, float64(z.Memory), Source(z.MemorySource+", "+processSource(z.Hosted)))
	}
	for _, size := range z.Sizes {
		b.ObjectSize(size)
	}
	amplification := func(bytes int64, extra ...With) {
		if live {
			b.Put(metric.SpaceAmplification, float64(bytes)/float64(z.Live.Bytes), extra...)
		}
	}
	if z.Attached {
		for _, size := range z.Sizes {
			if source := Source(ownAccount + ", " + size.Kind); size.Object == "" && size.Bytes > 0 {
				b.Put(metric.DBBytes, float64(size.Bytes), source)
				amplification(size.Bytes, source, Warned(metric.Warn(remark.AttachedSpace, nil)))
			}
		}
		return
	}
	var total int64
	for _, n := range z.Files {
		total += n.Allocated
	}
	if total == 0 {
		return // an in-memory engine has no files
	}
	b.Put(metric.DBBytes, float64(total), Source(metric.SpaceOfDirectory))
	if !z.Apart {
		amplification(total, Source(metric.SpaceOfDirectory))
		return
	}
	var logs int64
	for _, class := range []engine.FileClass{engine.LogFile, engine.RedoFile, engine.SpareFile, engine.BinlogFile} {
		logs += z.Files[class].Allocated
	}
	b.Put(metric.DataBytes, float64(z.Files[engine.DataFile].Allocated), Source("files of tables and indexes"))
	b.Put(metric.LogBytes, float64(logs), Source("files of logs"))
	parts, source, warned := z.ofRows()
	var bytes int64
	for _, class := range slices.Sorted(maps.Keys(parts)) {
		bytes += parts[class]
		if live && parts[class] > 0 {
			b.Put(metric.SpacePart, float64(parts[class])/float64(z.Live.Bytes), Of("", string(class)), Source(source))
		}
	}
	amplification(bytes, Source(source), Warned(warned...))
}

// ofRows returns the space that an engine uses for its rows, in parts: the
// files of tables and indexes, and the growth of all other files since the
// server was empty, as far as they are written. It includes old versions of
// rows, wherever they are kept. It excludes the server's own tables and a redo
// log whose files are reused: its size depends on how far settings let it run
// ahead of the last checkpoint, not on the rows. If the empty server is
// unknown, only growing logs are counted in addition to tables and indexes.
func (z *Space) ofRows() (parts map[engine.FileClass]int64, source string, warned []metric.Warning) {
	parts = map[engine.FileClass]int64{engine.DataFile: z.Files[engine.DataFile].Allocated}
	if z.Empty == nil {
		parts[engine.LogFile], parts[engine.BinlogFile] = z.Files[engine.LogFile].Used, z.Files[engine.BinlogFile].Used
		return parts, metric.SpaceAndLogs, []metric.Warning{metric.Warn(remark.EmptyUnknown, nil)}
	}
	for class, sum := range z.Files {
		if class != engine.DataFile && class != engine.SpareFile && class != engine.RedoFile {
			parts[class] = max(0, sum.Used-z.Empty[class])
		}
	}
	return parts, metric.SpaceBeyondEmpty, nil
}
