package sysbench

import (
	"fmt"

	"rumbench/workload"
	"rumbench/workload/gen"
)

// The distributions. If versions of sysbench differ, the name includes the version.
const (
	uniform      = "uniform"
	gaussian     = "gaussian-1.0"
	gaussian2016 = "gaussian-2016"
	special      = "special-1.0"
	special2016  = "special-2016"
	pareto       = "pareto"
	zipfian      = "zipfian-1.1"
)

// hash is the value of parameter scramble.
const hash = "hash"

// newDistribution returns a distribution over n numbers by name.
func newDistribution(p workload.Params, name string, n int64) (d gen.Distribution, err error) {
	draws := int(p.Int("spec_iter"))
	switch name {
	case uniform:
		d = gen.NewUniform(n)
	case gaussian, gaussian2016:
		d, err = gen.NewBates(n, draws, name == gaussian2016)
	case special, special2016:
		d, err = gen.NewSpecial(n, draws, p.Float("spec_pct"), p.Float("spec_res"), name == special2016)
	case pareto:
		d, err = gen.NewPareto(n, p.Float("pareto_h"))
	case zipfian:
		d, err = gen.NewZipf(n, p.Float("zipfian_exp"))
	default:
		err = fmt.Errorf("unknown distribution %q", name)
	}
	if err != nil {
		return nil, err
	}
	if p.String("scramble") == hash {
		// The permutation is the same in every run and step, so that the same keys are hot.
		d = gen.NewScrambled(d, n, gen.NewStream(0, "sysbench", "scramble"))
	}
	return d, nil
}
