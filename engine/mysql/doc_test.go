package mysql

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"rumbench/engine/serverkit"
	"rumbench/internal/expect"
)

// alwaysSet is the table of what docs/engines.md says that private servers of an
// engine are always given.
func alwaysSet(t *testing.T, heading string) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/engines.md")
	expect.NoError(t, err)
	_, section, ok := strings.Cut(string(b), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	_, table, found := strings.Cut(section, "**Always set** on a private server:")
	if table, _, _ = strings.Cut(table, "\n\n**"); !ok || !found {
		t.Fatalf("docs/engines.md has no settings of %s", heading)
	}
	return table
}

var settingPattern = regexp.MustCompile("`([a-z_-]+)=([^`]*)`")

// What docs/engines.md says is always set is set, with these values, and all that
// is set is there.
func TestAlwaysSetIsDocumented(t *testing.T) {
	table := alwaysSet(t, "mysql")
	set := map[string]bool{"mysqlx=OFF": true, "sql_mode=STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION": true} // of the server, and of each session
	for _, st := range []*storage{innodb, rocksdb} {
		known := map[string]bool{}
		for _, b := range st.base {
			known[b.Name] = true
		}
		settings, err := st.settings(&setup{Setup: &serverkit.Setup{}}, known)
		expect.NoError(t, err)
		for _, s := range settings {
			set[s.Name+"="+s.Value] = true
		}
	}
	documented := map[string]bool{}
	for _, m := range settingPattern.FindAllStringSubmatch(table, -1) {
		documented[m[1]+"="+m[2]] = true
		expect.True(t, set[m[1]+"="+m[2]], m[1], m[2])
	}
	for s := range set {
		expect.True(t, documented[s], s, "is always set, and docs/engines.md does not say so")
	}
	expect.True(t, len(documented) >= 8, "only", len(documented), "settings were found")
}
