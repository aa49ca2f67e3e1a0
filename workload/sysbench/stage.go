package sysbench

import (
	"context"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// testStage is a running test. It holds the definition of the test and the state that its
// clients share. It has many fields because every client reads them from here.
type testStage struct {
	*run
	name    string
	test    *test
	level   level
	env     workload.Env
	draw    string // parameter table_draw
	repeats bool   // parameter rw_mode is repeat
	returns bool   // Outcome.Bytes are bytes returned, not written
	blind   bool   // the rows with ids from 1 to the size are known to exist
	timed
	held    []int64         // rows of each table, for a test that needs them
	order   gen.Permutation // the order in which takeOwn takes the rows of a table
	ids     gen.Distribution
	zipf    gen.Distribution
	clients []*client
	start   sums
	counts  []int64 // of all clients, when they have ended
}

// timed are the parts of a transaction that are timed individually.
type timed struct {
	parts      []string
	beginPart  [2]int // by kind of transaction
	commitPart [2]int
}

// sums are the numbers for the checks: rows of all tables, and the sum of k.
type sums struct {
	rows, k int64
	known   bool // rows is known
	knownK  bool
}

func (r *run) openTest(ctx context.Context, name string, t *test, l level,
	env workload.Env) (_ workload.Stage, err error) {
	s := &testStage{
		run: r, name: name, test: t, level: l, env: env, draw: r.p.String("table_draw"),
		repeats: r.p.String("rw_mode") == "repeat",
	}
	s.returns = t.reads()
	s.findParts()
	s.order = gen.NewPermutation(r.size, gen.NewStream(env.Seed, "sysbench", "delete"))
	if s.ids, err = newDistribution(r.p, r.p.String("distribution"), r.size); err != nil {
		return nil, err
	}
	if s.zipf, err = gen.NewZipf(r.size, r.p.Float("zipfian_exp")); err != nil {
		return nil, err
	}
	return s, workload.InSession(ctx, env.DB, func(ctx context.Context, session engine.Session) error {
		if err := s.requireRows(ctx, session); err != nil {
			return err
		}
		if err := s.countHeld(ctx, session); err != nil {
			return err
		}
		return s.readSums(ctx, session)
	})
}

// findParts sets the parts, and which of them begin and end each kind of transaction.
func (s *testStage) findParts() {
	mixes := s.mixes(s.level)
	s.parts = s.test.parts(mixes)
	at := func(name string) int { return slices.Index(s.parts, name) }
	s.beginPart, s.commitPart = [2]int{at(partBegin), at(partBegin)}, [2]int{at(partCommit), at(partCommit)}
	if mixes {
		s.beginPart[0], s.commitPart[0] = at(partBeginReadOnly), at(partCommitReadOnly)
	}
}

// countHeld counts the rows of each table, if the test reports costs per row.
// After tests that insert or delete, engines differ in them.
func (s *testStage) countHeld(ctx context.Context, session engine.Session) error {
	if !s.test.rows {
		return nil
	}
	for n := range s.run.tables {
		rows := s.size
		if p := s.env.Previous; s.env.Results && (p == nil || p.Rows != s.size*int64(s.run.tables)) {
			var err error
			if rows, err = s.ofTable(ctx, session, n, model.Count); err != nil {
				return err
			}
		}
		s.held = append(s.held, rows)
	}
	return nil
}

// requireRows returns an error unless the tables have been loaded.
func (s *testStage) requireRows(ctx context.Context, session engine.Session) error {
	if !s.env.Results {
		return nil
	}
	s.blind = s.p.Bool("load") && s.run.keepsIDs()
	for n := range s.level.tables {
		last, err := lastID(ctx, session, int(n))
		if err != nil {
			return err
		}
		if last == 0 {
			return fmt.Errorf("table %s is empty: the step needs the rows of step load", tableName(int(n)))
		}
		if last < s.size && !s.run.removes() {
			return fmt.Errorf("table %s ends with id %d, but table_size is %d: it was loaded with another size",
				tableName(int(n)), last, s.size)
		}
		s.blind = s.blind && last == s.size // exactly the loaded rows: there are no gaps
	}
	return nil
}

// keepsIDs reports whether no test of the run inserts or deletes rows.
func (d *definitions) keepsIDs() bool {
	return !slices.ContainsFunc(d.p.Strings("tests"), func(entry string) bool {
		t, err := d.newTest(entry)
		return err == nil && slices.ContainsFunc(t.statements(), func(s statement) bool { return s.adds != 0 })
	})
}

// removes reports whether a test of the run deletes rows without reinserting
// them.
func (d *definitions) removes() bool {
	return slices.ContainsFunc(d.p.Strings("tests"), func(entry string) bool {
		t, err := d.newTest(entry)
		return err == nil && t.grows() < 0
	})
}

// lastID returns the greatest id of a table, 0 if it is empty.
func lastID(ctx context.Context, session engine.Session, table int) (int64, error) {
	return workload.GreatestInt(ctx, session, tableName(table), colID)
}

// raisesK reports whether the sum of k shows how many rows were updated: if the
// test only increments it.
func (s *testStage) raisesK() bool {
	return !slices.ContainsFunc(s.test.statements(), func(s statement) bool { return s.raises == 0 })
}

// touchesRows reports whether statements insert or delete rows, even if these cancel out.
func (s *testStage) touchesRows() bool {
	return slices.ContainsFunc(s.test.statements(), func(s statement) bool { return s.adds != 0 })
}

func (s *testStage) readSums(ctx context.Context, session engine.Session) (err error) {
	if p := s.env.Previous; p != nil {
		s.start.rows, s.start.known = p.Rows, true
	}
	divided := s.env.Part.Joins() // then another process finishes the step
	if !s.env.Results || s.p.String("check") == "none" || divided {
		return nil
	}
	if !s.start.known {
		if s.start.rows, err = s.aggregate(ctx, session, model.Count); err != nil {
			return err
		}
		s.start.known = true
	}
	if s.raisesK() {
		s.start.k, err = s.aggregate(ctx, session, model.Sum)
		s.start.knownK = err == nil
	}
	return err
}

func (s *testStage) aggregate(ctx context.Context, session engine.Session,
	subject model.Aggregate) (sum int64, err error) {
	for n := range s.run.tables {
		v, err := s.ofTable(ctx, session, n, subject)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func (s *testStage) ofTable(ctx context.Context, session engine.Session, table int,
	subject model.Aggregate) (int64, error) {
	op := &model.Op{Kind: model.Scan, Table: tableName(table), Aggregate: subject, Free: true}
	if subject == model.Sum {
		op.Columns = []string{colK}
	}
	n, _, err := workload.QueryInt(ctx, session, op)
	return n, err
}

func (s *testStage) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	c := &client{
		stage: s, test: s.test, rows: s.size, tables: s.level.tables, seat: int64(seat.Client),
		random: random{
			ids: s.ids, zipf: s.zipf,
			source: gen.NewSource(gen.NewStream(s.env.Seed, "sysbench", s.name).Sub(uint64(seat.Client))),
		},
	}
	if err := c.setSlice(s.p, s.level.clients); err != nil {
		return nil, err
	}
	if ratio := s.level.ratio; ratio > 1 {
		c.phase = c.source.Uniform(ratio)
	}
	var err error
	if c.blocks, err = c.prepareBlocks(ctx, seat.Session, s.test.blocks); err != nil {
		return nil, err
	}
	if c.writer, err = c.prepareBlocks(ctx, seat.Session, s.test.writer); err != nil {
		return nil, err
	}
	if s.test.transaction {
		if c.Transaction, err = workload.NewTransaction(ctx, seat.Session); err != nil {
			return nil, err
		}
	}
	s.clients = append(s.clients, c)
	return c, nil
}

// setSlice sets the client's slice of the values of k: as in sysbench, from the seat's
// share of the table to that of the next seat, both inclusive.
func (c *client) setSlice(p workload.Params, seats int64) (err error) {
	if !c.test.single {
		return nil
	}
	length := c.rows / seats
	c.first = length * c.seat
	c.slice, err = newDistribution(p, p.String("distribution"), length+1)
	return err
}

// The places of counts: rows added, values added to k, and clients that have not run out of rows.
const (
	countRows = iota
	countK
	countUnended
	countKinds
)

// Counts returns what the clients have changed.
func (s *testStage) Counts() []int64 {
	out := make([]int64, countKinds)
	for _, c := range s.clients {
		out[countRows] += c.tally.rows
		out[countK] += c.tally.k
		if !c.over {
			out[countUnended]++
		}
	}
	return out
}

// Count takes what the clients of all processes have changed.
func (s *testStage) Count(sums []int64) { s.counts = sums }

// Finish checks the sums after the test.
func (s *testStage) Finish(ctx context.Context, _ workload.Totals) (f workload.Finding, err error) {
	if s.counts == nil {
		s.counts = s.Counts()
	}
	changed := tally{rows: s.counts[countRows], k: s.counts[countK]}
	rows := s.start.rows + changed.rows
	f.Live = s.live(max(rows, 0), s.p.Bool("create_secondary"))
	s.noteEnd(&f)
	if !s.env.Results || s.p.String("check") == "none" {
		return f, nil
	}
	if s.start.known && s.touchesRows() {
		got, err := s.compare(ctx, &f, model.Count, rows,
			fmt.Sprintf("the tables hold %%d rows, but %d with %+d by the clients make %d", s.start.rows, changed.rows, rows))
		if err != nil {
			return f, err
		}
		f.Live = s.live(got, s.p.Bool("create_secondary"))
	}
	if s.start.knownK {
		k := s.start.k + changed.k
		_, err = s.compare(ctx, &f, model.Sum, k,
			fmt.Sprintf("the sum of k is %%d, but %d with %d committed updates make %d", s.start.k, changed.k, k))
	}
	return f, err
}

// compare reads an aggregate and compares it; broken has a %d for the actual value.
func (s *testStage) compare(ctx context.Context, f *workload.Finding, subject model.Aggregate, want int64,
	broken string) (got int64, err error) {
	got, err = workload.ReadInSession(ctx, s.env.DB, func(ctx context.Context, session engine.Session) (int64, error) {
		return s.aggregate(ctx, session, subject)
	})
	if err != nil {
		return 0, err
	}
	f.ReadAll = true
	if got != want {
		f.Broken = append(f.Broken, fmt.Sprintf(broken, got))
	}
	return got, nil
}

// noteEnd adds a note if the test has run out of rows.
func (s *testStage) noteEnd(f *workload.Finding) {
	if s.test.own && s.counts[countUnended] == 0 {
		f.Notes = append(f.Notes, "the test ran out of rows to delete before its time was over")
	}
}
