package explain

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// drawSample draws runs of two targets with a few items, some of them 0.
func drawSample(t *rapid.T) *sample {
	items := []Item{Running, Client, Kernel, Idle}[:rapid.IntRange(1, 4).Draw(t, "items")]
	runs := rapid.IntRange(1, 5).Draw(t, "runs")
	side := func(name string) (out []sheet) {
		for range runs {
			var s sheet
			for _, item := range items {
				v := rapid.Float64Range(1e-3, 1e6).Draw(t, name)
				if rapid.IntRange(0, 5).Draw(t, "zero") == 0 && item != Running {
					v = 0
				}
				s = append(s, entry{item: item, value: v})
			}
			out = append(out, s)
		}
		return out
	}
	return &sample{base: side("base"), other: side("new"), design: rapid.SampledFrom([]stat.Design{stat.Apart, stat.Blocks}).Draw(t, "design"), ledger: Processors}
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// Contributions sum to the logarithm of the ratio, and change their signs where base and
// new are exchanged.
func TestContributionsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		back := &sample{base: s.other, other: s.base, design: s.design, ledger: s.ledger}
		var sum float64
		for _, item := range s.items() {
			k := s.contribution(item).Log
			if sum += k; !close(k, -back.contribution(item).Log) {
				t.Fatalf("%s: %v, and back %v", item, k, back.contribution(item).Log)
			}
		}
		if total := s.totalLog().Log; !close(sum, total) {
			t.Fatalf("the sum is %v, and the total %v", sum, total)
		}
		base, other := s.means(sheet.total)
		if want := -math.Log(other / base); !close(sum, want) {
			t.Fatalf("the sum is %v, and the logarithm of the ratio %v", sum, want)
		}
	})
}

// Two items merged contribute the sum of what each does; units do not matter.
func TestContributionsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t)
		merged := &sample{design: s.design, ledger: s.ledger}
		unit := rapid.Float64Range(1e-3, 1e3).Draw(t, "unit")
		merge := func(list []sheet) (out []sheet) {
			for _, x := range list {
				out = append(out, sheet{{item: Running, value: unit * (x.find(Running).value + x.find(Client).value)}, {item: Idle, value: unit * (x.find(Kernel).value + x.find(Idle).value)}})
			}
			return out
		}
		merged.base, merged.other = merge(s.base), merge(s.other)
		want := s.contribution(Running).Log + s.contribution(Client).Log
		if got := merged.contribution(Running).Log; !close(got, want) {
			t.Fatalf("merged %v, apart %v", got, want)
		}
	})
}

// The share of a sum of plain items is its share of the difference.
func TestShareOfPlainSum(t *testing.T) {
	s := &sample{ledger: Processors, design: stat.Blocks,
		base: []sheet{{{item: Running, value: 100}, {item: Idle, value: 50}}}, other: []sheet{{{item: Running, value: 160}, {item: Idle, value: 30}}}}
	share := s.contribution(Running).Log / s.totalLog().Log
	expect.True(t, close(share, 60./40), share)
}

// Machines count once each, whatever they ran.
func TestMachinesCountOnce(t *testing.T) {
	machines := []string{"x", "x", "x", "y", "z"}
	s := &sample{ledger: Parts, design: stat.Grouped}
	for i, m := range machines {
		s.unit, s.trials[0] = compare.MachineUnit, append(s.trials[0], &result.Trial{Machine: m})
		s.base = append(s.base, sheet{{item: Running, value: 100}})
		s.other = append(s.other, sheet{{item: Running, value: []float64{160, 160, 160, 100, 100}[i]}})
	}
	s.trials[1] = s.trials[0]
	k := s.contribution(Running)
	all := s.totalLog()
	expect.True(t, close(k.Log, math.Log(1.2)) && close(all.Log, k.Log) && close(k.New, 120), k, all)
	if k.P < 0.2 { // one machine of three differs
		t.Errorf("p %v", k.P)
	}
}

// The numbers of clients are an item of their own: throughput is clients ÷ time.
func TestClientsAreAnItem(t *testing.T) {
	s := &sample{ledger: Processors, design: stat.Blocks, clients: [2][]float64{{1}, {4}},
		base: []sheet{{{item: Uncovered, value: 100}}}, other: []sheet{{{item: Uncovered, value: 400}}}}
	if k := s.totalLog().Log; !close(k, 0) {
		t.Errorf("the ratio is exp of %v", k)
	}
	if k := s.contribution(Clients); !close(k.Log, math.Log(4)) || k.Base != 1 || k.New != 4 {
		t.Errorf("%+v", k)
	}
}

// Factors contribute their own logarithms.
func TestFactors(t *testing.T) {
	s := &sample{ledger: Factors, design: stat.Blocks,
		base: []sheet{{{item: Lookups, value: 2}, {item: PerMiss, value: 16}}}, other: []sheet{{{item: Lookups, value: 4}, {item: PerMiss, value: 4}}}}
	if a, b, all := s.contribution(Lookups).Log, s.contribution(PerMiss).Log, s.totalLog(); !close(a, math.Log(2)) || !close(b, -math.Log(4)) || !close(all.Log, -math.Log(2)) || all.Base != 32 || all.New != 16 {
		t.Errorf("%v, %v, %+v", a, b, all)
	}
}

// Of equal targets an item is found to differ in one of twenty campaigns at most, also one
// that is nearly all of the sum, and whatever makes a pair of trials alike.
func TestItemsOfEqualTargets(t *testing.T) {
	const campaigns = 2000
	r := rand.New(rand.NewPCG(7, 7))
	for _, pairs := range []int{3, 4, 8} {
		found := 0
		for range campaigns {
			s := &sample{design: stat.Blocks, ledger: Processors}
			for range pairs {
				both := math.Exp(0.1 * r.NormFloat64())
				for _, side := range []*[]sheet{&s.base, &s.other} {
					*side = append(*side, sheet{{item: Running, value: 90 * both * math.Exp(0.03*r.NormFloat64())}, {item: Idle, value: 10 * math.Exp(0.03*r.NormFloat64())}})
				}
			}
			if c := s.contribution(Running); c.P < 0.05 && c.agreed {
				found++
			}
		}
		if share := float64(found) / campaigns; share > 0.065 { // 0.05 and three standard errors
			t.Errorf("%d pairs: %.3f of the campaigns", pairs, share)
		}
	}
}
