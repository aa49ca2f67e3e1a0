package plan

import "rumbench/internal/text/strictyaml"

// Hooks are commands that run at one end of the parts of a campaign; "": none.
type Hooks struct{ Campaign, Trial, Step string }

// Any reports whether there is a command.
func (h Hooks) Any() bool { return h != Hooks{} }

var hookKeys = strictyaml.Table[Hooks]{
	strictyaml.Valued("campaign", "At this end of the campaign.", strictyaml.Text,
		func(h *Hooks, v string) { h.Campaign = v }),
	strictyaml.Valued("trial", "At this end of each trial.", strictyaml.Text, func(h *Hooks, v string) { h.Trial = v }),
	strictyaml.Valued("step", "At this end of each step, outside of what is measured.", strictyaml.Text,
		func(h *Hooks, v string) { h.Step = v }),
}

// readHooks reads the commands that a plan wants to run.
func readHooks(f strictyaml.Fields, p *Plan) {
	for key, dst := range map[string]*Hooks{"before": &p.Before, "after": &p.After} {
		section(f, key, hookKeys, dst, key+" is not a map of commands", "as in "+key+": {trial: sync}")
	}
}
