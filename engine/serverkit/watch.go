package serverkit

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
)

// Watched is the information available from a server that is only watched.
type Watched struct {
	Sample    Sample
	Settings  func(context.Context) ([]engine.Setting, error)
	Structure Describe
}

type watch struct {
	*Host
	watched Watched
	*sqlkit.Admin
}

// Watch connects to the server of a data source name, only to query it. look
// identifies the server.
func (t *Traits) Watch(ctx context.Context, dsn string,
	look func(context.Context, *sqlkit.Admin) (Watched, error)) (engine.Watch, error) {
	host := NewHost(t.Mark, t.Programs...)
	connector, err := t.Reach(dsn, server.Endpoint{}, host.Dial)
	if err != nil {
		return nil, err
	}
	conn, err := meet(ctx, hiding(connector, dsn), t.Dialect)
	if err != nil {
		return nil, err
	}
	watched, err := Hello(ctx, func(ctx context.Context) (Watched, error) { return look(ctx, conn) })
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &watch{host, watched, conn}, nil
}

func (w *watch) Counters(ctx context.Context, s *engine.Sample) error {
	return w.watched.Sample(ctx, s)
}

func (w *watch) Settings(ctx context.Context) ([]engine.Setting, error) {
	return w.watched.Settings(ctx)
}

// Structure implements engine.Structured.
func (w *watch) Structure(ctx context.Context) (engine.Structure, error) {
	return w.watched.Structure.ask(ctx, w.Admin)
}

// Take reports what sessions do, as engine.ActivitySampler.Sample does.
type Take func(ctx context.Context, add func(d engine.SessionActivity, sessions int)) error

// Look describes where the activity of sessions is read.
type Look struct {
	From    string // the view, for people
	Take    Take
	Threads string // a query for the operating system's threads that serve them; "": the server reports none
}

type sampler struct {
	*sqlkit.Admin
	Look
}

// Sampler makes a sampler of sessions on a separate connection. look finds out
// where their activity is read; the sessions of conn and counters do not count.
func (d *DB) Sampler(ctx context.Context,
	look func(conn, counters *sqlkit.Admin) (Look, error)) (engine.ActivitySampler, error) {
	if len(d.gateways) > 1 {
		return nil, errors.New("they are on several servers")
	}
	conn, err := d.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch the sessions: %w", err)
	}
	s := &sampler{Admin: conn}
	if s.Look, err = look(conn, d.gateways[0].counters); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("watch the sessions: %w", err)
	}
	return s, nil
}

func (s *sampler) Source() string { return s.From }

// Threads implements engine.ThreadLister.
func (s *sampler) Threads(ctx context.Context) (tids []int, err error) {
	if s.Look.Threads == "" {
		return nil, nil
	}
	err = s.Query(ctx, s.Look.Threads, func(row []string) error {
		tid, err := strconv.Atoi(row[0])
		tids = append(tids, tid)
		return err
	})
	return tids, engine.Wrap("list the sessions' threads", err)
}

func (s *sampler) Sample(ctx context.Context, add func(d engine.SessionActivity, sessions int)) error {
	return engine.Wrap("watch the sessions", s.Take(ctx, add))
}
