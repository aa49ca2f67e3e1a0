package watch

import (
	"fmt"
	"regexp"
	"strings"

	"rumbench/internal/observe"
)

// Selector names series: device.write_bytes, or device.*{dev=~"nvme.*"}.
type Selector struct {
	text     string
	name     string         // without wildcards
	pattern  *regexp.Regexp // of a name with wildcards, otherwise nil
	matchers []matcher
}

// matcher is a condition on a label. A label that is not there is empty.
type matcher struct {
	label  string
	negate bool
	value  string
	regex  *regexp.Regexp // instead of value
}

// syntaxError is a mistake at a place of a text.
type syntaxError struct {
	at      int // in bytes from the beginning
	message string
	hint    string
}

func (e *syntaxError) Error() string { return e.message }

const selectorHint = `a selector is a name, where * stands for any text, and conditions on labels: device.*_bytes{dev=~"nvme.*"}; rumbench stat --list tells the names`

// ParseSelector reads a selector.
func ParseSelector(text string) (*Selector, error) {
	s, err := parseSelector(text)
	if err != nil {
		return nil, &UserError{Where: fmt.Sprintf("selector, column %d", err.at+1), Message: err.message, Text: text, At: err.at, Advice: err.hint}
	}
	return s, nil
}

func parseSelector(text string) (*Selector, *syntaxError) {
	name, rest, braced := strings.Cut(text, "{")
	name = strings.TrimSpace(name)
	if name == "" {
		return nil, &syntaxError{0, "a selector begins with a name", selectorHint}
	}
	if i := strings.IndexAny(name, " \t\"'`}=,()"); i >= 0 {
		return nil, &syntaxError{i, fmt.Sprintf("%q cannot be part of a name", name[i]), selectorHint}
	}
	s := &Selector{text: text, name: name}
	if strings.ContainsAny(name, "*?") {
		s.pattern = wildcard(name)
	}
	if !braced {
		return s, nil
	}
	p := matcherParser{text: text, at: len(text) - len(rest)}
	err := p.all(&s.matchers)
	return s, err
}

// wildcard makes an expression of a name in which * stands for any text and ?
// for any character.
func wildcard(name string) *regexp.Regexp {
	quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(name))
	return regexp.MustCompile("^(?:" + quoted + ")$")
}

// matcherParser reads what is between the braces.
type matcherParser struct {
	text string
	at   int
}

func (p *matcherParser) fail(message string) *syntaxError {
	return &syntaxError{p.at, message, selectorHint}
}

func (p *matcherParser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// next tells whether the text goes on with a word, and skips it.
func (p *matcherParser) next(word string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.at:], word) {
		return false
	}
	p.at += len(word)
	return true
}

func (p *matcherParser) all(into *[]matcher) *syntaxError {
	for !p.next("}") {
		if len(*into) > 0 && !p.next(",") {
			return p.fail("conditions are separated by commas and end with }")
		}
		m, err := p.matcher()
		if err != nil {
			return err
		}
		*into = append(*into, m)
	}
	p.space()
	if p.at < len(p.text) {
		return p.fail("nothing may follow the closing brace")
	}
	return nil
}

var labelName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*`)

func (p *matcherParser) matcher() (m matcher, err *syntaxError) {
	p.space()
	m.label = labelName.FindString(p.text[p.at:])
	if m.label == "" {
		return m, p.fail("expected the name of a label")
	}
	p.at += len(m.label)
	regex := false
	switch {
	case p.next("=~"):
		regex = true
	case p.next("!~"):
		regex, m.negate = true, true
	case p.next("!="):
		m.negate = true
	case p.next("="):
	default:
		return m, p.fail("expected =, !=, =~ or !~ after the name of a label")
	}
	start := p.at
	if m.value, err = p.value(); err != nil || !regex {
		return m, err
	}
	var wrong error
	if m.regex, wrong = regexp.Compile("^(?:" + m.value + ")$"); wrong != nil {
		p.at = start
		return m, p.fail(strings.TrimPrefix(wrong.Error(), "error parsing regexp: "))
	}
	return m, nil
}

// value reads a value in quotation marks of any kind, or without any up to the
// next comma or brace.
func (p *matcherParser) value() (string, *syntaxError) {
	p.space()
	rest := p.text[p.at:]
	if rest == "" {
		return "", p.fail("expected the value of a label")
	}
	if quote := rest[0]; quote == '"' || quote == '\'' || quote == '`' {
		end := strings.IndexByte(rest[1:], quote)
		if end < 0 {
			return "", p.fail("the value of the label has no end")
		}
		p.at += end + 2
		return rest[1 : end+1], nil
	}
	end := strings.IndexAny(rest, ",}")
	if end < 0 {
		return "", p.fail("the conditions end with }")
	}
	p.at += end
	return strings.TrimSpace(rest[:end]), nil
}

// String is the selector as it was written.
func (s *Selector) String() string { return s.text }

// Matches tells whether a series is selected.
func (s *Selector) Matches(name, labels string) bool {
	return s.matchesName(name) && s.matchesLabels(labels)
}

func (s *Selector) matchesName(name string) bool {
	if s.pattern != nil {
		return s.pattern.MatchString(name)
	}
	return s.name == name
}

func (s *Selector) matchesLabels(text string) bool {
	if len(s.matchers) == 0 {
		return true
	}
	labels := observe.ParseLabels(text)
	for _, m := range s.matchers {
		value := labels.Get(m.label)
		ok := value == m.value
		if m.regex != nil {
			ok = m.regex.MatchString(value)
		}
		if ok == m.negate {
			return false
		}
	}
	return true
}
