package workload

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// QueryInt executes a scan of integers once. It returns its aggregate, or else
// the first column of its first row; found is whether there is one.
func QueryInt(ctx context.Context, s engine.Session, op *model.Op) (n int64, found bool, err error) {
	stmt, err := s.Prepare(ctx, op)
	if err != nil {
		return 0, false, err
	}
	var first model.Value
	r := engine.Result{Each: func(row []model.Value) {
		if first.IsNull() {
			first = row[0].Clone()
		}
	}}
	if err := stmt.Exec(ctx, nil, &r); err != nil {
		return 0, false, err
	}
	if op.Aggregate != model.NoAggregate {
		first = r.Value
	}
	return first.Int(), !first.IsNull(), nil
}
