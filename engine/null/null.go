// Package null is an engine that does nothing. It measures the client: the cost
// of an operation without a database. With options it keeps the CPU busy for a
// known time, to test whether rumbench finds a known difference.
package null

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

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

// Check refuses every knob but the options of the delay.
func (Engine) Check(c engine.Config) error {
	_, err := check(c)
	return err
}

func check(c engine.Config) (*delay, error) {
	knobs := c
	knobs.Options = nil // checked below
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
	delay  *delay // nil: none
}

func (d db) Settings(context.Context) ([]engine.Setting, error)   { return d.delay.settings(), nil }
func (db) CreateTables(context.Context) error                     { return nil }
func (db) CreateIndexes(context.Context, string, ...string) error { return nil }
func (db) DropIndex(context.Context, string, string) error        { return nil }
func (db) ClearTable(context.Context, string) error               { return nil }
func (d db) Session(context.Context) (engine.Session, error)      { return session(d), nil }
func (db) Sizes(context.Context) ([]engine.Size, error)           { return nil, nil }
func (db) Counters(context.Context, *engine.Sample) error         { return nil }
func (db) Settle(context.Context) ([]engine.SettleAction, error)  { return nil, nil }
func (db) Close() error                                           { return nil }

type session db

func (session) Close() error { return nil }

func (s session) Prepare(_ context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Table != "" {
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

// stmt reports all requested rows as inserted or deleted, so that clients
// proceed as with a real database.
type stmt struct{ rows int64 }

func (s stmt) Exec(_ context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	r.Rows = s.rows
	return nil
}

// busy is a stmt with a delay, a separate type so that stmt stays as fast as
// possible.
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
