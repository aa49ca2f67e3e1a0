package linkbench

import (
	"context"
	"fmt"
	"sync/atomic"

	"rumbench/engine"
	"rumbench/internal/gen"
	"rumbench/model"
	"rumbench/workload"
)

// chunk is the number of ids whose links are loaded together.
const chunk = 2048

// loadStage is the load of the tables.
type loadStage struct {
	*run
	graph   *graph
	data    data
	env     workload.Env
	taken   atomic.Int64 // chunks of ids
	clients []*loader
	nodes   *nodeLoader
}

func (r *run) openLoad(env workload.Env) (workload.Stage, error) {
	g, err := r.newGraph(env.Seed)
	return &loadStage{run: r, graph: g, env: env, data: r.newData(env.Seed)}, err
}

// start is the time of the load, in milliseconds since 1970: the clock of rows is
// that of the operations, not of the wall, so that a seed always gives the same
// ones.
const start = 1_577_836_800_000

func (s *loadStage) Client(_ context.Context, seat workload.Seat) (workload.Client, error) {
	size := int(s.p.Int("load_batch"))
	if seat.Group == 0 {
		s.nodes = &nodeLoader{stage: s, rows: newBatch(seat.Session, nodeTable, nodeColumns, size), stream: stream(s.env.Seed, "load", "nodes")}
		return s.nodes, nil
	}
	l := &loader{
		stage: s, stream: stream(s.env.Seed, "load", "links"),
		links: newBatch(seat.Session, linkTable, linkColumns, size), counts: newBatch(seat.Session, countTable, countColumns, size),
	}
	s.clients = append(s.clients, l)
	return l, nil
}

// Finish checks that the tables hold what was loaded and, if that was everything,
// what the graph has.
func (s *loadStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	t := totals{nodes: s.nodes.rows.done, known: true}
	var lists int64
	for _, l := range s.clients {
		t.links += l.links.done
		t.counts += l.links.done
		lists += l.counts.done
	}
	s.now = t
	f.Live = s.live(&t, false)
	all := t.nodes == s.run.nodes && s.taken.Load()*chunk > s.run.nodes
	if all && (t.links != s.run.links || lists != s.lists) {
		f.Broken = append(f.Broken, fmt.Sprintf("%d links of %d lists were loaded, the graph has %d of %d", t.links, lists, s.run.links, s.lists))
	}
	if !s.env.Results || s.p.String("check") == "none" {
		return f, nil
	}
	session, err := s.env.DB.Session(ctx)
	if err != nil {
		return f, err
	}
	defer session.Close()
	last, _, err := workload.QueryInt(ctx, session, &model.Op{Kind: model.Scan, Table: nodeTable, Columns: []string{colID}, Desc: true, Limit: 1})
	if err == nil && last != t.nodes {
		f.Broken = append(f.Broken, fmt.Sprintf("the nodes end with id %d after %d were loaded: the requests would miss some", last, t.nodes))
	}
	return f, err
}

// nodeLoader inserts the nodes, whose ids the engine assigns.
type nodeLoader struct {
	stage  *loadStage
	rows   batch
	stream gen.Stream
	next   int64
}

func (l *nodeLoader) Ready(context.Context) error {
	for !l.rows.full() && l.next < l.stage.run.nodes {
		source := gen.NewSource(l.stream.Sub(uint64(l.next)))
		l.rows.text = l.stage.data.node.append(l.rows.text, source)
		l.rows.add(model.IntValue(nodeType), model.IntValue(1), model.IntValue(start/1000), l.rows.bytes())
		l.next++
	}
	return nil
}

func (l *nodeLoader) Do(ctx context.Context, out *workload.Outcome) error {
	if l.rows.rows == 0 {
		return workload.ErrDone
	}
	return l.rows.insert(ctx, out)
}

func (l *nodeLoader) Finish(ctx context.Context) error { return endLoad(ctx, l.rows.session) }

// loader inserts the links and counts of chunks of ids.
type loader struct {
	stage         *loadStage
	stream        gen.Stream
	links, counts batch
	source        *gen.Source // of the chunk
	id, end       int64       // the node whose links are being loaded, and the end of the chunk
	kind, link    int64       // the list, and how many of its links are in batches so far
	newest        int64       // time of the list's newest link
}

// Ready generates links until a batch is full or none is left.
func (l *loader) Ready(context.Context) error {
	for !l.links.full() && !l.counts.full() && (l.id < l.end || l.takeChunk()) {
		l.addNext()
	}
	return nil
}

