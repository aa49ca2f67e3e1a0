package mysql

import (
	"errors"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Options that let others at a private server are refused, however they are
// written, unless that is forced; those that say where things are always.
func TestOpening(t *testing.T) {
	needServer(t)
	program, err := server.Find(t.Context(), server.MariaDB, server.Source{})
	expect.NoError(t, err)
	known, err := server.Variables(t.Context(), program)
	expect.NoError(t, err)
	check := func(option string, force bool) error {
		return Engine{}.Check(engine.Config{Durability: model.DurabilityProcess, Options: map[string]any{option: "1"}, Server: engine.ServerConfig{Force: force}})
	}
	for _, option := range []string{"skip-grant-tables", "skip_grant_tables", "loose-skip-grant-tables", "bind-address", "bind_address", "loose-bind_address", "wsrep-provider"} {
		if !known[strip(option)] {
			continue // of another release
		}
		var knob *engine.KnobError
		if err := check(option, false); !errors.As(err, &knob) || knob.Knob != "options."+option || !strings.Contains(hint.Of(err), "--force") {
			t.Errorf("%s: %v", option, err)
		}
		if err := check(option, true); err != nil {
			t.Errorf("%s, forced: %v", option, err)
		}
	}
	for _, option := range []string{"skip_grant", "Skip_Grant_Tables", "init-file", "plugin-dir", "datadir"} {
		expect.Error(t, check(option, true), "", option, "is accepted")
	}
}
