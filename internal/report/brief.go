package report

import (
	"fmt"
	"strings"

	"rumbench/internal/page"
)

// Brief is a report in two lines, for a list of campaigns.
type Brief struct {
	Trust   page.Badge
	Answer  string // "" without one
	Machine string // of the servers
}

// BriefOf returns the brief of a report.
func BriefOf(in Input) (b Brief, err error) {
	c := in.campaign()
	if len(c.Targets) == 0 {
		return b, fmt.Errorf("report %s: no trials", in.Title)
	}
	s, _ := c.story()
	b.Trust, b.Answer, b.Machine = trust(c, &in), s.Lead, machine(c)
	if b.Answer == "" {
		b.Answer = strings.Join(s.Sentences(), " ")
	}
	return b, nil
}
