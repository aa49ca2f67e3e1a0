package engine

import (
	"context"
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// Explainer is a DB with a query planner.
type Explainer interface {
	// Explain returns the plan that the database would choose now for an
	// operation, with values of existing rows. It may be called while sessions
	// are open but idle.
	Explain(ctx context.Context, op *model.Op) (Plan, error)
}

// Plan is the execution plan of a statement.
type Plan struct {
	Statement string   `json:"statement"`        // as it is prepared
	Text      string   `json:"text,omitempty"`   // the plan as the database writes it
	Access    []Access `json:"access,omitempty"` // the access paths to the table
	// TableBytes is the size of the table without secondary indexes; 0: unknown.
	TableBytes int64 `json:"table_bytes,omitempty"`
	// None is the reason why there is no plan.
	None string `json:"none,omitempty"`
}

// Access is an access path to the rows of a table.
type Access struct {
	Index string  `json:"index,omitempty"` // as the schema names it, or PrimaryKey; "" of WholeTable
	How   How     `json:"how"`
	As    string  `json:"as"`             // the database's name for it
	Rows  float64 `json:"rows,omitempty"` // estimated rows; 0: unknown
}

// PrimaryKey is the primary key's index in an Access.
const PrimaryKey = "primary key"

// How is the kind of an access path.
type How string

// The kinds of access paths.
const (
	Seek       How = "seek"        // index lookup or range, by conditions on the index
	Walk       How = "walk"        // full index scan, from one end
	WholeTable How = "whole table" // full table scan
)

// IndexOf returns the index that an operation names, as Access.Index.
func IndexOf(op *model.Op) string {
	if op.Index == "" {
		return PrimaryKey
	}
	return op.Index
}

// String returns the access path in words: "seek in primary key".
func (a Access) String() string {
	if a.Index == "" {
		return string(a.How)
	}
	return string(a.How) + " in " + a.Index
}

// Ways lists the access paths, for people.
func (p *Plan) Ways() string {
	if p.None != "" {
		return p.None
	}
	if len(p.Access) == 0 {
		return "no table is read"
	}
	return strings.Join(Unique(quantity.Texts(p.Access, Access.String)), ", ")
}

// Unique returns names without repetitions, in their order.
func Unique(names []string) (out []string) {
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Same reports whether two plans have the same access paths; estimated rows may
// differ.
func (p *Plan) Same(o *Plan) bool {
	return p.None == o.None && slices.EqualFunc(p.Access, o.Access, func(a, b Access) bool {
		a.Rows, b.Rows = 0, 0
		return a == b
	})
}
