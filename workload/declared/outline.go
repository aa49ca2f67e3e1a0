package declared

import (
	"strings"

	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload"
)

// Outline is the content of a workload file with its parameters applied.
type Outline struct {
	Tables     []TableOutline
	Operations []OperationOutline
	Steps      []workload.Step
}

// TableOutline describes a table.
type TableOutline struct {
	Name, Columns string
	Rows          int64   // that the loads insert
	RowBytes      float64 // of a row's values, on average
	IndexBytes    float64 // of its index entries
}

// OperationOutline describes an operation.
type OperationOutline struct {
	Name       string
	Atomic     bool
	Statements []string
}

// Outline returns the content of the file with resolved parameters.
func (w *Workload) Outline(p workload.Params) (o Outline, err error) {
	r, err := w.run(p)
	if err != nil {
		return o, err
	}
	for _, t := range r.tables {
		columns := quantity.Texts(t.Columns, func(c model.Column) string { return c.Name + " " + typeName(&c) })
		plain := t.rowBytes(nil)
		o.Tables = append(o.Tables, TableOutline{
			Name: t.Name, Columns: strings.Join(columns, ", "), Rows: t.loaded, RowBytes: plain,
			IndexBytes: t.rowBytes(t.indexNames()) - plain,
		})
	}
	for _, op := range r.compiler(0).readOperations(w.root.Get("operations")) {
		each := OperationOutline{Name: op.name, Atomic: op.atomic}
		for _, s := range op.statements {
			each.Statements = append(each.Statements, s.variants[0].op.Label())
		}
		o.Operations = append(o.Operations, each)
	}
	o.Steps = r.steps
	return o, nil
}
