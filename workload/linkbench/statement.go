package linkbench

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// statements holds the prepared statements of a client. It has many fields because each
// kind of request has its own statements.
type statements struct {
	workload.Transaction
	session engine.Session

	insertLink, lockLink, changeLink, hideLink engine.Stmt
	raiseCount, changeCount                    engine.Stmt
	count, links                               engine.Stmt
	gets                                       []engine.Stmt // of links, by n-1; nil until used
	addNode, getNode, updateNode, deleteNode   engine.Stmt

	args   []model.Value
	result engine.Result
}

func (r *run) prepare(ctx context.Context, session engine.Session) (s statements, err error) {
	s.session = session
	if r.p.Bool("atomic") {
		if s.Transaction, err = workload.NewTransaction(ctx, session); err != nil {
			return s, err
		}
	}
	insert := model.Op{Kind: model.Insert, Table: linkTable, Columns: linkColumns, Rows: 1}
	if r.dialect2013 {
		insert.OnConflict = model.Ignore
	}
	raise := model.Op{Kind: model.Insert, Table: countTable, Columns: countColumns, Rows: 1, OnConflict: model.Add,
		AddColumns: []string{colCount, colVersion}}
	change := model.Op{Kind: model.Update, Table: countTable}
	change.Set = []model.Assign{{Column: colCount, Add: true}, {Column: colVersion, Add: true}, {Column: colTime}}
	set := func(columns ...string) (out []model.Assign) {
		for _, c := range columns {
			out = append(out, model.Assign{Column: c})
		}
		return out
	}
	for _, p := range []struct {
		dst *engine.Stmt
		op  model.Op
	}{
		{&s.insertLink, insert},
		{&s.lockLink, model.Op{Kind: model.Get, Table: linkTable, Columns: []string{colVisibility}, Lock: true}},
		{&s.changeLink, model.Op{Kind: model.Update, Table: linkTable,
			Set: set(colVisibility, colData, colTime, colVersion)}},
		{&s.hideLink, model.Op{Kind: model.Update, Table: linkTable, Set: set(colVisibility)}},
		{&s.raiseCount, raise},
		{&s.changeCount, change},
		{&s.count, model.Op{Kind: model.Get, Table: countTable, Columns: []string{colCount}}},
		{&s.links, model.Op{
			Kind: model.Scan, Table: linkTable, Index: linkIndex, Columns: linkColumns, Equal: 3, Upper: model.Inclusive,
			Desc: true, Limit: int(r.p.Int("list_limit")),
		}},
		{&s.addNode, model.Op{Kind: model.Insert, Table: nodeTable, Columns: nodeColumns, Rows: 1, ReturnNumber: true}},
		{&s.getNode, model.Op{Kind: model.Get, Table: nodeTable, Columns: nodeColumns}},
		{&s.updateNode, model.Op{Kind: model.Update, Table: nodeTable, Set: set(colVersion, colTime, colData)}},
		{&s.deleteNode, model.Op{Kind: model.Delete, Table: nodeTable}},
	} {
		if *p.dst, err = session.Prepare(ctx, &p.op); err != nil {
			return s, err
		}
	}
	return s, nil
}

// getOf returns the statement that gets n links by key.
func (s *statements) getOf(ctx context.Context, n int) (stmt engine.Stmt, err error) {
	for len(s.gets) < n {
		s.gets = append(s.gets, nil)
	}
	if s.gets[n-1] == nil {
		s.gets[n-1], err = s.session.Prepare(ctx, &model.Op{Kind: model.Get, Table: linkTable, Columns: linkColumns, Keys: n})
	}
	return s.gets[n-1], err
}

// exec executes a statement; its result is in s.result.
func (s *statements) exec(ctx context.Context, stmt engine.Stmt, each func([]model.Value), args ...model.Value) error {
	s.args = append(s.args[:0], args...)
	s.result.Each = each
	return stmt.Exec(ctx, s.args, &s.result)
}

func (s *statements) read(ctx context.Context, stmt engine.Stmt, out *workload.Outcome, args ...model.Value) error {
	if err := s.exec(ctx, stmt, nil, args...); err != nil {
		return err
	}
	s.didRead(out)
	return nil
}

// didRead counts a read of a request that only reads.
func (s *statements) didRead(out *workload.Outcome) {
	out.Reads++
	out.Bytes += s.result.Bytes
}

// write executes a statement that writes the given number of user bytes, including index
// entries.
func (s *statements) write(ctx context.Context, stmt engine.Stmt, out *workload.Outcome, bytes int,
	args ...model.Value) error {
	if err := s.exec(ctx, stmt, nil, args...); err != nil {
		return err
	}
	if s.result.Rows == 0 {
		out.Others++
		return nil
	}
	out.Writes++
	out.Bytes += int64(bytes)
	return nil
}