func (l *loader) takeChunk() bool {
	n := l.stage.taken.Add(1) - 1
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

// addNext adds the next link of the list, or its count after the last one.
func (l *loader) addNext() {
	if l.link < l.stage.graph.list(l.id, l.kind) {
		// The links of the last 50 days, so that the order of a list is random.
		time := start - 1 - l.source.Uniform(1<<32)
		l.newest = max(l.newest, time)
		l.links.text = l.stage.data.link.append(l.links.text, l.source)
		l.links.add(model.IntValue(firstLinkType+l.kind), model.IntValue(l.id), model.IntValue(l.id+l.link),
			model.IntValue(visible), l.links.bytes(), model.IntValue(time), model.IntValue(0))
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
		l.counts.add(model.IntValue(l.id), model.IntValue(firstLinkType+l.kind), model.IntValue(l.link), model.IntValue(l.newest), model.IntValue(0))
	}
	l.link, l.newest = 0, 0
}

func (l *loader) Do(ctx context.Context, out *workload.Outcome) error {
	switch {
	case l.counts.full() || l.links.rows == 0 && l.counts.rows > 0:
		out.Kind = loadCounts
		return l.counts.insert(ctx, out)
	case l.links.rows > 0:
		return l.links.insert(ctx, out)
	}
	return workload.ErrDone
}

// Finish inserts what is left in batches when the load is cut short, so that counts
// equal their links.
func (l *loader) Finish(ctx context.Context) error {
	l.endList()
	for _, b := range []*batch{&l.links, &l.counts} {
		if err := b.insert(ctx, &workload.Outcome{}); err != nil {
			return err
		}
	}
	return endLoad(ctx, l.links.session)
}

func endLoad(ctx context.Context, s engine.Session) error {
	if bulk, ok := s.(engine.Loader); ok {
		return bulk.EndLoad(ctx)
	}
	return nil
}

// batch collects rows for an insert.
type batch struct {
	session engine.Session
	op      model.Op
	stmt    engine.Stmt // for op.Rows rows
	size    int
	rows    int // collected
	args    []model.Value
	text    []byte
	from    int   // where the text of the next row begins
	done    int64 // rows inserted
	result  engine.Result
}

func newBatch(s engine.Session, table string, columns []string, size int) batch {
	return batch{session: s, size: size, op: model.Op{Kind: model.Insert, Table: table, Columns: columns, Load: true}}
}

func (b *batch) full() bool { return b.rows >= b.size }

// bytes returns the text that was appended since the last call.
func (b *batch) bytes() model.Value {
	v := model.BytesValue(b.text[b.from:len(b.text):len(b.text)])
	b.from = len(b.text)
	return v
}

func (b *batch) add(values ...model.Value) {
	b.args = append(b.args, values...)
	b.rows++
}

// insert inserts the rows collected.
func (b *batch) insert(ctx context.Context, out *workload.Outcome) (err error) {
	if b.rows == 0 {
		return nil
	}
	if b.op.Rows != b.rows { // the first batch, or the last one
		op := b.op
		op.Rows = b.rows
		if b.stmt, err = b.session.Prepare(ctx, &op); err != nil {
			return err
		}
		b.op = op
	}
	if err := b.stmt.Exec(ctx, b.args, &b.result); err != nil {
		return err
	}
	out.Rows, out.Writes = int64(b.rows), 1
	for _, v := range b.args {
		out.Bytes += int64(v.Size())
	}
	b.done += out.Rows
	b.rows, b.from, b.args, b.text = 0, 0, b.args[:0], b.text[:0]
	return nil
}

// indexStage builds the index on links.
type indexStage struct {
	*run
	env workload.Env
}

func (s *indexStage) Client(context.Context, workload.Seat) (workload.Client, error) { return s, nil }

func (s *indexStage) Do(ctx context.Context, out *workload.Outcome) error {
	if err := s.env.DB.CreateIndexes(ctx, linkTable, linkIndex); err != nil {
		return err
	}
	live, plain := s.live(&s.now, true), s.live(&s.now, false)
	out.Rows, out.Bytes, out.Others = s.now.links, live.Bytes-plain.Bytes, 1
	return nil
}

func (s *indexStage) Finish(context.Context, workload.Totals) (workload.Finding, error) {
	return workload.Finding{Live: s.live(&s.now, true)}, nil
}
