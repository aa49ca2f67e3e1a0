package linkbench

import (
	"context"
	"fmt"
	"math"
	"strings"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

func (t *totals) add(o *totals) {
	t.nodes += o.nodes
	t.links += o.links
	t.hidden += o.hidden
	t.counts += o.counts
	t.versions += o.versions
}

func (t *tally) add(o *tally) {
	if t.wrong == 0 {
		t.firstWrong = o.firstWrong
	}
	workload.AddTo(t.numbers(), workload.Values(o.numbers()))
}

// numbers lists all counts.
func (t *tally) numbers() []*int64 {
	return []*int64{&t.nodes, &t.links, &t.hidden, &t.counts, &t.versions, &t.asked, &t.got, &t.addToUpd, &t.updToAdd,
		&t.wrong}
}

// counts are what the clients have counted: changes and results, and the lengths of lists in the first and the
// last third.
type counts struct {
	tally
	first, last stretch
}

// count adds up what the clients of this process have counted.
func (s *requestStage) count() *counts {
	n := &counts{}
	for _, c := range s.clients {
		n.tally.add(&c.tally)
		a, b := c.lengths.ends()
		n.first.add(a)
		n.last.add(b)
	}
	return n
}

// numbers lists all counts.
func (n *counts) numbers() []*int64 {
	out := n.tally.numbers()
	for _, s := range []*stretch{&n.first, &n.last} {
		out = append(out, &s.lists, &s.loaded, &s.links)
	}
	return out
}

// Counts implements workload.Counting.
func (s *requestStage) Counts() []int64 { return workload.Values(s.count().numbers()) }

// Count implements workload.Counting.
func (s *requestStage) Count(sums []int64) {
	s.counted = &counts{}
	s.counted.firstWrong = "an answer to a client of another process"
	workload.AddTo(s.counted.numbers(), sums)
}

// Finish compares the tables with the changes that the clients have made, and each count
// with its links.
func (s *requestStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	n := s.counted
	if n == nil {
		n = s.count()
	}
	total, first, last := &n.tally, n.first, n.last
	want := s.start
	want.add(&total.totals)
	s.now = want
	f.Live = s.live(&want, true)
	f.Notes = s.notes(total, first, last)
	if total.wrong > 0 && s.env.Results {
		f.Broken = append(f.Broken, fmt.Sprintf("%d answers were wrong; the first: %s", total.wrong, total.firstWrong))
	}
	if !s.checks {
		return f, nil
	}
	got, err := workload.ReadInSession(ctx, s.env.DB, s.read)
	if err != nil {
		return f, err
	}
	f.ReadAll = true
	s.now = got.totals
	f.Live = s.live(&got.totals, true)
	f.Broken = append(f.Broken, got.lost(&want)...)
	split := got.split(&want)
	if len(split) > 0 && !s.p.Bool("atomic") {
		f.Notes = append(f.Notes, "without transactions clients have come between the statements of link writes: "+
			strings.Join(split, "; "))
		return f, nil
	}
	f.Broken = append(f.Broken, split...)
	return f, nil
}

// notes describes requests whose cost depends on the data, and the drift of lists.
func (s *requestStage) notes(total *tally, first, last stretch) (out []string) {
	if total.asked > 0 {
		out = append(out, fmt.Sprintf("multigets found %.0f %% of %d links", 100*float64(total.got)/float64(total.asked),
			total.asked))
	}
	if n := total.addToUpd + total.updToAdd; n > 0 {
		out = append(out, fmt.Sprintf("%d link writes became the opposite one: %d adds updated, %d updates added", n,
			total.addToUpd, total.updToAdd))
	}
	if first.lists > 0 && last.lists > 0 {
		loaded, early, late := float64(last.loaded)/float64(last.lists), first.growth(), last.growth()
		out = append(out, fmt.Sprintf("lists were %+.2f links longer than loaded on average in the first third, %+.2f in "+
			"the last, of %.2f loaded", early, late, loaded))
		if math.Abs(late-early) > drifted*loaded {
			out = append(out, "so requests became dearer or cheaper during the step: compare targets after as many requests, "+
				"not after as much time")
		}
	}
	return out
}

// drifted is the fraction of their loaded length by which lists must change to count as
// drifted.
const drifted = 0.1

// reading is the content of the tables.
type reading struct {
	totals
	byKey    int64 // links by primary key
	wrong    int64 // counts that differ from the number of their links
	example  string
	negative int64 // counts below zero
	outside  int64 // rows with ids, types or a visibility that no request writes
}

// difference is a number and its expected value.
type difference struct {
	subject   string
	got, want int64
}

// lost lists missing and surplus rows, which no order of statements can explain.
func (g *reading) lost(want *totals) []string {
	return differences([]difference{
		{"nodes", g.nodes, want.nodes},
		{"links", g.links, want.links},
		{"links by primary key, which should be those by index", g.byKey, g.links},
		{"rows with ids, types or a visibility that no request writes", g.outside, 0},
	})
}

// split lists differences between counts and their links, which may occur if link writes
// are not transactions.
func (g *reading) split(want *totals) []string {
	out := differences([]difference{
		{"hidden links", g.hidden, want.hidden},
		{"sum of counts", g.counts, want.counts},
		{"sum of versions of counts", g.versions, want.versions},
		{"negative counts", g.negative, 0},
	})
	if g.wrong > 0 {
		out = append([]string{fmt.Sprintf("%d counts are not those of their links: %s", g.wrong, g.example)}, out...)
	}
	return out
}

func differences(list []difference) (out []string) {
	for _, d := range list {
		if d.got != d.want {
			out = append(out, fmt.Sprintf("%s: %d, but should be %d", d.subject, d.got, d.want))
		}
	}
	return out
}

// readIDs is the number of ids whose links and counts are compared at once.
const readIDs = 10_000

// read reads all tables, and compares each count with its links.
func (s *requestStage) read(ctx context.Context, session engine.Session) (out reading, err error) {
	both := func(op model.Op) (engine.Stmt, error) {
		op.Kind, op.Lower, op.Upper = model.Scan, model.Inclusive, model.Inclusive
		return session.Prepare(ctx, &op)
	}
	links, err := both(model.Op{Table: linkTable, Index: linkIndex,
		Columns: []string{colID1, colLinkType, colVisibility, colID2}})
	if err != nil {
		return out, err
	}
	counts, err := both(model.Op{Table: countTable, Columns: []string{colID, colLinkType, colCount, colVersion}})
	if err != nil {
		return out, err
	}
	for first := int64(1); first <= s.run.nodes; first += readIDs {
		p := part{reading: &out, graph: s.graph, first: first, end: min(first+readIDs, s.run.nodes+1)}
		lower, upper := p.first, p.end-1
		if lower == 1 {
			lower = math.MinInt64
		}
		if p.end > s.run.nodes {
			upper = math.MaxInt64
		}
		if err := p.read(ctx, links, counts, model.IntValue(lower), model.IntValue(upper)); err != nil {
			return out, err
		}
	}
	out.known = true
	if out.nodes, err = workload.CountRows(ctx, session, nodeTable); err == nil {
		out.byKey, err = workload.CountRows(ctx, session, linkTable)
	}
	return out, err
}

// part reads the links and counts of some ids.
type part struct {
	*reading
	*graph
	first, end int64
	visible    []int64 // the visible links minus the count, by id and type
}

func (p *part) read(ctx context.Context, links, counts engine.Stmt, bounds ...model.Value) error {
	p.visible = make([]int64, (p.end-p.first)*p.types)
	if err := links.Exec(ctx, bounds, &engine.Result{Each: func(row []model.Value) {
		p.reading.links++
		shown := row[2].Int()
		if shown == hidden {
			p.hidden++
		}
		if shown != hidden && shown != visible || p.count(row, shown) &&
			!p.possible(row[0].Int(), row[1].Int()-firstLinkType, row[3].Int()) {
			p.outside++
		}
	}}); err != nil {
		return err
	}
	if err := counts.Exec(ctx, bounds, &engine.Result{Each: func(row []model.Value) {
		n := row[2].Int()
		p.reading.counts += n
		p.versions += row[3].Int()
		if n < 0 {
			p.negative++
		}
		p.count(row, -n)
	}}); err != nil {
		return err
	}
	for i, n := range p.visible {
		if n == 0 {
			continue
		}
		if p.wrong++; p.wrong == 1 {
			p.example = fmt.Sprintf("node %d, type %d has %+d visible links more than its count", p.first+int64(i)/p.types,
				firstLinkType+int64(i)%p.types, n)
		}
	}
	return nil
}

// count adds to the visible links of a list, and reports whether the list exists.
func (p *part) count(row []model.Value, n int64) bool {
	id, linkType := row[0].Int(), row[1].Int()-firstLinkType
	if id < p.first || id >= p.end || linkType < 0 || linkType >= p.types {
		p.outside++
		return false
	}
	p.visible[(id-p.first)*p.types+linkType] += n
	return true
}

// possible reports whether a list can have a link to a target.
func (g *graph) possible(node, linkType, target int64) bool {
	n := g.list(node, linkType)
	switch g.profile.target {
	case window:
		return target >= node && target < node+max(n, windowOf(n, existing[addLink]))
	case anywhere:
		return target > 0 && target < max(g.run.nodes, node+max(n, 1))+1
	}
	return target >= node && target < node+max(8, 4*n)
}

// stretch is a part of a client's lists: their number, and their links now and after the
// load. The difference is the growth; lengths alone vary by chance.
type stretch struct{ lists, loaded, links int64 }

func (s *stretch) add(o stretch) {
	s.lists += o.lists
	s.loaded += o.loaded
	s.links += o.links
}

func (s *stretch) growth() float64 { return float64(s.links-s.loaded) / float64(s.lists) }

// stretches is the maximum number of stretches into which a client's lists are divided.
const stretches = 96

// lengths are the lengths of a client's lists over its run, in stretches that grow with
// the run.
type lengths struct {
	all  [stretches]stretch
	used int
	each int64 // lists of a stretch
}

func (l *lengths) add(loaded, links int64) {
	if l.used == 0 {
		l.used, l.each = 1, 1
	}
	if l.all[l.used-1].lists == l.each {
		if l.used == stretches {
			for i := range stretches / 2 {
				l.all[i] = l.all[2*i]
				l.all[i].add(l.all[2*i+1])
			}
			clear(l.all[stretches/2:])
			l.used, l.each = stretches/2, 2*l.each
		}
		l.used++
	}
	l.all[l.used-1].add(stretch{1, loaded, links})
}

// ends returns the first third and the last third.
func (l *lengths) ends() (first, last stretch) {
	for _, s := range l.all[:l.used/3] {
		first.add(s)
	}
	for _, s := range l.all[l.used-l.used/3 : l.used] {
		last.add(s)
	}
	return first, last
}
