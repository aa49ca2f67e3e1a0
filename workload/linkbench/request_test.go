package linkbench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/engine/null"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
	"rumbench/workload/workloadtest"
)

// opened is a small loaded database with a client on it.
type opened struct {
	t     *testing.T
	db    engine.DB
	stage *requestStage
	*client
}

func open(t *testing.T, given map[string]any) *opened {
	t.Helper()
	ctx := context.Background()
	params := map[string]any{"maxid": int64(50), "load_clients": int64(1), "check": "each"}
	maps.Copy(params, given)
	r := newRun(t, params)
	db := workloadtest.Open(t, memory.Engine{}, r.Schema())
	expect.NoError(t, db.CreateTables(ctx))
	load := r.load()
	stage, err := load.Open(ctx, workload.Env{DB: db, Seed: 1, Results: true})
	expect.NoError(t, err)
	clients, closeAll, err := workload.Seats(ctx, &load, stage, workload.Part{}, db.Session)
	expect.NoError(t, err)
	defer closeAll()
	for _, group := range clients {
		for _, c := range group {
			for err = nil; err == nil; {
				expect.NoError(t, c.(workload.Readier).Ready(ctx))
				err = c.Do(ctx, &workload.Outcome{})
			}
			expect.Must(t, err == workload.ErrDone, err)
			expect.NoError(t, c.(workload.Finisher).Finish(ctx))
		}
	}
	found, err := stage.Finish(ctx, nil)
	expect.NoError(t, err)
	expect.Must(t, len(found.Broken) == 0, found.Broken)
	expect.NoError(t, db.CreateIndexes(ctx, linkTable, linkIndex))
	requests, err := r.openRequests(ctx, "test", 1, workload.Env{DB: db, Seed: 1, Results: true}, true)
	expect.NoError(t, err)
	return &opened{t, db, requests.(*requestStage), workloadtest.Alone(t, db, requests, 0).(*client)}
}

// do performs one request.
func (o *opened) do(r request) workload.Outcome {
	o.t.Helper()
	o.clock++
	o.request = r
	o.request.linkType += firstLinkType
	var out workload.Outcome
	expect.NoError(o.t, o.Do(context.Background(), &out))
	return out
}

// dump returns the links by key, and the counts.
func (o *opened) dump() map[string]string {
	o.t.Helper()
	out := map[string]string{}
	scan := func(op model.Op, each func(row []model.Value)) {
		op.Kind = model.Scan
		stmt, err := o.session.Prepare(context.Background(), &op)
		if err == nil {
			err = stmt.Exec(context.Background(), nil, &engine.Result{Each: each})
		}
		expect.NoError(o.t, err)
	}
	scan(model.Op{Table: linkTable, Columns: linkColumns}, func(row []model.Value) {
		out[fmt.Sprint(row[1], row[0], row[2])] = fmt.Sprint(row[3], row[4], row[5])
	})
	scan(model.Op{Table: countTable, Columns: countColumns}, func(row []model.Value) { out[fmt.Sprint("count ", row[0], row[1])] = row[2].String() })
	return out
}

// reference is what link writes should do, on maps.
type reference struct {
	links map[[3]int64]string // visibility, data, time
	count map[[2]int64]int64
}

func (m *reference) do(r request, now int64) {
	link, list := [3]int64{r.node, r.linkType, r.targets[0]}, [2]int64{r.node, r.linkType}
	old, there := m.links[link]
	shown := there && old[0] == '1'
	switch {
	case r.kind == deleteLink && shown:
		m.links[link] = "0" + old[1:]
		m.count[list]--
	case r.kind != deleteLink:
		m.links[link] = fmt.Sprint(model.IntValue(visible), model.BytesValue(r.data), model.IntValue(now))
		if !shown {
			m.count[list]++
		}
	}
}

func (m *reference) dump() map[string]string {
	out := map[string]string{}
	for k, v := range m.links {
		out[fmt.Sprint(model.IntValue(k[0]), model.IntValue(k[1]+firstLinkType), model.IntValue(k[2]))] = v
	}
	for k, n := range m.count {
		out[fmt.Sprint("count ", model.IntValue(k[0]), model.IntValue(k[1]+firstLinkType))] = fmt.Sprint(n)
	}
	return out
}

