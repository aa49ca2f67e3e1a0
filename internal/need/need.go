// Package need is the single gate for tests that need more than Go: a server, a library, a
// browser, root, or anything else that scripts/setup.sh installs.
//
// make check (go test -short) skips them on every machine. make test runs them; a missing
// dependency skips a test, but fails it if CI is set. make test-long also runs the tests that
// call Long. The package is for tests only.
package need

import (
	"os"
	"path/filepath"
	"testing"
)

// Setup skips a test under make check.
func Setup(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs more than Go: make test runs it")
	}
}

// LongVariable is the variable of the environment that make test-long sets.
const LongVariable = "RUMBENCH_LONG"

// LeftOut begins the reason for which Long skips a test. scripts/suite counts such tests.
const LeftOut = "left to make test-long"

// Long leaves a test to make test-long. Such a test takes more than 20 s, needs what only
// make setup-long installs, or repeats with other engines or sizes what another test proves.
// It is called first in the test, or in the subtest that is one case of a matrix.
func Long(t testing.TB) {
	t.Helper()
	Setup(t)
	if !IsLong() {
		t.Skip(LeftOut)
	}
}

// IsLong reports whether make test-long runs.
func IsLong() bool { return os.Getenv(LongVariable) != "" }

// Repeats returns the number of repetitions of a simulation: as many as find a planted fault, and
// more under make test-long.
func Repeats(usual, long int) int {
	if IsLong() {
		return long
	}
	return usual
}

// Installed skips a test if err reports a missing dependency. In CI the test fails
// instead.
func Installed(t testing.TB, err error) {
	t.Helper()
	Setup(t)
	switch {
	case err != nil && os.Getenv("CI") != "":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
}

// Found is Installed for a test that can also do something without the dependency: it
// reports whether the dependency is available.
func Found(t testing.TB, err error) bool {
	t.Helper()
	switch {
	case err == nil:
		return !testing.Short()
	case os.Getenv("CI") != "" && !testing.Short():
		t.Fatal(err)
	}
	t.Logf("not tested: %v", err)
	return false
}

// Root skips a test unless this process has the rights of root.
func Root(t testing.TB, subject string) {
	t.Helper()
	Setup(t)
	if os.Geteuid() != 0 {
		t.Skip("only root may " + subject)
	}
}

// TempDir returns a temporary directory that the unprivileged user of a server can access,
// which the testing package's directories do not allow.
func TempDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// UgliestName is a name for a directory that most programs misread somewhere, and that makes
// paths of sockets too long.
const UgliestName = "-ug  ly é '\"%#%s\\,:;@?*[x]{}&$HOME`|<>=~" +
	"(more than 130 characters, as this goes on and on, without any meaning at all, until it is long enough)"
