// Package slowed wraps an engine so that each of its operations takes longer by a
// known share: a planted regression, to measure how often comparisons find it. It is
// linked into rumbench only by this project's benchmarks, see gate.go there.
package slowed

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"rumbench/engine"
	"rumbench/model"
)

// option is the share by which operations take longer: 0.3 is 30 %.
const option = "slower"

// Engine is an engine with the option.
type Engine struct{ engine.Engine }

func (e Engine) Info() engine.Info {
	info := e.Engine.Info()
	info.Options = append([]engine.Option{{Name: option, Type: "number", Doc: "share by which operations take longer"}},
		info.Options...)
	return info
}

// Check returns an error if Open could not honour the configuration.
func (e Engine) Check(c engine.Config) error {
	if _, err := slower(c); err != nil {
		return err
	}
	return e.Engine.Check(without(c))
}

// Open opens the engine's database.
func (e Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	share, err := slower(c)
	if err != nil {
		return nil, err
	}
	db, err := e.Engine.Open(ctx, without(c))
	if err != nil || share == 0 {
		return db, err
	}
	return slowDB{db, share}, nil
}

func slower(c engine.Config) (share float64, err error) {
	value, given := c.Options[option]
	if !given {
		return 0, nil
	}
	if share, err = strconv.ParseFloat(fmt.Sprint(value), 64); err != nil || share < 0 {
		return 0, engine.Refuse("options."+option, value, "it is a share such as 0.3")
	}
	return share, nil
}

func without(c engine.Config) engine.Config {
	c.Options = maps.Clone(c.Options)
	delete(c.Options, option)
	return c
}

type slowDB struct {
	engine.DB
	share float64
}

func (d slowDB) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.DB.Session(ctx)
	if l, ok := s.(engine.Loader); ok {
		return slowLoader{slowSession{s, d.share}, l}, err
	}
	return slowSession{s, d.share}, err
}

type slowSession struct {
	engine.Session
	share float64
}

type slowLoader struct {
	slowSession
	engine.Loader
}

func (s slowSession) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	st, err := s.Session.Prepare(ctx, op)
	return slowStmt{st, s.share}, err
}

type slowStmt struct {
	engine.Stmt
	share float64
}

// Exec executes the operation, and then computes for a share of the time it took.
func (s slowStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	start := time.Now()
	err := s.Stmt.Exec(ctx, args, r)
	took := time.Since(start)
	until := start.Add(took + time.Duration(s.share*float64(took)))
	for time.Now().Before(until) { // it also takes CPU time, as a slower engine does
	}
	return err
}
