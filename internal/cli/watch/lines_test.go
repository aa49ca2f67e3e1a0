package watch

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"rumbench/internal/need"
)

// frames are some, with what is derived, before and after a frame of its own.
func frames(t *testing.T) []*Frame {
	t.Helper()
	e := need.Value(ParseExpression("test", "await_ms", `delta("device.read_ns") / delta("device.reads") / 1e6`))(t)
	e.Unit = "ms"
	first, f := some(), some()
	first.Number = 0
	f.derive([]*Expression{e})
	return []*Frame{first, f}
}

func TestCSV(t *testing.T) {
	var b strings.Builder
	write := CSV(&b, nil)
	for _, f := range frames(t) {
		must(t, write(f))
	}
	need.Golden(t, *update, "frame.csv", b.String())
	rows := need.Value(csv.NewReader(strings.NewReader(b.String())).ReadAll())(t)
	if len(rows) != 14 {
		t.Errorf("%d lines", len(rows))
	}
}

func TestJSONL(t *testing.T) {
	var b strings.Builder
	write := JSONL(&b, nil)
	for _, f := range frames(t) {
		must(t, write(f))
	}
	need.Golden(t, *update, "frame.jsonl", b.String())
	for line := range strings.Lines(b.String()) {
		var l Line
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		must(t, dec.Decode(&l))
		if l.Time == "" || l.Source == "" || l.Kind == "" || (l.Value == nil) == (l.Error == "") {
			t.Errorf("not self-describing: %s", line)
		}
	}
}

func TestFilteredLines(t *testing.T) {
	s := need.Value(ParseSelector("device.reads"))(t)
	var b strings.Builder
	write := CSV(&b, Filter{s})
	for _, f := range frames(t) {
		must(t, write(f))
	}
	if n := strings.Count(b.String(), "\n"); n != 1+2+1 { // errors are always written
		t.Errorf("%d lines:\n%s", n, b.String())
	}
}

// full is a disk without space.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	f := some()
	for name, err := range map[string]error{
		"csv": CSV(full{}, nil)(f), "jsonl": JSONL(full{}, nil)(f), "table": (&Table{Out: full{}}).Frame(f),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
