package workloadtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// State is the data after a step, and the results of its operations.
type State struct {
	Step    string
	Sums    []string // a line per table and index: rows and checksum
	Answers uint64   // digest of all results of operations
	Ops     int64
	Found   []Found
	Notes   []string
	// Bare are the sums of tables whose rows the engine numbers, without these numbers.
	Bare []string
}

// Found is the number of rows that operations of a kind should find, and did find.
type Found struct {
	Kind            string
	Finds           workload.Finds
	Expected, Found int64
}

// CheckFound fails the test if operations have not found the rows that they should find,
// allowing for chance.
func CheckFound(t *testing.T, subject string, states []State) {
	t.Helper()
	for _, s := range states {
		for _, f := range s.Found {
			allowed := float64(f.Expected) / 100
			if f.Finds == workload.FindsOnAverage {
				allowed += 5 * math.Sqrt(float64(f.Expected))
			}
			if f.Expected > 0 && math.Abs(float64(f.Expected-f.Found)) > allowed {
				t.Errorf("%s: step %s: %s: found %d of %d rows", subject, s.Step, f.Kind, f.Found, f.Expected)
			}
		}
	}
}

func (s *State) equal(o *State) bool {
	return s.Step == o.Step && s.Answers == o.Answers && slices.Equal(s.Sums, o.Sums)
}

// Compare fails the test if two lockstep runs differ.
func Compare(t *testing.T, subject string, want, got []State) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: %d steps, want %d", subject, len(got), len(want))
	}
	for i := range want {
		failIf(t, !want[i].equal(&got[i]), "%s: after step %s\n got %+v\nwant %+v", subject, want[i].Step, got[i], want[i])
	}
}

// Lockstep runs all steps in one goroutine, with clients taking turns in a fixed
// order, so that every engine gets the same operations in the same order. It
// checks the invariants of every step and returns the state after each.
func Lockstep(t *testing.T, r workload.Run, db engine.DB, seed uint64) []State {
	t.Helper()
	return lockstep(t, []workload.Run{r}, db, seed)
}

// lockstep is Lockstep with a run for each of several processes: the first opens and finishes all steps, and
// the others divide the clients of those that they can.
func lockstep(t *testing.T, runs []workload.Run, db engine.DB, seed uint64) []State {
	t.Helper()
	schema := runs[0].Schema()
	var out []State
	var previous *workload.Live
	steps := runs[0].Steps()
	for i := range steps {
		answers := &digest{}
		parts := []*workload.Step{&steps[i]}
		if steps[i].Divides {
			for _, r := range runs[1:] {
				hand(t, runs[0], r)
				parts = append(parts, &r.Steps()[i])
			}
		}
		found, totals := runParts(t, parts,
			workload.Env{DB: digestDB{db, answers}, Seed: seed, Results: true, Previous: previous})
		if steps[i].Settle == nil {
			previous = &found.Live
		}
		st := State{Step: steps[i].Name, Answers: answers.sum, Ops: answers.n, Found: foundOf(&steps[i], totals),
			Notes: found.Notes}
		for k := range schema.Tables {
			st.Sums = append(st.Sums, TableSums(t, db, &schema.Tables[k])...)
			st.Bare = append(st.Bare, bareSum(t, db, &schema.Tables[k]))
		}
		out = append(out, st)
	}
	return out
}

func foundOf(step *workload.Step, totals workload.Totals) (out []Found) {
	for g := range totals {
		for k, total := range totals[g] {
			if kind := step.Groups[g].Ops[k]; kind.Finds != workload.FindsNothing && total.Ops > 0 {
				out = append(out, Found{kind.Name, kind.Finds, total.Expected, total.Found})
			}
		}
	}
	return out
}

// timeBoundWork is the number of operations of a client in steps limited by
// time.
const timeBoundWork = 10

// runStep runs a step in one goroutine.
func runStep(t *testing.T, step *workload.Step, db engine.DB, seed uint64, previous *workload.Live) (workload.Finding,
	workload.Totals) {
	t.Helper()
	return runParts(t, []*workload.Step{step},
		workload.Env{DB: db, Seed: seed, Results: true, Previous: previous})
}

// runParts runs a step, as each of several processes has it, in an environment: the first has no clients
// then.
func runParts(t *testing.T, parts []*workload.Step, env workload.Env) (workload.Finding, workload.Totals) {
	t.Helper()
	r := begin(t, parts, env)
	step := r.step
	waits := 0 // turns without one of a leading client
	for more := true; more; {
		more = false
		for _, u := range r.turns {
			if w, ok := u.client.(workload.Waiter); ok && w.Waits() {
				waits++
			} else if r.must(u.take(context.Background())); u.leads {
				waits = 0
			}
			more = more || u.left > 0
		}
		if waits > 1000*len(r.turns) {
			t.Fatalf("step %s: clients wait for each other", step.Name)
		}
	}
	return r.finish()
}

// running is a step in progress.
type running struct {
	t        *testing.T
	step     *workload.Step
	db       engine.DB
	stages   []workload.Stage // of the processes; none in a settle step
	turns    []*turn
	closeAll func()
}

func (r *running) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("step %s: %v", r.step.Name, err)
	}
}

