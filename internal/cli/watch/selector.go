package watch

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"rumbench/internal/observe"
	"rumbench/internal/text/hint"
)

// Selector selects series: device.write_bytes, or device.*{dev=~"nvme.*"}.
type Selector struct {
	text     string
	name     string         // without wildcards
	pattern  *regexp.Regexp // for a name with wildcards, otherwise nil
	matchers []matcher
}

// matcher is a condition on a label. A missing label is empty.
type matcher struct {
	label  string
	negate bool
	value  string
	regex  *regexp.Regexp // instead of value
}

// misread is an error at a byte of a selector.
type misread struct {
	at      int
	message string
}

const selectorHint = `a selector is a name, where * stands for any text, and conditions on labels: device.*_bytes{dev=~"nvme.*"}; ` +
	`rumbench stat --list shows the names`

func ParseSelector(text string) (*Selector, error) {
	s, wrong := parseSelector(text)
	if wrong != nil {
		return nil, hint.Errorf(selectorHint, "selector, column %d: %s%s", wrong.at+1, wrong.message,
			hint.Mark(text, utf8.RuneCountInString(text[:wrong.at])+1))
	}
	return s, nil
}

func parseSelector(text string) (*Selector, *misread) {
	name, tail, braced := strings.Cut(text, "{")
	name = strings.TrimSpace(name)
	if name == "" {
		return nil, &misread{0, "a selector begins with a name"}
	}
	if i := strings.IndexAny(name, " \t\"'`}=,()"); i >= 0 {
		return nil, &misread{i, fmt.Sprintf("%q cannot be part of a name", name[i])}
	}
	s := &Selector{text: text, name: name}
	if strings.ContainsAny(name, "*?") {
		s.pattern = wildcard(name)
	}
	if !braced {
		return s, nil
	}
	return s, s.conditions(len(text) - len(tail))
}

// wildcard returns the regular expression of a name in which * matches any text and
// ? any character.
func wildcard(name string) *regexp.Regexp {
	quoted := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(name))
	return regexp.MustCompile("^(?:" + quoted + ")$")
}

// Tokens of conditions.
var (
	labelName     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*`)
	labelOperator = regexp.MustCompile(`^(=~|!~|!=|=)`)
	labelValue    = regexp.MustCompile("^(\"[^\"]*\"|'[^']*'|`[^`]*`|[^\"'`,}][^,}]*|)") // quoted or bare
	comma         = regexp.MustCompile(`^,`)
	closingBrace  = regexp.MustCompile(`^}`)
)

// conditions parses the text between braces, starting at a byte.
func (s *Selector) conditions(position int) *misread {
	take := func(part *regexp.Regexp) string {
		position += len(s.text[position:]) - len(strings.TrimLeft(s.text[position:], " \t"))
		got := part.FindString(s.text[position:])
		position += len(got)
		return got
	}
	for take(closingBrace) == "" {
		if len(s.matchers) > 0 && take(comma) == "" {
			return &misread{position, "conditions are separated by commas and end with }"}
		}
		m := matcher{label: take(labelName)}
		if m.label == "" {
			return &misread{position, "expected the name of a label"}
		}
		operator := take(labelOperator)
		value := take(labelValue)
		start := position - len(value)
		switch {
		case operator == "":
			return &misread{start, "expected =, !=, =~ or !~ after the name of a label"}
		case value == "" && position < len(s.text) && !strings.ContainsAny(s.text[position:position+1], ",}"):
			return &misread{position, "the value of the label has no end"}
		case position == len(s.text) && (value == "" || !strings.ContainsAny(value[:1], "\"'`")):
			return &misread{start, "the conditions end with }"}
		}
		if m.value = strings.TrimSpace(value); m.value != "" && strings.ContainsAny(value[:1], "\"'`") {
			m.value = value[1 : len(value)-1]
		}
		m.negate = operator[0] == '!'
		if strings.HasSuffix(operator, "~") {
			var err error
			if m.regex, err = regexp.Compile("^(?:" + m.value + ")$"); err != nil {
				return &misread{start, strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
			}
		}
		s.matchers = append(s.matchers, m)
	}
	if strings.TrimSpace(s.text[position:]) != "" {
		return &misread{position, "nothing may follow the closing brace"}
	}
	return nil
}

// String returns the selector as written.
func (s *Selector) String() string { return s.text }

// Matches reports whether a series is selected.
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
