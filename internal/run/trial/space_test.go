package trial

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/server"
	"rumbench/model"
	"rumbench/workload"
)

// versions is a workload that fills a table and then changes its rows again and
// again while a transaction reads that began before.
type versions struct{ reader engine.Session }

const (
	versionRows   = 2000
	versionBytes  = 1000
	versionRounds = 10
)

var versionTable = model.Table{Name: "version", Key: []string{"id"},
	Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "note", Type: model.String, Width: versionBytes}}}

func (v *versions) Schema() model.Schema      { return model.Schema{Tables: []model.Table{versionTable}} }
func (v *versions) Needs() []model.Capability { return nil }
func (v *versions) Estimate([]workload.Step) workload.Live {
	return workload.Live{Rows: versionRows, Bytes: versionRows * (8 + versionBytes)}
}

func (v *versions) Steps() []workload.Step {
	step := func(name string, work int64, op model.Op) workload.Step {
		return workload.Step{Name: name, Creates: name == "fill", Primary: name, WritesPer: name,
			Groups: []workload.Group{{Name: name, Clients: 1, Work: work, Ops: []workload.OpKind{{Name: name, Unit: "row"}}}},
			Open: func(ctx context.Context, env workload.Env) (workload.Stage, error) {
				return &versionStage{v, op}, v.read(ctx, env, name == "change")
			}}
	}
	return []workload.Step{
		step("fill", versionRows, model.Op{Kind: model.Insert, Table: "version", Columns: []string{"id", "note"}, Rows: 1}),
		step("change", versionRows*versionRounds, model.Op{Kind: model.Update, Table: "version", Set: []model.Assign{{Column: "note"}}}),
	}
}

// read begins a transaction whose view of the rows stays as it is.
func (v *versions) read(ctx context.Context, env workload.Env, begin bool) (err error) {
	if !begin {
		return nil
	}
	if v.reader, err = env.DB.Session(ctx); err != nil {
		return err
	}
	var r engine.Result
	for _, op := range []model.Op{{Kind: model.Begin, Isolation: model.RepeatableRead}, {Kind: model.Get, Table: "version", Columns: []string{"note"}}} {
		st, err := v.reader.Prepare(ctx, &op)
		if err != nil {
			return err
		}
		args := []model.Value{model.IntValue(0)}
		if op.Kind == model.Begin {
			args = nil
		}
		if err := st.Exec(ctx, args, &r); err != nil {
			return err
		}
	}
	return nil
}

type versionStage struct {
	*versions
	op model.Op
}

func (s *versionStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	st, err := seat.Session.Prepare(ctx, &s.op)
	return &versionClient{insert: s.op.Kind == model.Insert, stmt: st}, err
}

func (s *versionStage) Finish(context.Context, workload.Totals) (workload.Finding, error) {
	if s.reader != nil {
		s.reader.Close()
	}
	return workload.Finding{Live: s.Estimate(nil)}, nil
}

type versionClient struct {
	insert bool
	stmt   engine.Stmt
	n      int64
}

func (c *versionClient) Do(ctx context.Context, out *workload.Outcome) error {
	note := model.StringValue(bytes.Repeat([]byte{'a' + byte(c.n/versionRows)}, versionBytes))
	args := []model.Value{model.IntValue(c.n % versionRows), note}
	if !c.insert {
		args = []model.Value{note, model.IntValue(c.n % versionRows)}
	}
	c.n++
	out.Rows, out.Bytes = 1, versionBytes
	var r engine.Result
	return c.stmt.Exec(ctx, args, &r)
}

// Old versions of rows count, wherever a server keeps them: in its undo, as
// dead rows, or in the files of a tree. Its own files and its redo log do not.
func TestOldVersionsTakeSpace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, engine, kind, storage string }{
		{"InnoDB", "mysql", server.MariaDB, "innodb"},
		{"MyRocks", "mysql", server.MariaDB, "rocksdb"},
		{"old InnoDB", "mysql", server.MySQL, "innodb"},
		{"PostgreSQL", "postgres", server.Postgres, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "PostgreSQL" {
				need.Long(t)
			}
			t.Parallel()
			program, err := server.Find(t.Context(), c.kind, server.Source{})
			if err == nil && c.storage == "rocksdb" && server.MyRocks(program) == "" {
				err = errors.New("MyRocks is not installed")
			}
			need.Installed(t, err)
			v := &versions{}
			s := spec(t, "memory")
			s.Engine, _ = catalog.Plugins{}.Engine(c.engine)
			s.Dir, s.Plan.Run = need.TempDir(t), v
			config := &s.Target.Config
			config.Schema, config.Durability, config.Storage, config.Server.Kind = v.Schema(), model.DurabilityProcess, c.storage, c.kind
			tr := run(t, s, result.Complete)
			amp := func(name string) float64 { return value(t, step(t, tr, name), "", "", "space_amplification") }
			for _, name := range []string{"fill", "change"} {
				t.Logf("%s: amplification %.2f", name, amp(name))
				w := row(t, step(t, tr, name), "", "", "space_amplification").Warnings
				expect.True(t, len(w) == 0, name, w)
			}
			// InnoDB's tables grow by megabytes; its redo log alone would be 50.
			fill := amp("fill")
			expect.True(t, fill >= 0.5 && fill <= 6, "rows that were never changed take of their bytes", fill)
			// Every row has ten versions more.
			grown := amp("change") - amp("fill")
			expect.True(t, grown >= versionRounds/2, "amplification has grown by", grown)
		})
	}
}
