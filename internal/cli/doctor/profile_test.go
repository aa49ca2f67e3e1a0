package doctor

import (
	"path/filepath"
	"testing"

	"rumbench/internal/expect"
)

// What the kernel's files show of a profile's needs.
func TestFiles(t *testing.T) {
	const none = "there is no file"
	for _, c := range []struct {
		name   string
		check  func(path string) Finding
		text   string
		status Status
	}{
		{"names are hidden", kernelNames, "0000000000000000 T _text\n0000000000000000 t do_one\n", Warn},
		{"names", kernelNames, "0000000000000000 A a\nffffffff81000000 T _text\n", OK},
		{"no names", kernelNames, "", Warn},
		{"no file of names", kernelNames, none, Warn},
		{"may look at threads", threadLooks, "Name:\tx\nCapEff:\t0000000000080000\n", OK},
		{"may not look at threads", threadLooks, "CapEff:\t0000000000040000\n", Warn},
		{"unknown rights", threadLooks, "", Warn},
		{"delays are counted", delays, "1\n", OK},
		{"delays are not counted", delays, "0\n", Warn},
		{"no delays", delays, none, Warn},
		{"a filesystem in memory", func(string) Finding { return fileTracer("/dev/shm") }, none, Warn},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if c.text != none {
			expect.Write(t, path, c.text, 0o600)
		}
		if got := c.check(path); got.Status != c.status || (got.Fix == "") != (c.status == OK) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Every collector says what was found and, if it is missing, what would help.
func TestCollectors(t *testing.T) {
	for _, f := range Collectors().Findings {
		expect.True(t, f.Name != "" && f.Found != "" && f.Why != "" && (f.Status == OK || f.Fix != ""), f)
	}
}
