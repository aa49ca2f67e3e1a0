package plan

import (
	"time"

	"rumbench/internal/text/strictyaml"
)

func stopShape() strictyaml.Shape {
	return stopKeys.Shape().
		With("anyOf", []strictyaml.Shape{{"required": []string{"precision"}}, {"required": []string{"budget"}}}).
		With("dependentRequired", strictyaml.Shape{"min_trials": []string{"precision"}})
}

const (
	// usualMinTrials is the default of min_trials, the trials of each target
	// before the precision is checked: with fewer, a confidence interval is
	// mostly chance. It is even, so that every block has been followed by its
	// reverse.
	usualMinTrials = 6
	// maxBudget is the greatest budget of a campaign.
	maxBudget = 1000 * time.Hour
)

// stop reads when the campaign may end early.
func (b *binder) stop(f strictyaml.Fields, p *Plan) {
	fields, ok := section(f, "stop", stopKeys, &p.Stop)
	if !ok {
		return
	}
	b.refuse(stopExclusions(fields, f, p)...)
	if p.Stop.Precision > 0 && p.Stop.MinTrials == 0 {
		p.Stop.MinTrials = min(usualMinTrials, p.Trials)
	}
}
