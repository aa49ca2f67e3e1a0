package watch

import (
	"fmt"
	"strings"
	"testing"

	"rumbench/engine"
)

func TestTable(t *testing.T) {
	all := frames(t)
	f := all[1]
	rows := &f.Sources[2].Rows // of a server with more counters than fit
	for i := range 20 {
		*rows = append(*rows, Row{Known: true, Rate: float64(i * i), Point: engine.Point{Name: fmt.Sprintf("fake.c%02d", i), Labels: `target="my"`, Kind: engine.Counter, Unit: "count"}})
	}
	f.Sources[2].Note = restarted
	var b strings.Builder
	table := &Table{Out: &b, Top: 5, Expressions: []*Expression{{Name: "await_ms"}, {Name: "no.value"}, {Name: "engine.stall_percent", builtin: true}}}
	for _, f := range append(all, f) {
		must(t, table.Frame(f))
	}
	golden(t, "frame.table", b.String())
}

func TestFilteredTable(t *testing.T) {
	s, err := ParseSelector("device.*{dev=nvme*}")
	must(t, err)
	all, err := ParseSelector("*")
	must(t, err)
	var b strings.Builder
	for _, filter := range []Filter{{s}, {all}} {
		must(t, (&Table{Out: &b, Filter: filter}).Frame(frames(t)[1]))
	}
	golden(t, "filtered.table", b.String())
}

// TestRedraw: on a terminal a frame replaces the last one, and never grows
// beyond the screen, where it could not be replaced.
func TestRedraw(t *testing.T) {
	var b strings.Builder
	table := &Table{Out: &b, Size: func() (int, int) { return 40, 8 }}
	all := frames(t)
	must(t, table.Frame(all[0]))
	if b.Len() > 0 {
		t.Errorf("the first frame was drawn: %q", b.String())
	}
	for range 2 {
		b.Reset()
		must(t, table.Frame(all[1]))
	}
	text, ok := strings.CutPrefix(b.String(), "\x1b[7A\r\x1b[J")
	if !ok {
		t.Errorf("not drawn over: %q", b.String())
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[6], "… ") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for _, line := range lines {
		if len([]rune(line)) > 40 {
			t.Errorf("too long: %q", line)
		}
	}
}

func TestHuman(t *testing.T) {
	for _, test := range []struct {
		value      float64
		unit, want string
	}{
		{0, "bytes", "0 B"}, {1, "bytes/s", "1 B/s"}, {1023, "bytes", "1023 B"}, {1023.9, "bytes", "1.00 KiB"}, {1024, "bytes", "1 KiB"},
		{1536 << 20, "bytes/s", "1.50 GiB/s"}, {-2048, "bytes", "-2 KiB"}, {5 << 60, "bytes", "5120 PiB"},
		{0, "ns", "0 ms"}, {250, "ns", "250 ns"}, {1500, "ns", "1.50 µs"}, {2.5e6, "ns/s", "2.50 ms/s"}, {999.6e6, "ns", "1.00 s"}, {90e9, "ns", "90 s"},
		{20, "us", "20 µs"}, {0.25, "ms", "250 µs"}, {0.5, "s", "500 ms"}, {2, "seconds", "2 s"},
		{12.345, "percent", "12.3 %"}, {0.04, "percent", "0.0 %"},
		{0, "count", "0"}, {3, "count/s", "3/s"}, {3.14159, "count", "3.14"}, {1234.5, "count/s", "1234/s"}, {999_499, "count", "999499"}, {1.5e6, "count/s", "1.50M/s"}, {2e9, "", "2G"},
		{0.95, "ratio", "0.950"}, {1e-7, "ratio", "1e-07"}, {7, "pages/s", "7 pages/s"},
	} {
		if got := human(test.value, test.unit); got != test.want {
			t.Errorf("%v %s is %q, want %q", test.value, test.unit, got, test.want)
		}
	}
}
