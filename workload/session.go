package workload

import (
	"context"
	"errors"
	"fmt"

	"rumbench/engine"
	"rumbench/model"
)

// Seats returns the clients of a step by group, each with its own session; nil for a seat that is not of
// the part. closeAll closes the sessions; it is also returned with an error.
func Seats(ctx context.Context, step *Step, stage Stage, part Part,
	open func(context.Context) (engine.Session, error)) (clients [][]Client, closeAll func(), err error) {
	var sessions []engine.Session
	closeAll = func() {
		for _, s := range sessions {
			s.Close()
		}
	}
	clients = make([][]Client, len(step.Groups))
	for g := range clients {
		for i := range step.Groups[g].Clients {
			if !part.Has(i) {
				clients[g] = append(clients[g], nil)
				continue
			}
			session, err := open(ctx)
			if err != nil {
				return nil, closeAll, fmt.Errorf("open a session: %w", err)
			}
			sessions = append(sessions, session)
			client, err := stage.Client(ctx, Seat{Group: g, Client: i, Session: session})
			if err != nil {
				return nil, closeAll, err
			}
			clients[g] = append(clients[g], client)
		}
	}
	return clients, closeAll, nil
}

// InSession calls a function with its own session.
func InSession(ctx context.Context, db engine.DB, do func(context.Context, engine.Session) error) error {
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, session), session.Close())
}

// ReadInSession returns the result of a function with its own session.
func ReadInSession[T any](ctx context.Context, db engine.DB,
	read func(context.Context, engine.Session) (T, error)) (out T, err error) {
	err = InSession(ctx, db, func(ctx context.Context, session engine.Session) (err error) {
		out, err = read(ctx, session)
		return err
	})
	return out, err
}

// CountRows returns the number of rows of a table.
func CountRows(ctx context.Context, s engine.Session, table string) (int64, error) {
	n, _, err := QueryInt(ctx, s, &model.Op{Kind: model.Scan, Table: table, Aggregate: model.Count})
	return n, err
}

// GreatestInt returns the greatest value of an indexed column of integers; 0 for a table without rows.
func GreatestInt(ctx context.Context, s engine.Session, table, column string) (int64, error) {
	n, _, err := QueryInt(ctx, s,
		&model.Op{Kind: model.Scan, Table: table, Columns: []string{column}, Desc: true, Limit: 1})
	return n, err
}

// QueryInt executes a scan of integers once. It returns the aggregate, or else the first
// column of the first row; found is whether there is one.
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
