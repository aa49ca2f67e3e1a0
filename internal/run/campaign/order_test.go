package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// ordered is a plan of which only the order matters.
func ordered(o plan.Order, targets, trials int, seed uint64) *plan.Plan {
	p := &plan.Plan{Order: o, Trials: trials, Seed: plan.Seed{Value: seed}}
	for i := range targets {
		p.Targets = append(p.Targets, plan.Target{Name: fmt.Sprintf("t%d", i)})
	}
	return p
}

func dirs(entries []result.Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Dir)
	}
	return strings.Join(out, " ")
}

// Whatever the plan: a block has each target once, every second block is the
// reverse of the one before, the same seed gives the same order, and a machine
// that becomes slower with every trial slows each target as much.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := ordered(plan.Interleaved, rapid.IntRange(1, 7).Draw(t, "targets"), rapid.IntRange(1, 12).Draw(t, "trials"), rapid.Uint64().Draw(t, "seed"))
		entries := Entries(p)
		expect.Same(t, entries, Entries(p), "another order")
		all := blocks(entries)
		expect.True(t, len(entries) == len(p.Targets)*p.Trials && len(all) == p.Trials,
			"trials in blocks", len(entries), len(all))
		slowness := map[string]int{}
		for n, block := range all {
			seen := map[string]bool{}
			for i, e := range block {
				expect.True(t, !seen[e.Target] && e.Trial == n+1 && e.Dir == fmt.Sprintf("%s.%d", e.Target, n+1),
					"block has", n+1, e)
				seen[e.Target] = true
				if p.Trials%2 == 0 {
					slowness[e.Target] += n*len(block) + i
				}
				expect.True(t, n%2 != 1 || e.Target == all[n-1][len(block)-1-i].Target,
					"block is not the reverse of the one before", n+1, dirs(entries))
			}
		}
		for target, sum := range slowness {
			expect.Equal(t, sum, slowness["t0"], target)
		}
	})
}

// Over many seeds every order of three targets comes about as often.
func TestOrderIsRandom(t *testing.T) {
	const n = 6000
	firsts := map[string]int{}
	for seed := range uint64(n) {
		firsts[dirs(Entries(ordered(plan.Interleaved, 3, 1, seed)))]++
	}
	expect.Equal(t, len(firsts), 6, "orders", firsts)
	for order, count := range firsts {
		if count < n/6-200 || count > n/6+200 { // seven standard deviations
			t.Errorf("%s came %d times", order, count)
		}
	}
}

func TestOtherOrders(t *testing.T) {
	for order, want := range map[plan.Order]string{
		plan.Sequential: "t0.1 t0.2 t0.3 t1.1 t1.2 t1.3",
		plan.Duet:       "t0.1 t1.1 t1.2 t0.2 t0.3 t1.3", // the halves change from block to block
	} {
		for seed := range uint64(20) {
			expect.Equal(t, dirs(Entries(ordered(order, 2, 3, seed))), want, order)
		}
	}
}

func TestAgainstItself(t *testing.T) {
	for order, want := range map[plan.Order]plan.Order{plan.Interleaved: plan.Interleaved, plan.Sequential: plan.Interleaved, plan.Duet: plan.Duet} {
		p := ordered(order, 3, 5, 1)
		twice, err := AgainstItself(p)
		expect.True(t, err == nil && slices.Equal(targetNames(twice), []string{"t0", "t0-again"}) && twice.Order == want && twice.Trials == 5, order, twice, err)
		expect.True(t, len(p.Targets) == 3 && p.Targets[0].Name == "t0" && p.Order == order, "the plan was changed", p)
	}
	p := ordered(plan.Interleaved, 1, 1, 1)
	p.Targets[0].Data = "/somewhere"
	if _, err := AgainstItself(p); err == nil || hint.Of(err) == "" {
		t.Errorf("error %v", err)
	}
}

// Without two processors a duet is refused.
func TestUnfitForDuet(t *testing.T) {
	var unfit *UnfitError
	if _, err := halve(cpuset.Set{3}); !errors.As(err, &unfit) || hint.Of(err) == "" {
		t.Errorf("error %v", err)
	}
	if got, err := halve(cpuset.Set{3, 1000}); err != nil || got.First.String() != "3" || got.Second.String() != "1000" {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a campaign would do: a duet needs room for both at a time, and one that
// is resumed does what is left, of a duet always both.
func TestDescribeOrders(t *testing.T) {
	c, _ := duets(t, t.TempDir(), numbered, `if [ $2 = bbolt.2 ]; then exit 1; fi; `+numbered, "stop={precision: 2.5%, min_trials: 2, budget: 2h}", "trials=3")
	live := c.Plan.Run.Estimate(c.Plan.Steps()).Bytes
	peak, _ := Need(c)
	expect.True(t, peak == 2*live, "peak", peak, 2*live)
	describe := func() string {
		var b strings.Builder
		expect.NoError(t, Describe(&b, c))
		return b.String()
	}
	lists := func(text string, trials ...string) {
		t.Helper()
		var got []string
		for line := range strings.Lines(text) {
			if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasSuffix(line, " on disk\n") {
				got = append(got, name)
			}
		}
		expect.Same(t, trials, got, text)
	}
	text := describe()
	lists(text, "pebble.1", "bbolt.1", "bbolt.2", "pebble.2", "pebble.3", "bbolt.3")
	for _, want := range []string{
		"trials, two at the same time: the first on processors ",
		"they end early, from 2 trials of each target on, when these compare to within ±2.5 %\n",
		"no block begins that is not expected to end within 2h0m0s\n",
	} {
		expect.Contains(t, text, want)
	}
	if _, err := Run(context.Background(), c); !errors.Is(err, ErrIncomplete) {
		t.Fatal(err)
	}
	c.Resume = true
	lists(describe(), "bbolt.2", "pebble.2")
	c.Dir = t.TempDir()
	expect.Error(t, Describe(&strings.Builder{}, c), "", "a campaign that is not there was described")
}
