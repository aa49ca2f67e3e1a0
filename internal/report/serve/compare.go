package serve

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/page"
)

// The names of values in the address of a comparison.
const (
	baseValue = "base" // a campaign
	newValue  = "new"  // campaigns
	ofBase    = "base-target"
	ofNew     = "new-target"
)

// mostCompared limits the campaigns of a comparison.
const mostCompared = 20

// comparison returns the report of the chosen campaigns, or of one target of each, for an address.
func (s *Site) comparison(q url.Values, at string) ([]byte, error) {
	base, others, err := s.chosen(q)
	if err != nil {
		return nil, err
	}
	if base == nil || len(others) == 0 {
		return s.page(&page.Document{Title: "Compare", Lead: []page.Block{
			page.Prose("", "Choose a base and what to compare with it in the list of campaigns.")}}, s.links(comparePage))
	}
	if !hasTarget([]*entry{base}, q.Get(ofBase)) || !hasTarget(others, q.Get(ofNew)) {
		return nil, errors.New("there is no such target to choose")
	}
	args := []string{withTarget(base, q.Get(ofBase))}
	for _, e := range others {
		args = compare.AppendNew(args, withTarget(e, q.Get(ofNew)))
	}
	stamp := func() string {
		text := base.stampNow()
		for _, e := range others {
			text += e.stampNow()
		}
		return text
	}
	return s.cached(comparePage+strings.Join(args, "\x00"), stamp, func() ([]byte, error) {
		in, err := s.Report(args...)
		if err != nil {
			return nil, err
		}
		in.Links = s.links(at)
		if at != comparePage { // nobody would answer
			return html(in)
		}
		return html(in, s.targetsForm(q, base, others))
	})
}

// chosen returns the campaigns that an address names.
func (s *Site) chosen(q url.Values) (base *entry, others []*entry, err error) {
	find := func(rel string) *entry {
		e := s.store.find(rel)
		if e == nil || e.about == nil {
			err = fmt.Errorf("there is no campaign %q", rel)
		}
		return e
	}
	if rel := q.Get(baseValue); rel != "" {
		base = find(rel)
	}
	list := q[newValue]
	if len(list) > mostCompared {
		return nil, nil, fmt.Errorf("at most %d campaigns are compared at a time, not %d", mostCompared, len(list))
	}
	for _, rel := range list {
		others = append(others, find(rel))
	}
	return base, others, err
}

// hasTarget reports whether each campaign has a target. Names that look like paths are none
// here: DIR:TARGET must not name anything else.
func hasTarget(in []*entry, target string) bool {
	return target == "" || !strings.ContainsAny(target, "/:") && !slices.ContainsFunc(in, func(e *entry) bool {
		return !slices.Contains(targetsOf(e.about), target)
	})
}

func withTarget(e *entry, target string) string {
	if target == "" {
		return e.dir
	}
	return e.dir + ":" + target
}

// targetsForm asks which targets to compare, if there is a choice.
func (s *Site) targetsForm(q url.Values, base *entry, others []*entry) page.Form {
	f := page.Form{Button: "Compare", Fields: []page.Field{{Name: baseValue, Value: base.rel, Hidden: true}}}
	var names []string
	for _, e := range others {
		f.Fields = append(f.Fields, page.Field{Name: newValue, Value: e.rel, Hidden: true})
		names = compare.AppendNew(names, targetsOf(e.about)...)
	}
	choice := func(name, label string, targets []string) page.Field {
		field := page.Field{Name: name, Label: label, Value: q.Get(name), Choices: []page.FieldChoice{{Text: "all targets"}}}
		for _, t := range targets {
			field.Choices = append(field.Choices, page.FieldChoice{Value: t, Text: t})
		}
		return field
	}
	f.Fields = append(f.Fields, choice(ofBase, "base: "+base.rel, targetsOf(base.about)), choice(ofNew, "new", names))
	return f
}
