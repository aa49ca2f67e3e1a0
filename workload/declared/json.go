package declared

import (
	"fmt"
	"math"
	"strconv"

	"rumbench/internal/text/strictyaml"
	"rumbench/model"
)

func buildJSON(a *arguments) value {
	if a.body.Kind != strictyaml.Mapping || len(a.body.Entries) == 0 {
		a.refuse(a.at, "json is a map of fields to values", "as in {json: {name: {text: 10}, age: {uniform: [1, 99]}}}")
		return value{}
	}
	out := value{typ: model.String, mean: 2, limit: 2, json: true}
	var names []string
	var fields []value
	unknown := false // the mean of a field's bytes
	for i, entry := range a.body.Entries {
		v, ok := a.c.value(entry.Value, a.scope)
		a.wrong = a.wrong || !ok
		if v.typ == model.Bytes || v.typ == model.UUID {
			a.refuse(entry.Value, fmt.Sprintf("field %s is of type %s, which JSON does not have", entry.Key.Text,
				nameOf(v.typ)), "use text")
		}
		opening := string(escape([]byte(`"`+entry.Key.Text), 1)) + `":`
		if i > 0 {
			opening = "," + opening
		}
		names, fields = append(names, opening), append(fields, v)
		out.late = out.late || v.late
		out.mean += float64(len(opening)) + 2 + v.size()
		unknown = unknown || v.size() == 0 && !v.fixed
		if limit := v.mostJSON(); limit == 0 || out.limit == 0 {
			out.limit = 0
		} else {
			out.limit += int64(len(opening)) + limit
		}
	}
	if unknown {
		out.mean = 0
	}
	out.text = func(e *env) []byte {
		start := len(e.text)
		e.text = append(e.text, '{')
		for i := range fields {
			e.text = append(e.text, names[i]...)
			fields[i].appendJSON(e)
		}
		e.text = append(e.text, '}')
		return e.text[start:len(e.text):len(e.text)]
	}
	return out
}

// mostJSON returns the greatest length of the value in JSON; 0: unknown.
func (v *value) mostJSON() int64 {
	switch {
	case v.typ != model.String:
		return longestNumber
	case v.json || !known(*v):
		return v.limit
	case v.escapes:
		return 2 + longestEscape*v.limit
	}
	return 2 + v.limit
}

const (
	longestNumber = 24 // -1.7976931348623157e+308
	longestEscape = 6  // \u001f
)

// appendJSON appends the value to the environment's text.
func (v *value) appendJSON(e *env) {
	switch v.typ {
	case model.Int, model.Time:
		e.text = strconv.AppendInt(e.text, v.num(e), 10)
		return
	case model.Float:
		if f := v.real(e); math.IsNaN(f) || math.IsInf(f, 0) {
			e.text = append(e.text, "null"...)
		} else {
			e.text = strconv.AppendFloat(e.text, f, 'g', -1, 64)
		}
		return
	}
	if v.json {
		v.append(e)
		return
	}
	e.text = append(e.text, '"')
	position := len(e.text)
	v.append(e)
	if v.escapes {
		e.text = escape(e.text, position)
	}
	e.text = append(e.text, '"')
}

// escape replaces the characters that JSON forbids in a text, from a position to the end.
func escape(text []byte, start int) []byte {
	extra := 0
	for _, c := range text[start:] {
		switch {
		case c < ' ':
			extra += longestEscape - 1
		case mustEscape(c):
			extra++
		}
	}
	old := len(text)
	for range extra {
		text = append(text, 0)
	}
	for index, end := old-1, len(text); index >= start && end > index+1; index-- {
		c := text[index]
		switch {
		case c < ' ':
			end -= longestEscape
			copy(text[end:], `\u00`)
			text[end+4], text[end+5] = "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]
		case mustEscape(c):
			end -= 2
			text[end], text[end+1] = '\\', c
		default:
			end--
			text[end] = c
		}
	}
	return text
}
