package mongodb

import (
	"os"
	"testing"
)

// ferretDB is what scripts/ferretdb.sh builds: a server that speaks the protocol,
// and is started as a mongod is.
const ferretDB = "/opt/rumbench/ferretdb/ferretdb"

// program returns the server to test: a mongod that RUMBENCH_MONGOD names, or
// FerretDB, which must be there in CI.
func program(t testing.TB) string {
	t.Helper()
	if mongod := os.Getenv("RUMBENCH_MONGOD"); mongod != "" {
		return mongod
	}
	if _, err := os.Stat(ferretDB); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("run scripts/ferretdb.sh: %v", err)
		}
		t.Skipf("protocol test: %v", err)
	}
	return ferretDB
}
