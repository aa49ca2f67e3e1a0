package plan

import (
	"testing"

	"rumbench/internal/expect"
)

func TestSeed(t *testing.T) {
	for text, want := range map[string]Seed{"7": {Value: 7}, "fixed": {1, true}, "fixed 7": {7, true}} {
		p := load(t, "workload: ibench\ntargets: [pebble]\nseed: "+text+"\n")
		expect.Equal(t, p.Seed, want, text)
	}
	seen := map[uint64]bool{}
	for block := range 1000 {
		seed := Seed{Value: 7}.Of(block + 1)
		expect.Must(t, (block != 0 || seed == 7) && seed < 1<<53 && !seen[seed], "block", block+1, "has seed", seed)
		seen[seed] = true
		if got := (Seed{7, true}).Of(block + 1); got != 7 {
			t.Fatalf("fixed: block %d has seed %d", block+1, got)
		}
	}
}
