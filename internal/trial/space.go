package trial

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/internal/fsize"
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
	return r.addSpaceOfFiles(live)
}

// addSpaceTold takes the word of a server whose files are not ours.
func (r *rows) addSpaceTold(live workload.Live) {
	for _, z := range r.out.Sizes {
		if z.Object == "" && z.Bytes > 0 {
			r.put("db_bytes", float64(z.Bytes), source(ownAccount+", "+z.Kind))
			r.amplification(z.Bytes, live, ownAccount+", "+z.Kind)
		}
	}
}

// addSpaceOfFiles measures the directory. Where the engine can tell its files
// apart, a redo log of a fixed size and the server's own tables are no
// amplification: their size does not depend on the rows.
func (r *rows) addSpaceOfFiles(live workload.Live) error {
	class := func(string) string { return "" }
	classifier, apart := r.db.(engine.Classifier)
	if apart {
		class = func(path string) string { return string(classifier.FileClass(path)) }
	}
	bytes, err := fsize.ByClass(r.dir, class)
	if err != nil {
		return err
	}
	var total int64
	for _, n := range bytes {
		total += n.Allocated
	}
	if total == 0 {
		return nil // an engine in memory has no files
	}
	r.put("db_bytes", float64(total), source("data directory"))
	if !apart {
		r.amplification(total, live, "data directory")
		return nil
	}
	data, log := bytes[string(engine.DataFile)].Allocated, bytes[string(engine.LogFile)]
	r.put("data_bytes", float64(data), source("files of tables and indexes"))
	r.put("log_bytes", float64(log.Allocated+bytes[string(engine.RedoFile)].Allocated), source("files of logs"))
	r.amplification(data+log.Used, live, "files of tables and indexes, and logs as far as they are written")
	return nil
}

func (r *rows) amplification(bytes int64, live workload.Live, from string) {
	if live.Bytes > 0 {
		r.put("space_amplification", float64(bytes)/float64(live.Bytes), source(from))
	}
}
