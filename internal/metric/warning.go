package metric

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
)

// Code is the subject of a warning. Verdicts, gates and reports decide on it,
// never on the text.
type Code string

// Effect is the effect of a warning on the number or step that it is attached to.
type Effect int

// The effects. A warning without one limits only how a reader uses a number.
const (
	Disturbs    Effect = iota + 1 // the number may include other programs' activity: it is not compared
	Bounds                        // the number is a lower bound
	Refuses                       // the step's numbers cannot be compared with those of others
	Invalidates                   // something else was measured than planned: the step is invalid
)

// Kind is how a code is worded. The codes and their kinds are in internal/remark.
type Kind struct {
	// Text is the warning's text: {name} is a value, {name:%.0f} a number in a
	// format, and [ around {name}] is left out if the value is unknown.
	Text string
	// Short is a short form without values, which verdicts show next to a number
	// and the progress after a step; "" if the text itself is short.
	Short  string
	Effect Effect
	// Rank orders remarks, the lowest first: what makes numbers unusable, what limits conclusions from them,
	// what only informs.
	Rank int
}

// kinds are those of all codes, as internal/remark enters them.
var kinds = map[Code]Kind{}

// Enter adds a code. It panics if there is one of that name: that is a bug.
func Enter(code Code, k Kind) {
	if _, ok := kinds[code]; ok {
		panic("two remarks have the code " + string(code))
	}
	kinds[code] = k
}

// Kind returns the code's Kind, the zero Kind for "".
func (c Code) Kind() Kind { return kinds[c] }

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
	text, unused := fill(k.Text, values)
	if len(unused) > 0 {
		panic(fmt.Sprintf("warning %s does not name %v", code, unused))
	}
	return Warning{Code: code, Values: values, Text: text}
}

// Fill returns a text with its values: {name}, {name:%.0f}, {name:bytes}, {name:digits}; [ around {name}] is
// left out if the value is unknown. It panics if a value is missing: that is a bug.
func Fill(text string, values Values) string {
	text, _ = fill(text, values)
	return text
}

// fill also returns the names of the values that the text does not name.
func fill(template string, values Values) (text string, unused []string) {
	left := maps.Clone(values)
	text = placeholder.ReplaceAllStringFunc(fitting(template, values), func(p string) string {
		name, text := valueOf(p, values)
		if _, ok := values[name]; !ok {
			panic(fmt.Sprintf("%q lacks %s", template, name))
		}
		delete(left, name)
		return text
	})
	return text, slices.Sorted(maps.Keys(left))
}

// Range is a value that is shown by its ends, or by one if they read the same.
type Range struct{ Low, High float64 }

// Ends returns the ends of a value; NaN if it is no number.
func Ends(value any) (low, high float64) {
	switch v := value.(type) {
	case float64:
		return v, v
	case Range:
		return v.Low, v.High
	}
	return math.NaN(), math.NaN()
}

// valueOf returns the name of a placeholder's value and its formatted text.
func valueOf(place string, values Values) (name, text string) {
	name, verb, _ := strings.Cut(place[1:len(place)-1], ":")
	if r, ok := values[name].(Range); ok {
		if text = formatted(verb, r.High); formatted(verb, r.Low) != text {
			text = formatted(verb, r.Low) + " to " + text
		}
		return name, text
	}
	return name, formatted(verb, values[name])
}

func formatted(verb string, value any) string {
	number, _ := value.(float64)
	switch verb {
	case "bytes":
		return quantity.Bytes(number)
	case "digits":
		return quantity.Digits(number)
	}
	return fmt.Sprintf(cmp.Or(verb, "%v"), value)
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
var placeholder = regexp.MustCompile(`\{[a-z_]+(:[^}]*)?\}`)

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

// rank returns the rank of the warning's code; those without a code are last.
func (w Warning) rank() int {
	if k, ok := kinds[w.Code]; ok {
		return k.Rank
	}
	return math.MaxInt
}

// ByRank compares warnings by their rank: the most important first.
func ByRank(a, b Warning) int { return cmp.Compare(a.rank(), b.rank()) }

// Weightiest returns the first of the most important warnings. There must be at
// least one.
func Weightiest(list []Warning) Warning { return slices.MinFunc(list, ByRank) }

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
