package linkbench

import (
	"context"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// requestStage is a running step of requests. It holds the state that its clients share.
type requestStage struct {
	*run
	name       string
	graph      *graph
	data       data
	thresholds [kinds]float64
	env        workload.Env
	checks     bool
	requests   gen.Stream
	clock      int64 // at the beginning, in ms since 1970
	tick       int64 // of a client's clock: the number of clients
	start      totals
	clients    []*client
	counted    *counts // of the clients of all processes; nil: this one has all
}

func (r *run) openRequests(ctx context.Context, name string, clients int64, env workload.Env,
	checks bool) (workload.Stage, error) {
	if !r.now.known {
		r.seed = env.DataSeed()
	}
	g, err := r.newGraph()
	if err != nil {
		return nil, err
	}
	s := &requestStage{
		run: r, name: name, graph: g, data: r.newData(env.DataSeed()), thresholds: r.profile.thresholds(r.p.String("mix")),
		env: env, checks: checks && env.Results, tick: clients,
	}
	if !r.now.known && env.Results {
		if err := workload.InSession(ctx, env.DB, s.meet); err != nil {
			return nil, err
		}
	}
	r.opened++
	s.start, s.clock = r.now, start+r.opened<<32
	s.requests = stream(env.Seed, name).Sub(uint64(r.opened))
	return s, nil
}

// meet prepares for tables that another process has loaded. The number of nodes added
// since distinguishes earlier requests from those to come.
func (s *requestStage) meet(ctx context.Context, session engine.Session) error {
	last, err := lastNode(ctx, session)
	switch {
	case err != nil:
		return err
	case last < s.run.nodes:
		return hint.Errorf("load it with the parameters and the seed of this run",
			"table %s ends with id %d, but maxid is %d", nodeTable, last, s.run.nodes)
	}
	if err := s.requireGraph(ctx, session); err != nil {
		return err
	}
	s.opened = last - s.run.nodes
	s.now = totals{nodes: last, links: s.run.links}
	if s.p.String("check") == "none" {
		return nil
	}
	found, err := s.read(ctx, session)
	s.now = found.totals
	return err
}

// sampled is the number of nodes that are examined to recognise a graph.
const sampled = 100

// requireGraph returns an error unless lists reach their loaded ends: links are never
// removed, and lists of a different seed have different lengths.
func (s *requestStage) requireGraph(ctx context.Context, session engine.Session) error {
	stmt, err := session.Prepare(ctx, &model.Op{Kind: model.Get, Table: linkTable, Columns: []string{colTime}})
	if err != nil {
		return err
	}
	ids := stream(s.env.DataSeed(), "sample")
	for i := range uint64(sampled) {
		node := 1 + ids.Uniform(i, s.run.nodes)
		for linkType := range s.types {
			n := s.graph.list(node, linkType)
			if n == 0 {
				continue
			}
			var found engine.Result
			key := []model.Value{model.IntValue(firstLinkType + linkType), model.IntValue(node), model.IntValue(node + n - 1)}
			if err := stmt.Exec(ctx, key, &found); err != nil {
				return err
			}
			if found.Rows == 0 {
				return hint.Errorf("load it with the parameters and the seed of this run",
					"node %d has fewer than %d links of type %d: it is a different graph", node, n, firstLinkType+linkType)
			}
		}
	}
	return nil
}

func (s *requestStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	c := &client{
		stage: s, clock: s.clock + int64(seat.Client),
		source: gen.NewSource(s.requests.Sub(uint64(seat.Client))),
		limit:  s.p.Int("list_limit"), checked: s.env.Results && s.p.Bool("atomic"),
	}
	s.clients = append(s.clients, c)
	var err error
	c.statements, err = s.prepare(ctx, seat.Session)
	c.see, c.checkGot, c.checkListed = c.seeLink, c.got, c.listed // created once: each is allocated
	return c, err
}
