package linkbench

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// chunk is the number of ids whose links are loaded together.
const chunk = 2048

// loadStage is the load of the tables.
type loadStage struct {
	*run
	graph   *graph
	data    data
	env     workload.Env
	chunks  *workload.Deal // of ids
	clients []*loader
	nodes   *nodeLoader // nil: another process has it
	counted []int64     // Counts of all processes; nil: this one has all clients
}

func (r *run) openLoad(env workload.Env) (workload.Stage, error) {
	r.opened, r.seed = 0, env.Seed
	g, err := r.newGraph()
	return &loadStage{run: r, graph: g, env: env, data: r.newData(env.Seed),
		chunks: workload.NewDeal(env.Part, 1, 1+int(r.p.Int("load_clients")))}, err
}

// Counts implements workload.Counting: the nodes, links and lists that were loaded.
func (s *loadStage) Counts() []int64 {
	out := make([]int64, 3)
	if s.nodes != nil {
		out[0] = s.nodes.rows.Done
	}
	for _, l := range s.clients {
		out[1] += l.links.Done
		out[2] += l.counts.Done
	}
	return out
}

// Count implements workload.Counting.
func (s *loadStage) Count(sums []int64) { s.counted = sums }

// start is the time of the load, in milliseconds since 1970: the time in rows follows the
// operations instead of the wall clock, so that a seed always gives the same rows.
const start = 1_577_836_800_000

func (s *loadStage) Client(_ context.Context, seat workload.Seat) (workload.Client, error) {
	size := int(s.p.Int("load_batch"))
	if seat.Client == 0 {
		s.nodes = &nodeLoader{stage: s, rows: workload.NewBatch(seat.Session, nodeTable, nodeColumns, size),
			stream: stream(s.env.Seed, "load", "nodes")}
		return s.nodes, nil
	}
	l := &loader{
		stage: s, stream: stream(s.env.Seed, "load", "links"),
		links:  workload.NewBatch(seat.Session, linkTable, linkColumns, size),
		counts: workload.NewBatch(seat.Session, countTable, countColumns, size),
	}
	s.clients = append(s.clients, l)
	return l, nil
}

// Finish checks that the tables hold the loaded rows and, if the load was complete, that
// these match the graph.
func (s *loadStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	n := s.counted
	if n == nil {
		n = s.Counts()
	}
	t := totals{nodes: n[0], links: n[1], counts: n[1], known: true}
	lists := n[2]
	s.now = t
	f.Live = s.live(&t, false)
	if all := t.nodes == s.run.nodes && t.links >= s.run.links; all && s.env.Results &&
		(t.links != s.run.links || lists != s.lists) {
		f.Broken = append(f.Broken, fmt.Sprintf("%d links of %d lists were loaded, the graph has %d of %d", t.links, lists,
			s.run.links, s.lists))
	}
	if !s.env.Results || s.p.String("check") == "none" {
		return f, nil
	}
	last, err := workload.ReadInSession(ctx, s.env.DB, lastNode)
	if err == nil && last != t.nodes {
		f.Broken = append(f.Broken, fmt.Sprintf(
			"the nodes end with id %d after %d were loaded: the requests would miss some", last, t.nodes))
	}
	return f, err
}

// lastNode returns the greatest id of a node, or 0 if there are no nodes.
func lastNode(ctx context.Context, session engine.Session) (int64, error) {
	return workload.GreatestInt(ctx, session, nodeTable, colID)
}

// nodeLoader inserts the nodes, whose ids the engine assigns.
type nodeLoader struct {
	stage  *loadStage
	rows   *workload.Batch
	stream gen.Stream
	next   int64
}

func (l *nodeLoader) Ready(context.Context) error {
	for !l.rows.Full() && l.next < l.stage.run.nodes {
		source := gen.NewSource(l.stream.Sub(uint64(l.next)))
		l.rows.Text = l.stage.data.node.append(l.rows.Text, source)
		l.rows.Add(model.IntValue(nodeType), model.IntValue(1), model.IntValue(start/1000), l.rows.Bytes())
		l.next++
	}
	return nil
}

