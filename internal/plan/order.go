package plan

import (
	"fmt"
	"rumbench/internal/text/strictyaml"
	"time"
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
	n := f.Value("stop")
	if n == nil {
		return
	}
	fields := b.Fields(n, "stop", stopKeys.Names())
	if n.Kind != strictyaml.Mapping {
		return
	}
	stopKeys.Bind(fields, &p.Stop)
	lowest := fields.Of.Key("min_trials")
	switch {
	case n.Get("precision") == nil && n.Get("budget") == nil:
		b.At(n, "stop says neither how precise nor how long", "as in stop: {precision: 2%, budget: 2h}")
	case n.Get("precision") == nil && lowest != nil:
		b.At(lowest, "min_trials is of precision, which stop does not ask for",
			"remove it, or add precision, as precision: 2%")
	case p.Order == Sequential:
		b.At(n, "a sequential campaign has no blocks after which it could stop: the last target alone would lose trials",
			"remove stop, or set order: interleaved")
	case trialsRefused(f):
	case p.Trials == 1:
		b.At(n, "there is nothing to stop: trials is 1", "trials is the greatest number then, as trials: 20")
	case p.Stop.MinTrials > p.Trials:
		b.At(fields.Value("min_trials"),
			fmt.Sprintf("min_trials: %d is more than all trials, which are %d", p.Stop.MinTrials, p.Trials),
			"lower it, or raise trials")
	}
	if p.Stop.Precision > 0 && p.Stop.MinTrials == 0 {
		p.Stop.MinTrials = min(usualMinTrials, p.Trials)
	}
}

// trialsRefused reports whether the number of trials was reported as wrong.
func trialsRefused(f strictyaml.Fields) bool {
	n := f.Of.Get("trials")
	if n == nil {
		return false
	}
	_, err := strictyaml.Integer(1, maxTrials).Read(n)
	return err != nil
}

// checkDuet refuses targets that cannot run at the same time on separate CPUs.
func (b *binder) checkDuet(f strictyaml.Fields, targets []*bound, o Order) {
	if o != Duet {
		return
	}
	if n := f.Of.Get("targets"); n != nil && n.Kind == strictyaml.List && len(n.Items) > 0 && len(n.Items) != 2 {
		b.At(f.Value("order"), fmt.Sprintf("order: a duet has two targets, and the plan has %d", len(n.Items)),
			"name two targets, or set order: interleaved")
	}
	for _, t := range targets {
		if t.Config.Server.DSN != "" {
			b.At(t.dsnNode(), "dsn: a duet keeps each target on its own processors, and a server that runs already cannot "+
				"be kept there",
				"set order: interleaved, or let a private server be started")
		}
	}
}
