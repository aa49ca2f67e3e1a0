package watch

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func TestTable(t *testing.T) {
	all := frames(t)
	f := all[1]
	rows := &f.Sources[2].Rows // of a server with more counters than fit
	for i := range 20 {
		*rows = append(*rows, Row{Known: true, Rate: float64(i * i), Point: engine.Point{Name: fmt.Sprintf("fake.c%02d", i), Labels: `target="my"`, Kind: engine.Counter, Unit: "count"}})
	}
	f.Sources[2].Note = resetNote
	var b strings.Builder
	table := &Table{Out: &b, All: true, Top: 5, Expressions: []*Expression{{Name: "await_ms"}, {Name: "no.value"}, {Name: "engine.stall_percent", builtin: true}}}
	for _, f := range append(all, f) {
		expect.NoError(t, table.Frame(f))
	}
	expect.Golden(t, *update, "frame.table", b.String())
}

// What matters first fits on 80 columns and in few lines.
func TestLeadTable(t *testing.T) {
	f := some()
	rows := &f.Sources[2].Rows
	for i, m := range engine.Meanings() {
		labels := `target="production"`
		if m.Name == engine.Commits {
			labels = engine.ExplicitOnly + `="true",` + labels
		}
		*rows = append(*rows, Row{Known: true, Rate: 123456 * float64(i+1), Point: engine.Point{Name: m.Name, Labels: labels, Kind: m.Kind, Unit: m.Unit, Value: 1e3}})
	}
	var b strings.Builder
	expect.NoError(t, (&Table{Out: &b, Expressions: []*Expression{{Name: "mine"}}}).Frame(f))
	expect.Golden(t, *update, "lead.table", b.String())
	lines := strings.Split(b.String(), "\n")
	expect.True(t, len(lines) <= 20, len(lines), "lines")
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestFilteredTable(t *testing.T) {
	s := expect.Value(ParseSelector("device.*{dev=nvme*}"))(t)
	all := expect.Value(ParseSelector("*"))(t)
	var b strings.Builder
	for _, filter := range []Filter{{s}, {all}} {
		expect.NoError(t, (&Table{Out: &b, Filter: filter}).Frame(frames(t)[1]))
	}
	expect.Golden(t, *update, "filtered.table", b.String())
}

// TestRedraw: on a terminal a frame replaces the last one, and never grows
// beyond the screen, where it could not be replaced.
func TestRedraw(t *testing.T) {
	var b strings.Builder
	table := &Table{Out: &b, All: true, Size: func() (int, int) { return 40, 8 }}
	all := frames(t)
	expect.NoError(t, table.Frame(all[0]))
	expect.True(t, b.Len() <= 0, "the first frame was drawn", b.String())
	for range 2 {
		b.Reset()
		expect.NoError(t, table.Frame(all[1]))
	}
	text, ok := strings.CutPrefix(b.String(), "\x1b[7A\r\x1b[J")
	expect.True(t, ok, "not drawn over", b.String())
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	expect.True(t, len(lines) == 7 && strings.HasPrefix(lines[6], "… "), len(lines), "lines", lines)
	for _, line := range lines {
		expect.True(t, len([]rune(line)) <= 40, "too long", line)
	}
}
