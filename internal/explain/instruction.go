package explain

import (
	"math"

	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// instructed splits a proven difference of CPU time into instructions × cycles of each, if the
// processors counted both. What is left is the clock rate.
func instructed(s *Step, note noting) {
	const leastApart = 1.05
	k, ok := s.Of.Own(metric.CPUUS)
	if e := s.effect(metric.CPUUS); !ok || e == nil || !e.Sure() {
		return
	}
	ratio := func(name string) float64 { return s.New.per(name, "", k) / s.Base.per(name, "", k) }
	instructions, cycles, clock := ratio(metric.Instructions), ratio(metric.Cycles), ""
	each := cycles / instructions
	if !(each > 0) || math.IsInf(each, 0) {
		return // not counted on both sides
	}
	if rate := cycles / ratio(metric.ServerCPUUS); math.Abs(math.Log(rate)) > math.Log(leastApart) {
		clock = ", at " + quantity.Times(rate) + " the clock rate"
	}
	note(RuleCPU, Law, "%s executes %s the instructions per %s at %s the cycles each%s", name(&s.New),
		quantity.Times(instructions), k.Per, quantity.Times(each), clock)
}
