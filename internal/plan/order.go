package plan

import (
	"fmt"
	"time"
)

func stopShape() schema {
	return stopKeys.shape().
		with("anyOf", []schema{{"required": []string{"precision"}}, {"required": []string{"budget"}}}).
		with("dependentRequired", schema{"min_trials": []string{"precision"}})
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
func (b *binder) stop(f fields, p *Plan) {
	n := f.value("stop")
	if n == nil {
		return
	}
	of := b.fields(n, "stop", stopKeys.names())
	if n.kind != mapping {
		return
	}
	stopKeys.bind(of, &p.Stop)
	least := of.of.key("min_trials")
	switch {
	case n.get("precision") == nil && n.get("budget") == nil:
		b.at(n, "stop says neither how precise nor how long", "as in stop: {precision: 2%, budget: 2h}")
	case n.get("precision") == nil && least != nil:
		b.at(least, "min_trials is of precision, which stop does not ask for", "remove it, or add precision, as precision: 2%")
	case p.Order == Sequential:
		b.at(n, "a sequential campaign has no blocks after which it could stop: the last target alone would lose trials", "remove stop, or set order: interleaved")
	case f.trialsRefused():
	case p.Trials == 1:
		b.at(n, "there is nothing to stop: trials is 1", "trials is the greatest number then, as trials: 20")
	case p.Stop.MinTrials > p.Trials:
		b.at(of.value("min_trials"), fmt.Sprintf("min_trials: %d is more than all trials, which are %d", p.Stop.MinTrials, p.Trials), "lower it, or raise trials")
	}
	if p.Stop.Precision > 0 && p.Stop.MinTrials == 0 {
		p.Stop.MinTrials = min(usualMinTrials, p.Trials)
	}
}

// trialsRefused reports whether the number of trials was reported as wrong.
func (f fields) trialsRefused() bool {
	n := f.of.get("trials")
	if n == nil {
		return false
	}
	_, err := integer(1, maxTrials).read(n)
	return err != nil
}

// checkDuet refuses targets that cannot run at the same time on separate CPUs.
func (b *binder) checkDuet(f fields, targets []*bound, o Order) {
	if o != Duet {
		return
	}
	if n := f.of.get("targets"); n != nil && n.kind == list && len(n.items) > 0 && len(n.items) != 2 {
		b.at(f.value("order"), fmt.Sprintf("order: a duet is of two targets, and the plan has %d", len(n.items)), "name two targets, or set order: interleaved")
	}
	for _, t := range targets {
		if t.Config.Server.DSN != "" {
			b.at(t.dsnNode(), "dsn: a duet keeps each target on processors of its own, and a server that runs already cannot be kept there",
				"set order: interleaved, or let a private server be started")
		}
	}
}
