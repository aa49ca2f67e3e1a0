package linkbench

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	t.totals.add(&o.totals)
	t.asked += o.asked
	t.got += o.got
	t.addToUpd += o.addToUpd
	t.updToAdd += o.updToAdd
	if t.wrong == 0 {
		t.firstWrong = o.firstWrong
	}
	t.wrong += o.wrong
}

// Finish compares what the tables hold with what the clients have changed, and each
// count with its links.
func (s *requestStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	var did tally
	var first, last stretch
	for _, c := range s.clients {
		did.add(&c.tally)
		a, b := c.lengths.ends()
		first.add(a)
		last.add(b)
	}
	want := s.start
	want.add(&did.totals)
	s.now = want
	f.Live = s.live(&want, true)
	f.Notes = s.notes(&did, first, last)
	if did.wrong > 0 && s.env.Results {
		f.Broken = append(f.Broken, fmt.Sprintf("%d answers were wrong; the first: %s", did.wrong, did.firstWrong))
	}
	if !s.checks {
		return f, nil
	}
	session, err := s.env.DB.Session(ctx)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	got, err := s.read(ctx, session)
	if err != nil {
		return f, err
	}
	f.ReadAll = true
	s.now = got.totals
	f.Live = s.live(&got.totals, true)
	broken := got.differences(&want)
	if len(broken) > 0 && !s.p.Bool("atomic") && len(s.clients) > 1 {
		f.Notes = append(f.Notes, fmt.Sprintf("without transactions clients have come between the statements of a link write: %s", broken[0]))
		return f, nil
	}
	f.Broken = append(f.Broken, broken...)
	return f, nil
}

// notes describes requests whose cost depends on the data, and the drift of lists.
func (s *requestStage) notes(did *tally, first, last stretch) (out []string) {
	if did.asked > 0 {
		out = append(out, fmt.Sprintf("multigets found %.0f %% of %d links", 100*float64(did.got)/float64(did.asked), did.asked))
	}
	if n := did.addToUpd + did.updToAdd; n > 0 {
		out = append(out, fmt.Sprintf("%d link writes became the other one: %d adds updated, %d updates added", n, did.addToUpd, did.updToAdd))
	}
	if first.lists > 0 && last.lists > 0 {
		from, to := first.mean(), last.mean()
		out = append(out, fmt.Sprintf("lists had %.2f links on average in the first third, %.2f in the last", from, to))
		if math.Abs(to-from) > drifted*from && min(first.lists, last.lists) >= enoughLists {
			out = append(out, "so requests became dearer or cheaper during the step: compare targets after as many requests, not after as much time")
		}
	}
	return out
}

// The lists change if their mean length does by more than a tenth, over enough of
// them for that to be no chance.
const (
	drifted     = 0.1
	enoughLists = 10_000
)

// reading is what the tables hold.
type reading struct {
	totals
	byKey    int64 // links by primary key
	wrong    int64 // counts that are not those of their links
	example  string
	negative int64 // counts below zero
	outside  int64 // rows of ids that were not loaded
}

// differences lists how the tables differ from what they should hold.
func (g *reading) differences(want *totals) (out []string) {
	if g.wrong > 0 {
		out = append(out, fmt.Sprintf("%d counts are not those of their links: %s", g.wrong, g.example))
	}
	for _, d := range []struct {
		what      string
		got, want int64
	}{
		{"nodes", g.nodes, want.nodes},
		{"links", g.links, want.links},
		{"links by primary key", g.byKey, g.links},
		{"hidden links", g.hidden, want.hidden},
		{"sum of counts", g.counts, want.counts},
		{"sum of versions of counts", g.versions, want.versions},
		{"negative counts", g.negative, 0},
		{"rows of ids that were not loaded", g.outside, 0},
	} {
		if d.got != d.want {
			out = append(out, fmt.Sprintf("%s: %d, but %d by what was loaded and changed", d.what, d.got, d.want))
		}
	}
	return out
}

// readIDs is the number of ids whose links and counts are compared at a time.
const readIDs = 10_000

// read reads all tables, and compares each count with its links.
func (s *requestStage) read(ctx context.Context, session engine.Session) (out reading, err error) {
	both := func(op model.Op) (engine.Stmt, error) {
		op.Kind, op.Lower, op.Upper = model.Scan, model.Inclusive, model.Inclusive
		return session.Prepare(ctx, &op)
	}
	links, err := both(model.Op{Table: linkTable, Index: linkIndex, Columns: []string{colID1, colLinkType, colVisibility}})
	if err != nil {
		return out, err
	}
	counts, err := both(model.Op{Table: countTable, Columns: []string{colID, colLinkType, colCount, colVersion}})
	if err != nil {
		return out, err
	}
	for first := int64(1); first <= s.run.nodes; first += readIDs {
		p := part{reading: &out, types: s.types, first: first, end: min(first+readIDs, s.run.nodes+1)}
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
	if out.nodes, err = count(ctx, session, nodeTable); err == nil {
		out.byKey, err = count(ctx, session, linkTable)
	}
	return out, err
}

func count(ctx context.Context, session engine.Session, table string) (int64, error) {
	n, _, err := workload.QueryInt(ctx, session, &model.Op{Kind: model.Scan, Table: table, Aggregate: model.Count})
	return n, err
}

// part reads the links and counts of some ids.
type part struct {
	*reading
	types, first, end int64
	visible           []int64 // links less the count, by id and type
}

func (p *part) read(ctx context.Context, links, counts engine.Stmt, bounds ...model.Value) error {
	p.visible = make([]int64, (p.end-p.first)*p.types)
	if err := links.Exec(ctx, bounds, &engine.Result{Each: func(row []model.Value) {
		p.links++
		if row[2].Int() == hidden {
			p.hidden++
		} else {
			p.count(row, 1)
		}
	}}); err != nil {
		return err
	}
	if err := counts.Exec(ctx, bounds, &engine.Result{Each: func(row []model.Value) {
		n := row[2].Int()
		p.counts += n
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
			p.example = fmt.Sprintf("node %d, type %d has %+d visible links more than its count", p.first+int64(i)/p.types, firstLinkType+int64(i)%p.types, n)
		}
	}
	return nil
}

func (p *part) count(row []model.Value, n int64) {
	id, linkType := row[0].Int(), row[1].Int()-firstLinkType
	if id < p.first || id >= p.end || linkType < 0 || linkType >= p.types {
		p.outside++
		return
	}
	p.visible[(id-p.first)*p.types+linkType] += n
}

// stretch is a part of a client's lists.
type stretch struct{ lists, links int64 }

func (s *stretch) add(o stretch) {
	s.lists += o.lists
	s.links += o.links
}

func (s *stretch) mean() float64 { return float64(s.links) / float64(s.lists) }

// stretches is how many stretches a client's lists are divided into at most.
const stretches = 96

// lengths are the lengths of a client's lists over its run, in stretches that
// become longer with it.
type lengths struct {
	all  [stretches]stretch
	used int
	each int64 // lists of a stretch
}

func (l *lengths) add(links int64) {
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
	l.all[l.used-1].add(stretch{1, links})
}

// ends returns the first and the last third.
func (l *lengths) ends() (first, last stretch) {
	for _, s := range l.all[:l.used/3] {
		first.add(s)
	}
	for _, s := range l.all[l.used-l.used/3 : l.used] {
		last.add(s)
	}
	return first, last
}
