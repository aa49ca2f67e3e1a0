package doctest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/all"
	"rumbench/internal/need"
	"rumbench/internal/server"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// TestEngineTable: docs/engines.md says of each engine and storage what the code
// says: the knobs are those that Check accepts.
func TestEngineTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("| engine | structure | runs in | transactions | unique indexes | `durability` | `isolation` | `cache` | `compression` | `page` | `direct_io` |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, e := range all.Engines() {
		storages := e.Info().Storages
		if len(storages) == 0 {
			storages = []string{""}
		}
		last := ""
		for _, storage := range storages {
			name := strings.TrimSuffix(e.Info().Name+", "+storage, ", ")
			if row := engineRow(t, e, storage); row != last { // not another name of one storage
				fmt.Fprintf(&b, "| %s | %s", name, row)
				last = row
			}
		}
	}
	generated(t, "docs/engines.md", b.String())
}

// engineRow is an engine with a storage: what it is, and which knobs it honours.
func engineRow(t *testing.T, e engine.Engine, storage string) string {
	t.Helper()
	c := engine.Config{Storage: storage, Dir: t.TempDir()}
	c.Durability = model.DurabilityProcess
	accepted := func(set func(*engine.Config)) bool {
		extra := c
		set(&extra)
		return honours(t, e, extra)
	}
	var levels []string
	for _, d := range model.Durabilities() {
		if accepted(func(c *engine.Config) { c.Durability = d }) {
			levels = append(levels, string(d))
		}
	}
	if len(levels) > 0 {
		c.Durability = model.Durability(levels[len(levels)-1])
	}
	info := engine.InfoOf(e, c)
	var isolations, compressions, pages []string
	for _, i := range model.Isolations() {
		if accepted(func(c *engine.Config) { c.Isolation = i }) {
			isolations = append(isolations, i.String())
		}
	}
	for _, p := range model.Compressions()[1:] {
		if accepted(func(c *engine.Config) { c.Compression = p }) {
			compressions = append(compressions, string(p))
		}
	}
	for size := int64(256); size <= 2<<20; size *= 2 {
		if accepted(func(c *engine.Config) { c.Page = size }) {
			pages = append(pages, quantity.BytesAs(float64(size), quantity.Round))
		}
	}
	if len(pages) > 0 {
		pages = []string{strings.Join(slices.Compact([]string{pages[0], pages[len(pages)-1]}), " to ")}
	}
	yes := true
	has := func(c model.Capability) string {
		if by := info.Enabling[c]; by != "" && !slices.Contains(info.Capabilities, c) {
			return "with `" + by + "`"
		}
		return word(slices.Contains(info.Capabilities, c))
	}
	return fmt.Sprintf("%s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", info.Structure, runsIn(&info),
		has(model.CapTransactions), has(model.CapUnique), list(levels), list(isolations),
		word(accepted(func(c *engine.Config) { c.Cache = 256 << 20 })), list(compressions), list(pages),
		word(accepted(func(c *engine.Config) { c.DirectIO = &yes })))
}

// honours reports whether an engine accepts a configuration. A server that is not
// installed would refuse them all.
func honours(t *testing.T, e engine.Engine, c engine.Config) bool {
	t.Helper()
	err := e.Check(c)
	var knob *engine.KnobError
	if errors.As(err, &knob) {
		switch knob.Knob {
		case "options.library":
			return true // it may come with make setup-long, and the knobs have been checked
		case "server":
			if server.Package(e.Info().Servers[0]) == "" {
				return true // nothing installs it
			}
			need.Installed(t, err)
		case "binary":
			need.Installed(t, err)
		}
	}
	return err == nil
}

func runsIn(i *engine.Info) string {
	switch {
	case len(i.Servers) > 0:
		return "a server"
	case i.Native:
		return "rumbench-native"
	}
	return "rumbench"
}

func word(b bool) string {
	if b {
		return "yes"
	}
	return "–"
}

func list(words []string) string {
	if len(words) == 0 {
		return "–"
	}
	return strings.Join(words, ", ")
}
