package linkbench

import (
	"context"
	"errors"
	"fmt"

	"rumbench/internal/gen"
	"rumbench/workload"
)

// requestStage is a running step of requests. It holds what its clients share.
type requestStage struct {
	*run
	name       string
	graph      *graph
	data       data
	thresholds [kinds]float64
	env        workload.Env
	checks     bool
	clock      int64 // at the beginning, in ms since 1970
	tick       int64 // of a client's clock: the number of clients
	start      totals
	clients    []*client
}

func (r *run) openRequests(ctx context.Context, name string, number int64, env workload.Env, checks bool) (_ workload.Stage, err error) {
	g, err := r.newGraph(env.Seed)
	if err != nil {
		return nil, err
	}
	s := &requestStage{
		run: r, name: name, graph: g, data: r.newData(env.Seed), thresholds: r.profile.thresholds(r.p.String("mix")),
		env: env, checks: checks && env.Results, clock: start + (number+1)<<32, start: r.now,
	}
	if s.start.known || !env.Results {
		return s, nil
	}
	session, err := env.DB.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	found, err := s.read(ctx, session)
	if err == nil && found.nodes == 0 {
		err = fmt.Errorf("table %s is empty: the step needs the rows of step load", nodeTable)
	}
	s.start = found.totals
	return s, err
}

func (s *requestStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	s.tick++
	c := &client{
		stage: s, clock: s.clock + int64(seat.Client),
		source: gen.NewSource(stream(s.env.Seed, s.name).Sub(uint64(seat.Client))),
	}
	s.clients = append(s.clients, c)
	var err error
	c.statements, err = s.prepare(ctx, seat.Session)
	c.see, c.checkGot, c.checkListed = c.seeLink, c.got, c.listed // made once, as they are in memory of their own
	return c, err
}
