package watch

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// frames are some, with what is derived, before and after a frame of its own.
func frames(t *testing.T) []*Frame {
	t.Helper()
	e := expect.Value(ParseExpression("test", "await_ms", `delta("device.read_ns") / delta("device.reads") / 1e6`))(t)
	e.Unit = "ms"
	first, f := some(), some()
	first.Number = 0
	f.derive([]*Expression{e})
	return []*Frame{first, f}
}

// written is what a writer makes of the frames.
func written(t *testing.T, writer func(io.Writer, Filter) func(*Frame) error, filter Filter) string {
	t.Helper()
	var b strings.Builder
	write := writer(&b, filter)
	for _, f := range frames(t) {
		expect.NoError(t, write(f))
	}
	return b.String()
}

func TestCSV(t *testing.T) {
	text := written(t, CSV, nil)
	expect.Golden(t, *update, "frame.csv", text)
	if rows := expect.Value(csv.NewReader(strings.NewReader(text)).ReadAll())(t); len(rows) != 14 {
		t.Errorf("%d lines", len(rows))
	}
	filtered := written(t, CSV, Filter{expect.Value(ParseSelector("device.reads"))(t)})
	if n := strings.Count(filtered, "\n"); n != 1+2+1 { // errors are always written
		t.Errorf("%d lines:\n%s", n, filtered)
	}
}

func TestJSONL(t *testing.T) {
	text := written(t, JSONL, nil)
	expect.Golden(t, *update, "frame.jsonl", text)
	for line := range strings.Lines(text) {
		var l Line
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		expect.NoError(t, dec.Decode(&l))
		expect.True(t, l.Time != "" && l.Source != "" && l.Kind != "" && (l.Value == nil) != (l.Error == ""),
			"not self-describing", line)
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
		expect.True(t, errors.Is(err, errFull), name, err)
	}
}
