package campaign

import (
	"fmt"
	"slices"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/workload/gen"
)

// Entries lists the trials of a plan in the order in which they run.
//
// An interleaved campaign and a duet consist of blocks of one trial of each
// target. Every second block is the reverse of the one before, so that a
// machine that becomes slower and slower affects all targets equally. In an
// interleaved campaign the other blocks are random, by the plan's seed, so that
// no rhythm of the machine always affects the same target. In a duet they are
// alike: the first of a block gets the first half of the processors, and the
// halves change from block to block.
func Entries(p *plan.Plan) (out []result.Entry) {
	names := targetNames(p)
	add := func(target string, n int) {
		out = append(out, result.Entry{Dir: fmt.Sprintf("%s.%d", target, n), Target: target, Trial: n})
	}
	if p.Order == plan.Sequential {
		for _, name := range names {
			for n := range p.Trials {
				add(name, n+1)
			}
		}
		return out
	}
	for n := range p.Trials {
		switch {
		case n%2 == 1 || n > 0 && p.Order == plan.Duet:
			slices.Reverse(names)
		case p.Order == plan.Interleaved:
			shuffle(names, gen.NewStream(p.Seed.Value, "order of trials").Sub(uint64(n)))
		}
		for _, name := range names {
			add(name, n+1)
		}
	}
	return out
}

// shuffle puts names in one of all possible orders (Fisher and Yates, in the
// form of Durstenfeld).
func shuffle(names []string, s gen.Stream) {
	for i := len(names) - 1; i > 0; i-- {
		k := s.Uniform(uint64(i), int64(i)+1)
		names[i], names[k] = names[k], names[i]
	}
}

func targetNames(p *plan.Plan) []string {
	return quantity.Texts(p.Targets, func(t plan.Target) string { return t.Name })
}

// blocks returns the stretches of entries with the same number.
func blocks(entries []result.Entry) (out [][]result.Entry) {
	start := 0
	for end := range entries {
		if end+1 == len(entries) || entries[end+1].Trial != entries[end].Trial {
			out, start = append(out, entries[start:end+1]), end+1
		}
	}
	return out
}

// againSuffix is the suffix of the name of the second target of an A/A campaign.
const againSuffix = "-again"

// AgainstItself returns the plan of an A/A campaign: the first target alone,
// under two names. Differences are then due to chance, and the machine.
func AgainstItself(p *plan.Plan) (*plan.Plan, error) {
	first := p.Targets[0]
	if first.Data != "" && !p.Start.Any() {
		return nil, hint.Errorf("remove data from the target",
			"target %s works on a data directory in place, which cannot be done twice", first.Name)
	}
	second := first
	second.Name += againSuffix
	q := *p
	q.Targets = []plan.Target{first, second}
	if q.Order == plan.Sequential {
		q.Order = plan.Interleaved // only the machine's own changes would show
	}
	return &q, nil
}
