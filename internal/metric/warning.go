package metric

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
)

// Code is the subject of a warning. Verdicts, gates and reports decide on it,
// never on the text.
type Code string

// Values are the figures and names in a warning: float64 or string, by the names
// that the text of its code gives them.
type Values map[string]any

// Warning limits the use of a number, a step or a trial.
type Warning struct {
	Code   Code   `json:"code,omitempty"` // "": a text without one, as in an imported log
	Values Values `json:"values,omitempty"`
	Text   string `json:"text"` // made from code and values
}

// Untyped returns a warning that has only a text.
func Untyped(text string) Warning { return Warning{Text: text} }

// UntypedAll returns warnings that have only texts.
func UntypedAll(texts []string) []Warning {
	var out []Warning
	for _, text := range texts {
		out = append(out, Untyped(text))
	}
	return out
}

// Warn returns a warning with its text. It panics if values are missing or not
// named in the code's text: that is a bug.
func Warn(code Code, values Values) Warning {
	k, ok := kinds[code]
	if !ok {
		panic("no text of warning " + string(code))
	}
	unused := maps.Clone(values)
	text := placeholder.ReplaceAllStringFunc(fitting(k.Text, values), func(p string) string {
		name, text := valueOf(p, values)
		if _, ok := values[name]; !ok {
			panic(fmt.Sprintf("warning %s lacks %s", code, name))
		}
		delete(unused, name)
		return text
	})
	if len(unused) > 0 {
		panic(fmt.Sprintf("warning %s does not name %v", code, slices.Sorted(maps.Keys(unused))))
	}
	return Warning{Code: code, Values: values, Text: text}
}

// valueOf returns the name of a placeholder's value and its formatted text.
func valueOf(place string, values Values) (name, text string) {
	name, verb, _ := strings.Cut(place[1:len(place)-1], ":")
	return name, fmt.Sprintf(cmp.Or(verb, "%v"), values[name])
}

// Parts splits the text at its figures: words and figures alternate, beginning
// and ending with a word. Texts of one code with equal words differ only in
// figures. A warning without a code is one word.
func (w Warning) Parts() (words, figures []string) {
	k := w.Code.Kind()
	if words, figures = partsOf(fitting(k.Text, w.Values), w.Values); w.Code != "" && join(words, figures) == w.Text {
		return words, figures
	}
	return []string{w.Text}, nil
}

func partsOf(text string, values Values) (words, figures []string) {
	source, position := "", 0
	for _, v := range placeholder.FindAllStringIndex(text, -1) {
		name, shown := valueOf(text[v[0]:v[1]], values)
		source += text[position:v[0]]
		position = v[1]
		if _, number := values[name].(float64); !number {
			source += shown
			continue
		}
		words, figures, source = append(words, source), append(figures, shown), ""
	}
	return append(words, source+text[position:]), figures
}

func join(words, figures []string) string {
	text := words[0]
	for i, f := range figures {
		text += f + words[i+1]
	}
	return text
}

// placeholder matches a value in a text: {name}, or {name:%.0f}.
var placeholder = regexp.MustCompile(`\{[a-z_]+(:%[^}]*)?\}`)

// optional matches a part of a text that is left out if its first value is
// unknown: [, rumbench for {client:%.2f} s].
var optional = regexp.MustCompile(`\[[^\]]*\]`)

// fitting returns a text with those optional parts whose values are known.
func fitting(text string, values Values) string {
	return optional.ReplaceAllStringFunc(text, func(stretch string) string {
		name, _ := valueOf(placeholder.FindString(stretch), nil)
		if _, found := values[name]; !found {
			return ""
		}
		return stretch[1 : len(stretch)-1]
	})
}

// String returns the text.
func (w Warning) String() string { return w.Text }

// Texts returns the texts of warnings.
func Texts(list []Warning) []string { return quantity.Texts(list, Warning.String) }

// Codes returns the codes of warnings, "" for those without one.
func Codes(list []Warning) []string {
	return quantity.Texts(list, func(w Warning) string { return string(w.Code) })
}

// OthersShare returns the share of the processors, in percent, that other programs used; 0: the warning does not say.
func (w Warning) OthersShare() float64 {
	share, _ := w.Values["share"].(float64)
	if w.Code != ProcessorsShared {
		return 0
	}
	return share
}

// Has reports whether one of the warnings has the code.
func Has(list []Warning, code Code) bool {
	return slices.ContainsFunc(list, func(w Warning) bool { return w.Code == code })
}

// HasEffect reports whether one of the warnings has the effect.
func HasEffect(list []Warning, e Effect) bool { return WithEffect(list, e) != nil }

// WithEffect returns the first of the warnings that has the effect; nil if none has.
func WithEffect(list []Warning, e Effect) *Warning {
	for i := range list {
		if list[i].Code.Kind().Effect == e {
			return &list[i]
		}
	}
	return nil
}

// byWeight are the effects, those that weigh most first.
var byWeight = []Effect{Invalidates, Refuses, Disturbs, Bounds}

// weight returns how much a warning weighs, 0 the most: by its effect, then the
// codes on which something is decided, then all others.
func (w Warning) weight() int {
	if i := slices.Index(byWeight, w.Code.Kind().Effect); i >= 0 {
		return i
	}
	if _, ok := decisive[w.Code]; ok {
		return len(byWeight)
	}
	return len(byWeight) + 1
}

// Weightiest returns the first of the most important warnings. There must be at
// least one.
func Weightiest(list []Warning) Warning {
	return slices.MinFunc(list, func(a, b Warning) int { return cmp.Compare(a.weight(), b.weight()) })
}

// Short returns the short form of the warning, without values.
func (w Warning) Short() string { return cmp.Or(w.Code.Kind().Short, w.Text) }

// AppendNew appends the warnings whose text is not yet in the list.
func AppendNew(list []Warning, extra ...Warning) []Warning {
	for _, w := range extra {
		if !slices.ContainsFunc(list, func(o Warning) bool { return o.Text == w.Text }) {
			list = append(list, w)
		}
	}
	return list
}

// The codes are in code.go (those that decide something) and descriptive.go
// (all others).
