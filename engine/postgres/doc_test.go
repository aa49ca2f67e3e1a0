package postgres

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/expect"
	"rumbench/model"
)

var settingPattern = regexp.MustCompile("`([a-z_]+)(?:=([^`]*))?`")

// What docs/engines.md says is always set is set, with these values, and all that
// is set is there.
func TestAlwaysSetIsDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/engines.md")
	expect.NoError(t, err)
	_, section, ok := strings.Cut(string(b), "\n## postgres\n")
	_, table, found := strings.Cut(section, "**Always set** on a private server:")
	table, _, _ = strings.Cut(table, "\n\nThe database has")
	expect.Must(t, ok && found, "docs/engines.md has no settings of postgres")
	documented := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		for _, m := range settingPattern.FindAllStringSubmatch(cells[min(1, len(cells)-1)], -1) {
			documented[m[1]] = m[2]
		}
	}
	s := &setup{Setup: &serverkit.Setup{Config: engine.Config{Durability: model.DurabilityOS}}}
	set := map[string]string{"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "logging_collector": "off", "dynamic_shared_memory_type": "mmap"} // of the server, wherever it is
	for _, setting := range s.knobSettings(18) {
		set[setting.Name] = setting.Value
	}
	for name, value := range documented {
		if got, ok := set[name]; !ok || value != "" && got != value {
			t.Errorf("docs/engines.md has %s=%s, which is set to %q", name, value, got)
		}
	}
	for name := range set {
		if _, ok := documented[name]; !ok && name != "fsync" && name != "synchronous_commit" { // these two are the durability
			t.Errorf("%s is always set, and docs/engines.md does not say so", name)
		}
	}
	expect.True(t, strings.Contains(table, "each costs about 35 KiB") && documented["max_connections"] != "",
		"docs/engines.md does not say what max_connections is")
}
