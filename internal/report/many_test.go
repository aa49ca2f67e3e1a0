package report

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/page"
)

// many makes up a campaign of so many targets, of one trial each.
func many(targets int) Input {
	rnd := rand.New(rand.NewPCG(5, 6))
	in := Input{Title: "many servers"}
	for i := range targets {
		in.Trials = append(in.Trials, Trial{Trial: bigTrial(rnd, i, 1)})
	}
	return in
}

// Of few targets a page holds the verdicts on every pair; of many only those
// against the first, so that it does not grow with the square of their number.
func TestPairsOfManyTargets(t *testing.T) {
	for _, c := range []struct {
		targets, pairs int
		some           bool
	}{{4, 4 * 3, false}, {20, 19, true}} {
		page := render(t, many(c.targets))
		var j embeddedJudgements
		expect.NoError(t, json.Unmarshal([]byte(judgementsPattern.FindStringSubmatch(page)[1]), &j))
		expect.Equal(t, len(j.Pairs), c.pairs, "targets: pairs, some", c.targets)
		expect.Equal(t, j.Some, c.some, "targets: pairs, some", c.targets)
	}
}

// The sentences about the fastest targets need the headline numbers of pairs, and
// no more of them than there are targets for each fastest one.
func TestJudgementsOfManyTargets(t *testing.T) {
	const targets = 12
	c := newCampaign(many(targets).Trials)
	verdictOn(c)
	overviewTable(c, &page.Notes{})
	if n := len(c.judgements); n > targets-1 {
		t.Errorf("%d full judgements of %d targets", n, targets)
	}
	fastest := map[*target]bool{}
	for _, s := range c.steps {
		if k, ok := s.Rate(s.Primary); ok {
			fastest[c.verdicts.Contest(s.Step, k).Subject] = true
		}
	}
	if n := len(c.quick); n == 0 || n > (len(fastest)+1)*(targets-1) {
		t.Errorf("%d judgements of the headline for %d targets that are the fastest somewhere", n, len(fastest))
	}
}