// Link writes do in both dialects, and without transactions, what they should:
// adding twice, hiding, hiding again, showing by an add or an update, updating
// what does not exist. Data are arbitrary bytes.
func TestLinkWrites(t *testing.T) {
	for _, given := range []map[string]any{{}, {"dialect": dialect2013}, {"atomic": false}} {
		o := open(t, given)
		m := reference{links: map[[3]int64]string{}, count: map[[2]int64]int64{}}
		loaded := o.dump()
		s := gen.NewSource(gen.NewStream(9))
		for i := range 3000 {
			r := request{kind: []kind{addLink, deleteLink, updateLink}[s.Uniform(3)], node: 1000 + s.Uniform(3), linkType: s.Uniform(2), targets: []int64{s.Uniform(4)}}
			if i%2 == 0 {
				r.data = []byte{byte(i), 0, '\'', '\\', 255}
			} else {
				r.data = []byte{}
			}
			o.do(r)
			m.do(r, o.clock)
		}
		got, want := o.dump(), m.dump()
		maps.Copy(want, loaded)
		expect.True(t, maps.Equal(got, want), given, "got", got, "want", want)
		if n := o.tally.addToUpd + o.tally.updToAdd; (n == 0) != (given["dialect"] == dialect2013) {
			t.Errorf("%v: %d writes became the other one", given, n)
		}
	}
}

// Lists are read newest first and without hidden links, multigets with them, and a
// list that is longer than a page continues where it ended.
func TestReads(t *testing.T) {
	o := open(t, map[string]any{"list_limit": int64(10)})
	const node, n = 77, 25
	link := func(k kind, target int64) { o.do(request{kind: k, node: node, targets: []int64{target}}) }
	for target := range int64(n) {
		link(addLink, target)
	}
	link(deleteLink, 3)
	list := func(want int64, source *place) {
		t.Helper()
		o.do(request{kind: listLinks, node: node, resume: source})
		expect.Equal(t, o.result.Rows, want, "a list of", "links")
	}
	list(10, nil)
	expect.Must(t, len(o.history.places) == 1, len(o.history.places), "lists to continue")
	list(10, &o.history.places[0]) // the last link of the page before is read again
	list(6, &o.history.places[0])
	expect.Equal(t, len(o.history.places), 0, "a list continues after its end")
	o.do(request{kind: multigetLink, node: node, targets: []int64{3, 4, 1000}})
	expect.Equal(t, o.result.Rows, 2, "a multiget found", "links, want 2")
	o.do(request{kind: countLinks, node: node})
	expect.True(t, o.tally.wrong <= 0, o.tally.firstWrong)
}

// The check of a step sees a count that is not that of its links, a link that is in
// the table but was not counted, and a lost node.
func TestFinish(t *testing.T) {
	for name, c := range map[string]struct {
		op   model.Op
		args []model.Value
		want int
	}{
		"nothing": {op: model.Op{Kind: model.Delete, Table: nodeTable}, args: []model.Value{model.IntValue(99_999)}},
		"node":    {op: model.Op{Kind: model.Delete, Table: nodeTable}, args: []model.Value{model.IntValue(7)}, want: 1},
		"count": {
			op:   model.Op{Kind: model.Insert, Table: countTable, Columns: countColumns, Rows: 1, OnConflict: model.Add, AddColumns: []string{colCount}},
			args: []model.Value{model.IntValue(5), model.IntValue(firstLinkType), model.IntValue(1), model.IntValue(0), model.IntValue(0)}, want: 2,
		},
		"link": {
			op: model.Op{Kind: model.Insert, Table: linkTable, Columns: linkColumns, Rows: 1},
			args: []model.Value{
				model.IntValue(firstLinkType), model.IntValue(5), model.IntValue(6), model.IntValue(visible), model.BytesValue([]byte{}), model.IntValue(1), model.IntValue(0),
			}, want: 2,
		},
		"target": {
			op: model.Op{Kind: model.Insert, Table: linkTable, Columns: linkColumns, Rows: 1},
			args: []model.Value{
				model.IntValue(firstLinkType), model.IntValue(5), model.IntValue(-7), model.IntValue(hidden), model.BytesValue([]byte{}), model.IntValue(1), model.IntValue(0),
			}, want: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := open(t, nil)
			stmt, err := o.session.Prepare(context.Background(), &c.op)
			expect.NoError(t, err)
			expect.NoError(t, stmt.Exec(context.Background(), c.args, &engine.Result{}))
			f, err := o.stage.Finish(context.Background(), nil)
			expect.True(t, err == nil && len(f.Broken) == c.want, err, "broken", f.Broken)
		})
	}
}

