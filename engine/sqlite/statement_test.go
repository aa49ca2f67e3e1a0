package sqlite

import (
	"testing"

	"rumbench/engine/sqlkit/sqlkittest"
)

func TestStatements(t *testing.T) {
	sqlkittest.Golden(t, newDialect("", new(defaultPage)), "testdata/statements.sql")
}
