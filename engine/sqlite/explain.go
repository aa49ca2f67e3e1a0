package sqlite

import (
	"context"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

func (db *db) Explain(ctx context.Context, op *model.Op) (engine.Plan, error) {
	return db.DB.Explain(ctx, op, func(e *sqlkit.Explainable, p *engine.Plan) error {
		lines, err := db.Admin().Lines(ctx, "EXPLAIN QUERY PLAN "+e.Filled)
		if err != nil {
			return err
		}
		p.Text = strings.Join(lines, "\n")
		for _, detail := range lines {
			if a := accessOf(e.Table, db.page, detail); a != nil {
				p.Access = append(p.Access, *a)
			}
		}
		pages, err := db.Admin().Number(ctx, "PRAGMA page_count") // of all tables together, an upper bound for each
		p.TableBytes = int64(pages) * db.page
		return err
	})
}

// A line of a plan: SEARCH or SCAN, the table, and the access path.
var planLine = regexp.MustCompile(`^(SEARCH|SCAN) (\S+)(?: USING (?:(?:AUTOMATIC )?(?:PARTIAL )?(COVERING )?INDEX (.+?)|(INTEGER )?PRIMARY KEY))?(?: \(.*\))?$`)

// accessOf reads a line of a plan; nil if it is not about the table. A table in the order of its
// primary key has no other scan than a walk of that index.
func accessOf(t *model.Table, page int64, detail string) *engine.Access {
	m := planLine.FindStringSubmatch(detail)
	if m == nil || m[2] != t.Name {
		return nil
	}
	a := &engine.Access{Index: engine.PrimaryKey, How: engine.Walk, As: m[1]}
	if m[1] == "SEARCH" {
		a.How = engine.Seek
	}
	switch {
	case m[4] == keyIndex(t):
		a.As += " " + m[3] + "INDEX"
	case m[4] == "" && m[1] == "SCAN" && apart(t, page):
		a.Index, a.How = "", engine.WholeTable
	case m[4] != "":
		a.Index = sqlkit.SchemaIndex(t, m[4], "")
		a.As += " " + m[3] + "INDEX"
	}
	return a
}

// appendLiteral appends a time, text or bytes as SQLite reads them.
func appendLiteral(dst []byte, v model.Value) []byte {
	switch v.Type() {
	case model.Time:
		return strconv.AppendInt(dst, v.Int(), 10)
	case model.Bytes, model.UUID:
		return append(hex.AppendEncode(append(dst, "x'"...), v.Buf()), '\'')
	}
	return sqlkit.AppendQuoted(dst, v.Buf(), false)
}
