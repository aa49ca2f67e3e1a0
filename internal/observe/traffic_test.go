package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/procfs"

	"rumbench/engine"
)

// What interfaces have sent and received never falls, though they come, go and are made again.
func TestTraffic(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "net"), 0o755); err != nil {
		t.Fatal(err)
	}
	kernel, err := procfs.NewFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	var net traffic
	read := func(lines ...string) (got, sent float64) {
		text := "Inter-|   Receive | Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo " +
			"colls carrier compressed\n    lo: 99 1 0 0 0 0 0 0 99 1 0 0 0 0 0 0\n"
		for _, l := range lines {
			text += l + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, "net", "dev"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
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
		if got-first != c.got || sent-100 != c.sent {
			t.Errorf("%d: %v received and %v sent, want %v and %v", i, got-first, sent-100, c.got, c.sent)
		}
	}
}
