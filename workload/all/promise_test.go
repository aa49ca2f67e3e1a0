package all_test

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/all"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/model"
)

// Every level that an engine can have says in words what it means there; what
// is worse than the level's own words is said.
func TestPromises(t *testing.T) {
	words := map[string]string{
		"postgres none": "fsync is off", "postgres process": "may lose the whole database, as fsync is off", "postgres interval": "last second",
		"mysql process": "by rule about a second", "mysql interval": "last second",
		"pebble process": "may lose the whole database", "pebble interval": "last second", "pebble os": "survive a crash of the operating system",
		"bbolt process": "may lose the whole database", "sqlite process": "may lose the whole database",
		"badger process": "may lose the whole database", "badger os": "survive a crash of the operating system", "lmdb process": "may lose the whole database",
		"wiredtiger none": "nothing is promised", "wiredtiger process": "may lose the whole database",
		"tarantool process": "may lose the whole database", "tarantool os": "survive a crash of the operating system",
		"memory none": "nothing is promised",
	}
	for _, e := range all.Engines() {
		name := e.Info().Name
		for _, level := range model.Durabilities() {
			text := engine.PromiseOf(e, engine.Config{Durability: level})
			want := words[name+" "+string(level)]
			expect.True(t, text != "" && strings.Contains(text, want), name, level, text, "lacks", want)
			expect.True(t, !strings.Contains(text, "whole database") || level != model.DurabilityInterval && level != model.DurabilityOS, name, level, text)
		}
	}
	if text := engine.PromiseOf(engineOf(t, "mysql"), engine.Config{Storage: "myisam", Durability: model.DurabilityNone}); !strings.Contains(text, "no log") {
		t.Errorf("myisam: %q", text)
	}
}

func engineOf(t *testing.T, name string) engine.Engine {
	t.Helper()
	e, ok := catalog.Plugins{}.Engine(name)
	expect.Must(t, ok, "no engine", name)
	return e
}