// Lists that become longer during a step are said to do so.
func TestLengthsDrift(t *testing.T) {
	var l lengths
	for i := range int64(100_000) {
		l.add(5, 5+i/1000)
	}
	first, last := l.ends()
	near(t, "first third", first.growth(), 16.5, 2)
	near(t, "last third", last.growth(), 83, 2)
	near(t, "lists of a third", float64(first.lists), 33_333, 2000)
}

// A client allocates nothing once it has met all lengths of lists and data.
func TestAllocations(t *testing.T) {
	ctx := context.Background()
	for _, dialect := range []string{dialect2013, dialect2020} {
		r := newRun(t, map[string]any{"maxid": int64(10_000), "dialect": dialect})
		db := workloadtest.Open(t, null.Engine{}, r.Schema())
		stage, err := r.openRequests(ctx, "test", 1, workload.Env{DB: db, Seed: 1}, false)
		expect.NoError(t, err)
		c := workloadtest.Alone(t, db, stage, 0).(*client)
		c.data = make([]byte, 0, nodeWidth)
		for n := range mostGets {
			if _, err := c.getOf(ctx, n+1); err != nil {
				t.Fatal(err)
			}
		}
		c.args, c.targets = make([]model.Value, 0, 3*mostGets), make([]int64, 0, mostGets)
		var out workload.Outcome
		if n := testing.AllocsPerRun(20_000, func() {
			out = workload.Outcome{}
			expect.NoError(t, cmp.Or(c.Ready(ctx), c.Do(ctx, &out)))
		}); n > 0 {
			t.Errorf("dialect %s: %v allocations per request", dialect, n)
		}
	}
}

// A step that is run again draws other requests, at a later time. Tables of another
// size or seed are refused.
func TestRunAgain(t *testing.T) {
	ctx := context.Background()
	o := open(t, nil)
	again, err := o.stage.openRequests(ctx, "test", 1, o.stage.env, true)
	expect.NoError(t, err)
	made, err := again.Client(ctx, workload.Seat{Session: o.session})
	expect.NoError(t, err)
	c, same := made.(*client), 0
	const draws = 1000
	for range draws {
		o.draw()
		c.draw()
		if c.kind == o.kind && c.node == o.node {
			same++
		}
		expect.Must(t, c.clock > o.clock, "the clock goes back")
	}
	expect.True(t, same <= draws/5, same, "of", draws, "requests are those of the first run")
	for name, c := range map[string]struct {
		maxid int64
		seed  uint64
		want  string
	}{"same": {50, 1, ""}, "maxid": {60, 1, "maxid is 60"}, "seed": {50, 2, "it is a different graph"}} {
		r := newRun(t, map[string]any{"maxid": c.maxid, "load": false})
		_, err := r.openRequests(ctx, "test", 1, workload.Env{DB: o.db, Seed: c.seed, Results: true}, true)
		expect.True(t, (err == nil) == (c.want == "") && (err == nil || strings.Contains(err.Error(), c.want)),
			name, err)
	}
}

// fewNodes is the workload with a profile that needs many nodes, on few of them: the
// first one has as many links as fit.
type fewNodes struct {
	Workload
	profile string
}

func (w fewNodes) New(p workload.Params) (workload.Run, error) {
	made, err := w.Workload.New(p)
	if err != nil {
		return nil, err
	}
	r, few := made.(*run), *profiles[w.profile]
	few.stepped = false
	r.profile, r.steps = &few, nil
	r.links, r.lists = r.count()
	r.build()
	return r, nil
}

// The old profiles pass the suite of workloads, too, and their invariants hold with
// clients that run at the same time.
func TestOldProfiles(t *testing.T) {
	for profile, dialect := range map[string]string{profile2011: dialect2013, profile2017: dialect2020} {
		t.Run(profile, func(t *testing.T) {
			w := fewNodes{profile: profile}
			small := map[string]any{
				"maxid": int64(200), "dialect": dialect, "clients": []int64{1, 3}, "transactions": int64(300), "load_clients": int64(2), "list_limit": int64(20),
				"settle_floor": time.Duration(0), "check": "each",
			}
			open := func(t *testing.T, schema model.Schema) engine.DB {
				return workloadtest.Open(t, memory.Engine{}, schema)
			}
			workloadtest.Run(t, workloadtest.Suite{Workload: w, Small: small, Open: open})
			r, err := workload.NewRun(w, "", small)
			expect.NoError(t, err)
			workloadtest.Concurrent(t, r, open(t, r.Schema()), 42)
		})
	}
}
