package metric

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// pattern parses the text of a code.
type pattern struct {
	code    Code
	literal int    // bytes of it outside values
	prefix  string // its literal beginning
	re      *regexp.Regexp
	names   []string // of the values, one per group
	numbers []bool
}

// leastLiteral is how many literal bytes a text needs to be unambiguous.
const leastLiteral = 10

// patterns are the patterns of all codes, the most specific first.
var patterns = sync.OnceValue(func() (out []pattern) {
	for code, k := range kinds {
		for _, text := range append([]string{k.Text}, k.Former...) {
			for _, text := range variants(text) {
				if p := patternOf(code, text); p.literal >= leastLiteral {
					out = append(out, p)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b pattern) int {
		return cmp.Or(cmp.Compare(b.literal, a.literal), strings.Compare(a.re.String(), b.re.String()))
	})
	return out
})

// variants returns a text with and without each of its optional stretches.
func variants(text string) []string {
	at := optional.FindStringIndex(text)
	if at == nil {
		return []string{text}
	}
	before, stretch := text[:at[0]], text[at[0]+1:at[1]-1]
	var out []string
	for _, rest := range variants(text[at[1]:]) {
		out = append(out, before+rest, before+stretch+rest)
	}
	return out
}

func patternOf(code Code, text string) pattern {
	p := pattern{code: code}
	var expr strings.Builder
	at := 0
	for i, v := range placeholder.FindAllStringIndex(text, -1) {
		name, verb, _ := strings.Cut(text[v[0]+1:v[1]-1], ":")
		if i == 0 {
			p.prefix = text[:v[0]]
		}
		p.literal += v[0] - at
		expr.WriteString(regexp.QuoteMeta(text[at:v[0]]))
		p.names, p.numbers = append(p.names, name), append(p.numbers, verb != "")
		expr.WriteString(map[bool]string{true: `([-+.\deE]+)`, false: `(.*?)`}[verb != ""])
		at = v[1]
	}
	if p.names == nil {
		p.prefix = text
	}
	p.literal += len(text) - at
	p.re = regexp.MustCompile(`(?s)^` + expr.String() + regexp.QuoteMeta(text[at:]) + `$`)
	return p
}

// Read returns the warning, with code and values, for a text of an older build.
// A text of no code stays untyped.
func Read(text string) Warning {
	for _, p := range patterns() {
		if strings.HasPrefix(text, p.prefix) {
			if values, ok := p.values(text); ok {
				return Warning{Code: p.code, Values: values, Text: text}
			}
		}
	}
	return Untyped(text)
}

func (p *pattern) values(text string) (Values, bool) {
	found := p.re.FindStringSubmatch(text)
	if found == nil {
		return nil, false
	}
	var out Values
	for i, name := range p.names {
		var v any = found[i+1]
		if p.numbers[i] {
			number, err := strconv.ParseFloat(found[i+1], 64)
			if err != nil {
				return nil, false
			}
			v = number
		}
		if had, twice := out[name]; twice && had != v {
			return nil, false
		}
		if out == nil {
			out = Values{}
		}
		out[name] = v
	}
	return out, true
}
