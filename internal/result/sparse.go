package result

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// wants are the sources of a series that a reader wants, each with the names of
// the wanted values; nil is all.
type wants map[string][]string

// wantsOf parses the sources that a reader names: “ops”, or
// “engine:engine.stalls” for one value.
func wantsOf(sources []string) wants {
	if sources == nil {
		return nil
	}
	w := wants{}
	for _, s := range sources {
		source, name, some := strings.Cut(s, ":")
		if names, found := w[source]; found && names == nil || !some {
			w[source] = nil
			continue
		}
		w[source] = append(w[source], name)
	}
	return w
}

// subject returns the wanted values of a line, nil for all; ok is false if
// there are none. It does not decode the line: most lines of a long run are
// counters of engines that few readers want.
func (w wants) subject(line []byte) (names []string, ok bool) {
	_, remaining, found := bytes.Cut(line, []byte(`"src":"`))
	source, _, closed := bytes.Cut(remaining, []byte{'"'})
	if w == nil || !found || !closed {
		return nil, true // not in the format written here; left to the decoder
	}
	names, ok = w[string(source)]
	return names, ok
}

// decode decodes a line with the named values only; nil is all. Engines have
// hundreds of values, and decoding them all takes a hundred times as long as
// finding a few.
func (l *Line) decode(line []byte, names []string) error {
	if names == nil {
		return json.Unmarshal(line, l)
	}
	line = bytes.TrimSpace(line)
	head, remaining, ok := bytes.Cut(line, []byte(`,"v":{`))
	end := bytes.LastIndex(remaining, []byte(`},"late":`))
	if end < 0 && bytes.HasSuffix(remaining, []byte(`}}`)) {
		end = len(remaining) - 2
	}
	if !ok || end < 0 {
		return json.Unmarshal(line, l) // not as it is written here
	}
	if err := json.Unmarshal(append(bytes.Clone(head), remaining[end+1:]...), l); err != nil {
		return err
	}
	l.V = map[string]float64{}
	for _, name := range names {
		if !pick(l.V, remaining[:end], name) {
			return json.Unmarshal(line, l)
		}
	}
	return nil
}

// pick puts the values of a name with any labels into a map. It returns false
// if the text is not in the format written here.
func pick(into map[string]float64, text []byte, name string) bool {
	quoted := []byte(`"` + name)
	for position := 0; ; {
		i := bytes.Index(text[position:], quoted)
		if i < 0 {
			return true
		}
		start := position + i
		position = start + len(quoted)
		if start > 0 && text[start-1] != ',' || position == len(text) || text[position] != '"' && text[position] != '{' {
			continue // within a label, or a longer name
		}
		end := bytes.Index(text[start:], []byte(`":`))
		if end < 0 {
			return false
		}
		position = start + end + len(`":`)
		value, _, _ := bytes.Cut(text[position:], []byte{','})
		var key string
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil || json.Unmarshal(text[start:start+end+1], &key) != nil {
			return false
		}
		into[key] = v
	}
}
