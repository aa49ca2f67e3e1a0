package serverkit

import (
	"os"
	"path/filepath"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// Text logs count what is added while they are watched: also to a file that is new, was emptied, or is there under two
// names. Without any in sight there is no counter.
func TestTextLogs(t *testing.T) {
	dir := t.TempDir()
	path, link, late := filepath.Join(dir, "log"), filepath.Join(dir, "link"), filepath.Join(dir, "late")
	l := &textLogs{paths: []string{path, link, late, dir}, sizes: map[uint64]int64{}}
	grown := func() float64 {
		t.Helper()
		var s engine.Sample
		if l.sample(&s); len(s.Points) == 0 {
			return -1
		}
		return s.Points[0].Value
	}
	write := func(path string, n int) {
		t.Helper()
		f := expect.Value(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))(t)
		expect.Value(f.Write(make([]byte, n)))(t)
		expect.NoError(t, f.Close())
	}
	expect.Equal(t, grown(), -1, "no file")
	write(path, 100)
	expect.NoError(t, os.Link(path, link))
	expect.Equal(t, grown(), 0, "what was there before")
	write(path, 10)
	write(late, 7)
	expect.Equal(t, grown(), 10, "of a file with two names")
	write(late, 5)
	expect.Equal(t, grown(), 15, "of a new file")
	expect.NoError(t, os.Truncate(path, 0))
	write(path, 3)
	expect.Equal(t, grown(), 18, "of one that was emptied")
}
