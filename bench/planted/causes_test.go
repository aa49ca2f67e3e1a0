package main

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/plan"
)

// Each difference can be planted, once on each engine.
func TestCauses(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range slices.Concat(causes, second) {
		for _, on := range c.on {
			name := fmt.Sprintf("%d on %s", c.number, on)
			expect.True(t, !seen[name], name, "is there twice: both would be one directory")
			seen[name] = true
			for _, params := range []string{c.params, cmp.Or(c.other, c.params)} {
				text := c.plan(on, params, c.targets(on))
				if _, err := plan.Load("planted.yaml", []byte(text), nil, catalog.Plugins{}); err != nil {
					t.Errorf("%s: %v\n%s", name, err, text)
				}
			}
		}
	}
}
