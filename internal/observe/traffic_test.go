package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/procfs"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// What interfaces have sent and received never falls, though they come, go and are made again.
func TestTraffic(t *testing.T) {
	dir := t.TempDir()
	expect.NoError(t, os.Mkdir(filepath.Join(dir, "net"), 0o755))
	kernel := expect.Value(procfs.NewFS(dir))(t)
	var net traffic
	read := func(lines ...string) (got, sent float64) {
		text := "Inter-|   Receive | Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo " +
			"colls carrier compressed\n    lo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n"
		for _, l := range lines {
			text += l + "\n"
		}
		expect.NoError(t, os.WriteFile(filepath.Join(dir, "net", "dev"), []byte(text), 0o644))
		var s engine.Sample
		net.read(kernel, &s)
		for _, p := range s.Points {
			if p.Name == NetGot {
				got = p.Value
			} else {
				sent = p.Value
			}
		}
		return got, sent
	}
	line := func(name string, got, sent int) string {
		return fmt.Sprintf("%s: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0", name, got, sent)
	}
	first, _ := read(line("rbx0", 1000, 100))
	for i, c := range []struct {
		lines     []string
		got, sent float64
	}{
		{[]string{line("rbx0", 1010, 103), line("rbx1", 5, 5)}, 15, 8},
		{[]string{line("rbx1", 7, 5)}, 17, 8},
		{nil, 17, 8},
		{[]string{line("rbx1", 2, 1)}, 19, 9},
	} {
		got, sent := read(c.lines...)
		expect.True(t, got-first == c.got && sent-100 == c.sent,
			"received and sent", i, got-first, sent-100, c.got, c.sent)
	}
}