// begin opens a step and its clients.
func begin(t *testing.T, parts []*workload.Step, env workload.Env) *running {
	t.Helper()
	ctx, db, step := context.Background(), env.DB, parts[0]
	r := &running{t: t, step: step, db: db, closeAll: func() {}}
	if step.Settle != nil {
		return r
	}
	if step.Creates {
		r.must(db.CreateTables(ctx))
	}
	all := make([][]workload.Client, len(step.Groups))
	for i, part := range parts {
		env := env
		if i > 0 {
			env.Part = workload.Part{Index: i - 1, Of: len(parts) - 1}
		}
		stage, err := part.Open(ctx, env)
		r.must(err)
		r.stages = append(r.stages, stage)
		if i == 0 && len(parts) > 1 {
			continue
		}
		share := workload.Part{Index: i - 1, Of: len(parts) - 1}
		clients, closePart, err := workload.Seats(ctx, part, stage, share, db.Session)
		closeOthers := r.closeAll
		r.closeAll = func() { closePart(); closeOthers() }
		r.must(err)
		for g := range all {
			all[g] = append(all[g], make([]workload.Client, len(clients[g])-len(all[g]))...)
			for seat, client := range clients[g] {
				if client != nil {
					all[g][seat] = client
				}
			}
		}
	}
	for g := range step.Groups {
		group := &step.Groups[g]
		for _, client := range all[g] {
			u := &turn{number: g, group: group, client: client, left: group.Work, totals: make([]workload.Total, len(group.Ops))}
			if step.Seconds > 0 {
				u.left = timeBoundWork
			}
			u.leads = u.left > 0
			r.turns = append(r.turns, u)
		}
	}
	if d, is := db.(digestDB); is {
		*d.d = digest{} // each process opens the step: only operations are compared
	}
	return r
}

// finish completes the clients' work and checks the step.
func (r *running) finish() (workload.Finding, workload.Totals) {
	r.t.Helper()
	ctx := context.Background()
	if len(r.stages) == 0 {
		_, err := r.db.Settle(ctx)
		r.must(err)
		return workload.Finding{}, nil
	}
	defer r.closeAll()
	totals := make(workload.Totals, len(r.step.Groups))
	for g := range totals {
		totals[g] = make([]workload.Total, len(r.step.Groups[g].Ops))
	}
	for _, u := range r.turns {
		if f, ok := u.client.(workload.Finisher); ok {
			r.must(f.Finish(ctx))
		}
		for k := range u.totals {
			totals[u.number][k].Ops += u.totals[k].Ops
			totals[u.number][k].Work.Add(&u.totals[k].Work)
		}
	}
	r.count()
	found, err := r.stages[0].Finish(ctx, totals)
	r.must(err)
	for _, b := range found.Broken {
		r.t.Errorf("step %s: %s", r.step.Name, b)
	}
	return found, totals
}

// count gives the first stage the counts of all.
func (r *running) count() {
	counting, ok := r.stages[0].(workload.Counting)
	if !ok || len(r.stages) == 1 {
		return
	}
	sums := counting.Counts()
	for _, otherStage := range r.stages[1:] {
		for i, n := range otherStage.(workload.Counting).Counts() {
			sums[i] += n
		}
	}
	counting.Count(sums)
}

// turn is a client that takes turns.
type turn struct {
	number int // of the group
	group  *workload.Group
	client workload.Client
	leads  bool
	left   int64 // remaining operations of a leading client; others follow
	totals []workload.Total
}

// take does one operation, if there is one left.
func (u *turn) take(ctx context.Context) error { return u.takeUntil(ctx, ctx) }

// takeUntil waits for other clients no longer than until the end of a context.
func (u *turn) takeUntil(ctx, opened context.Context) error {
	if u.leads && u.left == 0 {
		return nil
	}
	if r, ok := u.client.(workload.Readier); ok {
		if err := r.Ready(opened); err != nil {
			return err
		}
	}
	var out workload.Outcome
	err := u.client.Do(ctx, &out)
	if errors.Is(err, workload.ErrDone) {
		u.leads, u.left = true, 0
		return nil
	}
	if err != nil {
		return err
	}
	k := &u.totals[out.Kind]
	k.Ops++
	k.Work.Add(&out.Work)
	if u.leads && !u.group.Ops[out.Kind].Upkeep {
		u.left--
	}
	return nil
}

// TableSums returns the number of rows of a table and their checksum, by primary key and by all
// existing indexes.
func TableSums(t *testing.T, db engine.DB, table *model.Table) []string {
	t.Helper()
	ctx := context.Background()
	session, err := db.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var out []string
	indexes := []string{""}
	for _, ix := range table.Indexes {
		indexes = append(indexes, ix.Name)
	}
	for _, index := range indexes {
		stmt, err := session.Prepare(ctx,
			&model.Op{Kind: model.Scan, Table: table.Name, Index: index, Columns: table.ColumnNames()})
		if err != nil {
			out = append(out, table.Name+"."+index+": missing")
			continue
		}
		rows, sum, err := checksum(ctx, stmt, table, index)
		if err != nil {
			t.Fatalf("%s by %q: %v", table.Name, index, err)
		}
		out = append(out, fmt.Sprintf("%s.%s: %d rows, %016x", table.Name, index, rows, sum))
	}
	return out
}

// bareSum is the sum of a table without the columns that the engine numbers.
func bareSum(t *testing.T, db engine.DB, table *model.Table) string {
	t.Helper()
	op := &model.Op{Kind: model.Scan, Table: table.Name}
	for _, c := range table.Columns {
		if !c.Auto {
			op.Columns = append(op.Columns, c.Name)
		}
	}
	read := func(ctx context.Context, session engine.Session) (sum uint64, err error) {
		stmt, err := session.Prepare(ctx, op)
		if err != nil {
			return 0, err
		}
		var buf []byte
		return sum, stmt.Exec(ctx, nil, &engine.Result{Each: func(row []model.Value) {
			var h uint64
			h, buf = hashRow(buf, row)
			sum += h
		}})
	}
	sum, err := workload.ReadInSession(t.Context(), db, read)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s: %016x", table.Name, sum)
}
