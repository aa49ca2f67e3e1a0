package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// customPlans is the number of executions for which the server plans a prepared statement
// for its values; after that it may choose one plan for all.
const customPlans = 5

// explainName is the prepared statement that is explained.
const explainName = "rumbench_explained"

// Explain asks the server for an operation's plan: for a prepared statement the plan that
// a session uses after enough executions, for text the plan for its values.
func (d *db) Explain(ctx context.Context, op *model.Op) (engine.Plan, error) {
	return d.DB.Explain(ctx, op, func(e *sqlkit.Explainable, p *engine.Plan) (err error) {
		if err := d.Admin().Exec(ctx, "PREPARE "+explainName+" AS "+e.Text); err != nil {
			return err
		}
		defer func() {
			if derr := d.Admin().Exec(ctx, "DEALLOCATE "+explainName); err == nil {
				err = derr
			}
		}()
		return d.explain(ctx, e, p)
	})
}

// explain completes the plan of the prepared statement.
func (d *db) explain(ctx context.Context, e *sqlkit.Explainable, p *engine.Plan) (err error) {
	execute := "EXECUTE " + explainName
	if len(e.Literals) > 0 {
		execute += "(" + strings.Join(e.Literals, ", ") + ")"
	}
	times := 1
	if d.Protocol != engine.Text {
		times += customPlans
	}
	for range times {
		lines, err := d.Admin().Lines(ctx, "EXPLAIN "+execute)
		if err != nil {
			return err
		}
		p.Text = strings.Join(lines, "\n")
	}
	tree, err := d.Admin().Lines(ctx, "EXPLAIN (FORMAT JSON) "+execute)
	if err != nil {
		return err
	}
	if p.Access, err = accessOf(e.Table, []byte(strings.Join(tree, "\n"))); err != nil {
		return err
	}
	table := d.Dialect().Quoted(d.Dialect().Table(e.Table.Name))
	size, err := d.Admin().Number(ctx, "SELECT pg_relation_size("+table+"::regclass)")
	p.TableBytes = int64(size)
	return err
}

// planNode is a node of a plan, with only the fields about access paths to rows.
type planNode struct {
	Type     string     `json:"Node Type"`
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Cond     string     `json:"Index Cond"`
	Rows     float64    `json:"Plan Rows"`
	Plans    []planNode `json:"Plans"`
}

// accessOf reads the access paths to a table's rows from a plan in JSON.
func accessOf(t *model.Table, tree []byte) (out []engine.Access, err error) {
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(tree, &plans); err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	for i := range plans {
		out = plans[i].Plan.access(t, out)
	}
	return out, nil
}

// access appends the access paths to a table's rows of a node and of those below it.
func (n *planNode) access(t *model.Table, out []engine.Access) []engine.Access {
	switch {
	case n.Index != "":
		a := engine.Access{Index: sqlkit.SchemaIndex(t, n.Index, primaryName(t.Name)), How: engine.Walk, As: n.Type,
			Rows: n.Rows}
		if n.Cond != "" {
			a.How = engine.Seek
		}
		out = append(out, a)
	case n.Relation == t.Name && n.Type == "Seq Scan":
		out = append(out, engine.Access{How: engine.WholeTable, As: n.Type, Rows: n.Rows})
	}
	for i := range n.Plans {
		out = n.Plans[i].access(t, out)
	}
	return out
}
