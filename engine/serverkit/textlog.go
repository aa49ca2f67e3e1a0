package serverkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"rumbench/engine"
)

// textLogs are the files of a gateway's server that people read, as far as they are in sight: what it prints, and those
// that it names.
type textLogs struct {
	paths []string
	sizes map[uint64]int64 // by inode
	grown int64
}

func textLogsOf(ctx context.Context, d *DB, g *gateway) *textLogs {
	l := &textLogs{sizes: map[uint64]int64{}}
	pids, _ := g.Host.Processes()
	if len(pids) == 0 || d.client.TextLogs == "" {
		return l
	}
	process := fmt.Sprintf("/proc/%d", pids[0])
	l.paths = []string{filepath.Join(process, "fd/1"), filepath.Join(process, "fd/2")}
	// Without the right to ask they are not in sight.
	_ = g.counters.Query(ctx, d.client.TextLogs, func(row []string) error {
		for _, name := range row[1:] {
			if !filepath.IsAbs(name) {
				name = filepath.Join(row[0], name)
			}
			l.paths = append(l.paths, filepath.Join(process, "root", name))
		}
		return nil
	})
	return l
}

// sample adds by how much the files have grown. One that is new is counted from then on, one that was emptied as it is.
func (l *textLogs) sample(s *engine.Sample) {
	seen := map[uint64]int64{}
	for _, path := range l.paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			seen[info.Sys().(*syscall.Stat_t).Ino] = info.Size()
		}
	}
	for inode, size := range seen {
		before, known := l.sizes[inode]
		if size < before {
			before = 0
		}
		if known {
			l.grown += size - before
		}
		l.sizes[inode] = size
	}
	if len(seen) > 0 {
		s.Counter(engine.TextLogBytes, "bytes", float64(l.grown))
	}
}
