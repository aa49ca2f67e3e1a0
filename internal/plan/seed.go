package plan

import (
	"strconv"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload/gen"
)

// Seed determines the rows and choices of trials, and their order.
type Seed struct {
	Value uint64
	Fixed bool // all trials have it; else each block of one trial of each target draws its own from it
}

const (
	defaultSeed = 1
	fixedSeed   = "fixed"
)

// Of returns the seed of the trials of a block, from 1. A sample of rows and keys is one draw:
// if all trials shared it, intervals over trials would be about that draw alone. The first
// block has the plan's own seed, so that one trial can be repeated. All are exact as JSON numbers.
func (s Seed) Of(block int) uint64 {
	if s.Fixed || block <= 1 {
		return s.Value
	}
	return uint64(gen.NewStream(s.Value, "seed of block").Uniform(uint64(block), 1<<53))
}

// Older returns the plan as versions ran it that knew one seed for all trials, levels that always ascend,
// and rates on credit: a campaign that they began is resumed so.
func (p *Plan) Older() *Plan {
	out := *p
	out.Seed.Fixed, out.Ascending = true, true
	if p.Find != nil {
		find := *p.Find
		find.Credit, find.Hold = 1, 0
		out.Find = &find
	}
	return &out
}

var seedScalar = strictyaml.ScalarOf[Seed]{Read: func(n *strictyaml.Node) (s Seed, err error) {
	text, fixed := strings.CutPrefix(n.Text, fixedSeed)
	switch text = strings.TrimSpace(text); {
	case !fixed:
		s.Value, err = strictyaml.Unsigned.Read(n)
		return s, err
	case text == "":
		return Seed{defaultSeed, true}, nil
	}
	s = Seed{Fixed: true}
	if s.Value, err = strconv.ParseUint(text, 10, 64); err != nil {
		return s, hint.Errorf("fixed, fixed 7, or a number", "%q is not a seed", n.Text)
	}
	return s, nil
}, Shape: strictyaml.Either(strictyaml.Unsigned.Shape,
	strictyaml.Shape{"type": "string", "pattern": "^" + fixedSeed + "( +[0-9]+)?$"})}
