package report

import (
	"fmt"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

type (
	target = compare.Target
	run    = compare.Run
	key    = compare.Key
)

// campaign is what the page is made of: the trials sorted into targets × steps,
// and all of their rows, to whose positions the page's numbers refer.
type campaign struct {
	*compare.Campaign
	steps  []*step
	sweeps []*sweep
	rows   []metric.Row
	at     map[*metric.Row]int // positions in rows
	series map[*result.Trial]func(yield func(result.Line) error) error
	// judgements are of pairs of targets, base first.
	judgements map[[2]*target]*compare.Judgement
	quick      map[[2]*target]*compare.Judgement // of the headline numbers only
}

// step is a step with its name on the page.
type step struct {
	*compare.Step
	*campaign
	id string // unique on the page
}

// newCampaign sorts trials. Its rows are numbered from offset on.
func newCampaign(trials []Trial, offset int) *campaign {
	c := &campaign{
		at: map[*metric.Row]int{}, series: map[*result.Trial]func(func(result.Line) error) error{},
		judgements: map[[2]*target]*compare.Judgement{}, quick: map[[2]*target]*compare.Judgement{},
	}
	var plain []*result.Trial
	for _, t := range trials {
		plain = append(plain, t.Trial)
		c.series[t.Trial] = t.Series
		for i := range t.Steps {
			rows := t.Steps[i].Rows
			for k := range rows {
				c.at[&rows[k]] = offset + len(c.rows)
				c.rows = append(c.rows, rows[k])
			}
		}
	}
	c.Campaign = compare.New(plain)
	for i, s := range c.Steps {
		// The number keeps ids apart that differ only in characters an id cannot have.
		c.steps = append(c.steps, &step{s, c, fmt.Sprintf("s%d-%s", i+1, slug(s.Name))})
	}
	c.sweeps = c.newSweeps()
	return c
}

func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, s)
}
