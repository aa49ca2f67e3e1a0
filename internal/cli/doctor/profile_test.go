package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"rumbench/internal/expect"
)

// What the kernel's files show of a profile's needs.
func TestFiles(t *testing.T) {
	const none = "there is no file"
	for _, c := range []struct {
		name   string
		check  func(*machine) Finding
		file   string
		text   string
		status Status
	}{
		{"names are hidden", kernelNames, "kallsyms", "0000000000000000 T _text\n0000000000000000 t do_one\n", Warn},
		{"names", kernelNames, "kallsyms", "0000000000000000 A a\nffffffff81000000 T _text\n", OK},
		{"no names", kernelNames, "kallsyms", "", Warn},
		{"no file of names", kernelNames, "kallsyms", none, Warn},
		{"may look at threads", threadLooks, "1/status", "Name:\tx\nCapEff:\t0000000000080000\n", OK},
		{"may not look at threads", threadLooks, "1/status", "CapEff:\t0000000000040000\n", Warn},
		{"unknown rights", threadLooks, "1/status", "", Warn},
		{"delays are counted", delays, "sys/kernel/task_delayacct", "1\n", OK},
		{"delays are not counted", delays, "sys/kernel/task_delayacct", "0\n", Warn},
		{"no delays", delays, "sys/kernel/task_delayacct", none, Warn},
		{"a filesystem in memory", func(*machine) Finding { return fileTracer(&machine{dir: "/dev/shm"}) }, "", none, Warn},
	} {
		m := &machine{proc: t.TempDir()}
		expect.NoError(t, os.Symlink("1", filepath.Join(m.proc, "self")))
		if c.text != none {
			path := filepath.Join(m.proc, c.file)
			expect.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			expect.Write(t, path, c.text, 0o600)
		}
		if got := c.check(m); got.Status != c.status || (got.Fix == "") != (c.status == OK) {
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
