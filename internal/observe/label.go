package observe

import (
	"context"
	"slices"
	"strings"

	"rumbench/engine"
)

// Label is a label of a series.
type Label struct{ Name, Value string }

// Labels are the labels of a series, sorted by name.
type Labels []Label

// ParseLabels parses the labels of a point. Values are not escaped, so a value ends
// at the quotation mark that is followed by another label or the end.
func ParseLabels(text string) Labels {
	var labels Labels
	for text != "" {
		name, tail, ok := strings.Cut(text, `="`)
		if !ok {
			return labels
		}
		end := endOfValue(tail)
		labels = append(labels, Label{name, tail[:end]})
		text = strings.TrimPrefix(tail[min(end+1, len(tail)):], ",")
	}
	return labels
}

func endOfValue(text string) int {
	for i := range len(text) {
		if text[i] == '"' && (i+1 == len(text) || beginsLabel(text[i+1:])) {
			return i
		}
	}
	return len(text)
}

// beginsLabel reports whether a text begins with a comma, a name, and ="
func beginsLabel(text string) bool {
	name, _, ok := strings.Cut(text, `="`)
	return ok && len(name) > 1 && name[0] == ',' && !strings.ContainsAny(name[1:], `,"= `)
}

// String returns the labels as they are written in points.
func (l Labels) String() string {
	var b strings.Builder
	for i, label := range l {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(label.Name + `="` + label.Value + `"`)
	}
	return b.String()
}

// Get returns the value of a label, "" if there is none.
func (l Labels) Get(name string) string {
	for _, label := range l {
		if label.Name == name {
			return label.Value
		}
	}
	return ""
}

// With returns the labels with one added, which replaces one of the same name.
func (l Labels) With(name, value string) Labels {
	i, found := slices.BinarySearchFunc(l, name, func(a Label, name string) int { return strings.Compare(a.Name, name) })
	if found {
		l = slices.Clone(l)
		l[i].Value = value
		return l
	}
	return slices.Insert(slices.Clone(l), i, Label{name, value})
}

// Labelled adds labels to the points of a collector and gives it a separate
// source name, so that several collectors of one kind can be sampled side by
// side.
type Labelled struct {
	collector Collector
	source    string
	labels    Labels
	merged    map[string]string // by the labels that the collector gave
}

// NewLabelled returns the collector under a source name, with labels given as pairs
// of name and value.
func NewLabelled(c Collector, source string, pairs ...string) *Labelled {
	l := &Labelled{collector: c, source: source, merged: make(map[string]string)}
	for i := 0; i+1 < len(pairs); i += 2 {
		l.labels = l.labels.With(pairs[i], pairs[i+1])
	}
	return l
}

// Name returns the source name.
func (l *Labelled) Name() string { return l.source }

// Collect adds the points of the collector, with the labels added.
func (l *Labelled) Collect(ctx context.Context, s *engine.Sample) error {
	first := len(s.Points)
	if err := l.collector.Collect(ctx, s); err != nil {
		return err
	}
	added := s.Points[first:]
	if len(l.merged) > 2*len(added)+100 {
		clear(l.merged) // most of them belong to series that are gone
	}
	for i := range added {
		p := &added[i]
		text, found := l.merged[p.Labels]
		if !found {
			all := ParseLabels(p.Labels)
			for _, label := range l.labels {
				all = all.With(label.Name, label.Value)
			}
			text = all.String()
			l.merged[p.Labels] = text
		}
		p.Labels = text
	}
	return nil
}
