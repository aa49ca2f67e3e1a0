package trial

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/internal/fsize"
	"rumbench/internal/metric"
	"rumbench/workload"
)

// addSpace adds sizes and memory at the end of the step.
//
// Engines walk their files to tell the sizes of objects, and so fill the page
// cache. That is done only when the check has read everything anyhow, or when
// no step follows that would find the cache warm.
func (r *rows) addSpace(ctx context.Context, live workload.Live, warm bool) error {
	if warm || r.last {
		var err error
		if r.out.Sizes, err = r.db.Sizes(ctx); err != nil {
			return fmt.Errorf("sizes: %w", err)
		}
	}
	r.put("live_rows", float64(live.Rows))
	r.put("live_bytes", float64(live.Bytes))
	if r.window.memory > 0 {
		r.put("server_memory_bytes", float64(r.window.memory), source(r.window.memorySource+", "+r.processSource()))
	}
	if r.dir == "" {
		r.addSpaceTold(live)
		return nil
	}
	return r.addSpaceOfFiles(ctx, live)
}

// addSpaceTold takes the word of a server whose files are not ours.
func (r *rows) addSpaceTold(live workload.Live) {
	for _, z := range r.out.Sizes {
		if z.Object == "" && z.Bytes > 0 {
			r.put("db_bytes", float64(z.Bytes), source(ownAccount+", "+z.Kind))
			r.amplification(z.Bytes, live, source(ownAccount+", "+z.Kind),
				warnings([]metric.Warning{metric.Untyped("of a server that was attached to, old versions of rows and logs outside of tables and indexes are unknown and not in it")}))
		}
	}
}

// addSpaceOfFiles measures the directory.
func (r *rows) addSpaceOfFiles(ctx context.Context, live workload.Live) error {
	class := func(string) engine.FileClass { return "" }
	classifier, apart := r.db.(engine.Classifier)
	if apart {
		var err error
		if class, err = classifier.FileClass(ctx); err != nil {
			return fmt.Errorf("tell files apart: %w", err)
		}
	}
	sums, err := fsize.ByClass(r.dir, class)
	if err != nil {
		return err
	}
	var total int64
	for _, n := range sums {
		total += n.Allocated
	}
	if total == 0 {
		return nil // an engine in memory has no files
	}
	r.put("db_bytes", float64(total), source(metric.SpaceOfDirectory))
	if !apart {
		r.amplification(total, live, source(metric.SpaceOfDirectory))
		return nil
	}
	logs := sums[engine.LogFile].Allocated + sums[engine.RedoFile].Allocated + sums[engine.SpareFile].Allocated
	r.put("data_bytes", float64(sums[engine.DataFile].Allocated), source("files of tables and indexes"))
	r.put("log_bytes", float64(logs), source("files of logs"))
	bytes, from, doubt := engineSpace(sums, classifier.Empty())
	r.amplification(bytes, live, source(from), warnings(doubt))
	return nil
}

// engineSpace is the space that an engine takes for its rows: the files of
// tables and indexes, and what all others hold beyond those of the server when
// it was empty, as far as they are written. Old versions of rows are in it,
// wherever they are kept. Its own tables are not, nor is a redo log whose files
// are used again: how much there is of it says how far a setting lets it run
// ahead of the last checkpoint, and nothing of the rows. Where the empty server
// is unknown, logs that grow are all that is counted beside tables and indexes.
func engineSpace(sums map[engine.FileClass]fsize.Sum, empty map[engine.FileClass]int64) (bytes int64, from string, doubt []metric.Warning) {
	bytes = sums[engine.DataFile].Allocated
	if empty == nil {
		return bytes + sums[engine.LogFile].Used, metric.SpaceAndLogs,
			[]metric.Warning{metric.Untyped("the server's files were not measured when it was empty: old versions of rows outside of tables and indexes are not in it")}
	}
	for class, sum := range sums {
		if class != engine.DataFile && class != engine.SpareFile && class != engine.RedoFile {
			bytes += max(0, sum.Used-empty[class])
		}
	}
	return bytes, metric.SpaceBeyondEmpty, nil
}

func (r *rows) amplification(bytes int64, live workload.Live, more ...func(*metric.Row)) {
	if live.Bytes > 0 {
		r.put("space_amplification", float64(bytes)/float64(live.Bytes), more...)
	}
}
