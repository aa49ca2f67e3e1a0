package engine

import (
	"context"
	"slices"
	"strings"

	"rumbench/model"
)

// Explainer is a DB that chooses at run time by which way it finds rows.
type Explainer interface {
	// Explain returns the plan that an operation would be executed by now,
	// with values of rows that its table holds. It may be called while sessions
	// are open, and not while they work.
	Explain(ctx context.Context, op *model.Op) (Plan, error)
}

// Plan is how a database would execute a statement.
type Plan struct {
	Statement string   `json:"statement"`        // as it is prepared
	Text      string   `json:"text,omitempty"`   // the plan as the database writes it
	Access    []Access `json:"access,omitempty"` // the ways to the rows of its table
	// TableBytes is what the table takes without its secondary indexes; 0: not known.
	TableBytes int64 `json:"table_bytes,omitempty"`
	// None says why there is no plan.
	None string `json:"none,omitempty"`
}

// Access is a way to the rows of a table.
type Access struct {
	Index string  `json:"index,omitempty"` // as the schema names it, or PrimaryKey; "" of WholeTable
	How   How     `json:"how"`
	As    string  `json:"as"`             // what the database calls it
	Rows  float64 `json:"rows,omitempty"` // that it expects to find; 0: not known
}

// PrimaryKey is the primary key's index in an Access.
const PrimaryKey = "primary key"

// How is how rows are found.
type How string

// The ways to find rows.
const (
	Seek       How = "seek"        // at once, by conditions on the index
	Walk       How = "walk"        // by reading the index from one end
	WholeTable How = "whole table" // by reading the table
)

// IndexOf is the index that an operation names, as an Access writes it.
func IndexOf(op *model.Op) string {
	if op.Index == "" {
		return PrimaryKey
	}
	return op.Index
}

// String is the way in words: "seek in the primary key".
func (a Access) String() string {
	if a.Index == "" {
		return string(a.How)
	}
	return string(a.How) + " in " + a.Index
}

// Ways lists the ways to the rows, for people.
func (p *Plan) Ways() string {
	if p.None != "" {
		return p.None
	}
	if len(p.Access) == 0 {
		return "no table is read"
	}
	var out []string
	for _, a := range p.Access {
		if s := a.String(); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, ", ")
}

// Same tells whether two plans find their rows alike; how many they expect may differ.
func (p *Plan) Same(o *Plan) bool {
	return p.None == o.None && slices.EqualFunc(p.Access, o.Access, func(a, b Access) bool {
		a.Rows, b.Rows = 0, 0
		return a == b
	})
}
