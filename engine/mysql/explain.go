package mysql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

func (d *db) Explain(ctx context.Context, op *model.Op) (engine.Plan, error) {
	explain := "EXPLAIN "
	if !d.version.maria && d.version.atLeast(5, 6) {
		explain = "EXPLAIN FORMAT=TRADITIONAL " // the default format is configurable
	}
	return d.DB.Explain(ctx, d.version.explained(op), func(e *sqlkit.Explainable, p *engine.Plan) error {
		var lines []string
		err := d.Admin().Query(ctx, explain+e.Filled, func(row []string) error {
			line, access, err := explainRow(e.Table, row)
			lines = append(lines, line)
			if access != nil {
				p.Access = append(p.Access, *access)
			}
			return err
		})
		if err != nil {
			return err
		}
		p.Text = strings.Join(lines, "\n")
		const length = "SELECT DATA_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = "
		size, err := d.Admin().Value(ctx, length+d.Dialect().Quoted(e.Table.Name))
		p.TableBytes, _ = strconv.ParseInt(size, 10, 64) // NULL for a storage that does not count
		return err
	})
}

// explained returns the operation that is explained instead of op. Old releases explain
// only reads: there it is the read that finds the rows to write.
func (r release) explained(op *model.Op) *model.Op {
	if r.atLeast(5, 6) {
		return op
	}
	switch op.Kind {
	case model.Update, model.Delete:
		return &model.Op{Kind: model.Get, Table: op.Table, Index: op.Index, Equal: op.Equal, Keys: op.Keys}
	case model.DeleteLowest:
		return &model.Op{Kind: model.Scan, Table: op.Table, Lower: model.Inclusive, Limit: op.Rows}
	}
	return op
}

// explainColumns are the columns of an explanation; newer releases of MySQL put two more
// between them.
var explainColumns = []string{"id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows",
	"Extra"}

// explainRow reads a line of an explanation: as text, and as the access path to the
// table's rows if it is about the table.
func explainRow(t *model.Table, row []string) (text string, _ *engine.Access, err error) {
	if len(row) == len(explainColumns)+2 {
		row = slices.Concat(row[:3], row[4:10], row[11:]) // without partitions and filtered
	}
	if len(row) != len(explainColumns) {
		return "", nil, fmt.Errorf("explain: a line of %d columns", len(row))
	}
	var parts []string
	for i, name := range explainColumns {
		if row[i] != "" && name != "possible_keys" && name != "id" {
			parts = append(parts, name+": "+row[i])
		}
	}
	text = strings.Join(parts, ", ")
	table, way, key, rows := row[2], row[3], row[5], row[8]
	if table != t.Name || way == "" {
		return text, nil, nil
	}
	a := &engine.Access{How: engine.Seek, As: way}
	a.Rows, _ = strconv.ParseFloat(rows, 64)
	switch way {
	case "ALL":
		a.How = engine.WholeTable
		return text, a, nil
	case "index":
		a.How = engine.Walk
	}
	a.Index = sqlkit.SchemaIndex(t, key, "PRIMARY")
	return text, a, nil
}
