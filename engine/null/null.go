// Package null is an engine that does nothing. It measures the client: what an
// operation costs when no database is behind it. With options it keeps the
// processor busy for a time that is known, which measures rumbench: whether it
// finds a difference that was planted.
package null

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

// Info describes the engine.
func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "null",
		Structure:    "none",
		Doc:          "Does nothing and stores nothing: measures the client.",
		Options:      options,
		Version:      "1",
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique},
	}
}

// Check refuses knobs: nothing can be honoured where nothing is done.
func (Engine) Check(c engine.Config) error {
	_, err := check(c)
	return err
}

func check(c engine.Config) (*delay, error) {
	knobs := c
	knobs.Options = nil // they are of a delay, not of a disk
	if err := knobs.CheckDiskless(); err != nil {
		return nil, err
	}
	if err := c.CheckOptions(options); err != nil {
		return nil, err
	}
	return newDelay(c)
}

// Open opens nothing.
func (Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	d, err := check(c)
	if err != nil {
		return nil, err
	}
	return db{c.Schema, d}, nil
}

type db struct {
	schema model.Schema
	delay  *delay // nil: operations take no time
}

func (d db) Settings(context.Context) ([]engine.Setting, error) { return d.delay.settings(), nil }
func (db) CreateTables(context.Context) error                   { return nil }
func (db) CreateIndexes(context.Context, string, ...string) error {
	return nil
}
func (db) DropIndex(context.Context, string, string) error       { return nil }
func (d db) Session(context.Context) (engine.Session, error)     { return session(d), nil }
func (db) Sizes(context.Context) ([]engine.Size, error)          { return nil, nil }
func (db) Counters(context.Context, *engine.Sample) error        { return nil }
func (db) Settle(context.Context) ([]engine.SettleAction, error) { return nil, nil }
func (db) Close() error                                          { return nil }

type session db

func (session) Close() error { return nil }

func (s session) Prepare(_ context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Kind != model.Begin && op.Kind != model.Commit && op.Kind != model.Rollback {
		t, err := s.schema.Table(op.Table)
		if err != nil {
			return nil, err
		}
		if err := op.Validate(t); err != nil {
			return nil, err
		}
	}
	if s.delay != nil {
		return busy{rows: int64(op.Rows), delay: s.delay}, nil
	}
	return stmt{rows: int64(op.Rows)}, nil
}

// stmt claims that the rows asked for were inserted or deleted, so that a
// client goes on as it would on a database that works.
type stmt struct{ rows int64 }

func (s stmt) Exec(_ context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	r.Rows = s.rows
	return nil
}

// busy is a stmt that takes its time. It is a type of its own so that the other
// stays as fast as it can be.
type busy struct {
	rows  int64
	delay *delay
}

func (s busy) Exec(_ context.Context, _ []model.Value, r *engine.Result) error {
	s.delay.spin()
	r.Reset()
	r.Rows = s.rows
	return nil
}
