package observe

import (
	"os"
	"testing"

	"rumbench/internal/expect"
)

// A device reads and writes something, and nothing is left of the probe.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	c, err := Probe(dir)
	if err != nil {
		t.Skipf("no file here bypasses the page cache: %v", err)
	}
	expect.True(t, min(c.Reads, c.Writes, c.ReadKB, c.WriteKB, c.Flushes) > 0, "a device that does nothing", c)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// Where files are in memory nothing can be probed.
func TestProbeInMemory(t *testing.T) {
	_, err := Probe("/proc")
	expect.True(t, err != nil, "a device under /proc")
}
