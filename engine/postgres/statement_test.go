package postgres

import (
	"testing"

	"rumbench/engine/sqlkit/sqlkittest"
)

func TestStatements(t *testing.T) {
	sqlkittest.Golden(t, newDialect(), "testdata/statements.sql")
}