func (l *nodeLoader) Do(ctx context.Context, out *workload.Outcome) error {
	if l.rows.Rows() == 0 {
		return workload.ErrDone
	}
	out.Kind = loadNodes
	return l.rows.Insert(ctx, out)
}

func (l *nodeLoader) Finish(ctx context.Context) error { return l.rows.EndLoad(ctx) }

// loader inserts the links and counts of chunks of ids.
type loader struct {
	stage         *loadStage
	stream        gen.Stream
	links, counts *workload.Batch
	source        *gen.Source // of the chunk
	id, end       int64       // the node whose links are being loaded, and the end of the chunk
	kind, link    int64       // the list, and how many of its links are in batches so far
	newest        int64       // time of the list's newest link
}

// Ready generates links until a batch is full or no links are left.
func (l *loader) Ready(context.Context) error {
	for !l.links.Full() && !l.counts.Full() && (l.id < l.end || l.takeChunk()) {
		l.addNext()
	}
	return nil
}

func (l *loader) takeChunk() bool {
	n := l.stage.chunks.Take()
	chunks := (l.stage.run.nodes + chunk - 1) / chunk
	if n >= chunks {
		return false
	}
	if l.stage.p.String("load_order") == descending {
		n = chunks - 1 - n
	}
	l.id, l.end = n*chunk+1, min((n+1)*chunk, l.stage.run.nodes)+1
	l.source = gen.NewSource(l.stream.Sub(uint64(n)))
	return true
}

// addNext adds the next link of the list or, after the last link, its count.
func (l *loader) addNext() {
	if l.link < l.stage.graph.list(l.id, l.kind) {
		// The links of the last 50 days, so that the order of a list is random.
		time := start - 1 - l.source.Uniform(1<<32)
		l.newest = max(l.newest, time)
		l.links.Text = l.stage.data.link.append(l.links.Text, l.source)
		l.links.Add(model.IntValue(firstLinkType+l.kind), model.IntValue(l.id), model.IntValue(l.id+l.link),
			model.IntValue(visible), l.links.Bytes(), model.IntValue(time), model.IntValue(0))
		l.link++
		return
	}
	l.endList()
	if l.kind++; l.kind == l.stage.types {
		l.kind = 0
		l.id++
	}
}

func (l *loader) endList() {
	if l.link > 0 {
		l.counts.Add(model.IntValue(l.id), model.IntValue(firstLinkType+l.kind), model.IntValue(l.link),
			model.IntValue(l.newest), model.IntValue(0))
	}
	l.link, l.newest = 0, 0
}

func (l *loader) Do(ctx context.Context, out *workload.Outcome) error {
	switch {
	case l.counts.Full() || l.links.Rows() == 0 && l.counts.Rows() > 0:
		out.Kind = loadCounts
		return l.counts.Insert(ctx, out)
	case l.links.Rows() > 0:
		out.Kind = loadLinks
		return l.links.Insert(ctx, out)
	}
	return workload.ErrDone
}

// Finish inserts the rest of the batches when the load is cut short, so that counts equal
// their links.
func (l *loader) Finish(ctx context.Context) error {
	l.endList()
	for _, b := range []*workload.Batch{l.links, l.counts} {
		if err := b.Insert(ctx, &workload.Outcome{}); err != nil {
			return err
		}
	}
	return l.links.EndLoad(ctx)
}

// indexStage builds the index on links.
type indexStage struct {
	*run
	env workload.Env
}

func (s *indexStage) Client(context.Context, workload.Seat) (workload.Client, error) {
	bytes := s.live(&s.now, true).Bytes - s.live(&s.now, false).Bytes
	return &workload.Builder{DB: s.env.DB,
		Queue: []workload.Build{{Table: linkTable, Index: linkIndex, Rows: s.now.links, Bytes: bytes}}}, nil
}

func (s *indexStage) Finish(context.Context, workload.Totals) (workload.Finding, error) {
	return workload.Finding{Live: s.live(&s.now, true)}, nil
}
