package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result/program"
)

// Programs must write the same format, be of one revision where both are known, and
// have the engine.
func TestCheckWith(t *testing.T) {
	own := program.Build{Format: 3, Revision: "a", Engines: []string{"pebble"}}
	for _, c := range []struct {
		name, engine, wrong string
		other               program.Build
	}{
		{"same", "pebble", "", own},
		{"unknown revision", "pebble", "", program.Build{Format: 3, Engines: own.Engines}},
		{"another revision", "pebble", "was built from revision b", program.Build{Format: 3, Revision: "b", Engines: own.Engines}},
		{"changed source", "pebble", "was built from revision a+", program.Build{Format: 3, Revision: "a+", Engines: own.Engines}},
		{"another format", "pebble", "results of format 2", program.Build{Format: 2, Revision: "a", Engines: own.Engines}},
		{"no engine", "lmdb", "has no engine lmdb, only pebble", own},
	} {
		err := c.other.CheckWith(own, c.engine)
		expect.True(t, (err == nil) == (c.wrong == "") && !(err != nil &&
			!strings.Contains(err.Error(), c.wrong)), c.name, err)
	}
}

// A program knows whether it is the one that a campaign found.
func TestCheckSelf(t *testing.T) {
	self, err := program.Build{}.Of(os.Args[0])
	if err == nil {
		err = self.CheckSelf()
	}
	expect.NoError(t, err)
	other, err := program.Build{}.Of("build_test.go")
	if err == nil {
		err = other.CheckSelf()
	}
	expect.Error(t, err, "build_test.go was replaced")
}

// A program that does not say what it is cannot run trials.
func TestAsk(t *testing.T) {
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "program")
		expect.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
		return path
	}
	b, err := program.Ask(t.Context(), script(`echo '{"version": "v1", "format": 3, "engines": ["pebble"]}'`))
	expect.True(t, err == nil && b.Version == "v1" && b.Format == 3 && len(b.SHA256) == 64 &&
		filepath.IsAbs(b.Path), b, err)
	for _, text := range []string{"exit 1", "echo hello", "echo {}", "yes"} {
		_, err := program.Ask(t.Context(), script(text))
		expect.True(t, err != nil, text)
	}
	expect.Refused(program.Ask(t.Context(), "/no/such/program"))(t, "", "a program that does not exist was asked")
}
