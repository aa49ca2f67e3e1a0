package sysbench

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

func newRun(preset string, given map[string]any) (*run, error) {
	r, err := workload.NewRun(Workload{}, preset, given)
	if err != nil {
		return nil, err
	}
	return r.(*run), nil
}

func mustRun(t *testing.T, preset string, given map[string]any) *run {
	t.Helper()
	r, err := newRun(preset, given)
	expect.NoError(t, err)
	return r
}

func stepNames(r *run) (names []string) {
	for _, s := range r.Steps() {
		names = append(names, s.Name)
	}
	return names
}

// A row is a function of seed, table and number.
func TestRows(t *testing.T) {
	row := func(table int, i int64) string {
		args, _ := appendRow(nil, nil, tableStream(7, table), i, gen.NewUniform(1000))
		var b strings.Builder
		for _, a := range args {
			if a.Type() == model.Int {
				if k := a.Int(); k < 1 || k > 1000 {
					t.Fatalf("k is %d", k)
				}
			}
			b.Write(a.AppendHash(nil))
		}
		if c, pad := args[1].Buf(), args[2].Buf(); len(c) != cBytes || len(pad) != padBytes {
			t.Fatalf("c and pad have %d and %d bytes", len(c), len(pad))
		}
		return b.String()
	}
	if first, again := row(0, 5), row(0, 5); first != again {
		t.Error("a row is not repeatable")
	}
	expect.True(t, row(0, 5) != row(0, 6) && row(0, 5) != row(1, 5), "different rows are equal")
}

// The load draws k from the distribution of the run: a uniform one omits 1/e of
// the values, special-1.0 uses 17 % of them.
func TestDistributionOfK(t *testing.T) {
	const n = 20_000
	for name, want := range map[string]float64{uniform: 1 - 1/math.E, special: 3453.0 / n} {
		r := mustRun(t, "", map[string]any{"distribution": name, "table_size": int64(n)})
		k, err := newDistribution(r.p, name, n)
		expect.NoError(t, err)
		seen := map[int64]bool{}
		for i := range int64(n) {
			args, _ := appendRow(nil, nil, tableStream(1, 0), i, k)
			seen[args[0].Int()] = true
		}
		if got := float64(len(seen)) / n; math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: %.4f of the values occur, want about %.4f", name, got, want)
		}
	}
}

// Events have as many statements as in sysbench.
func TestStatementsPerEvent(t *testing.T) {
	for name, want := range map[string]int{
		"oltp_point_select": 1, "oltp_read_only": 16, "oltp_read_write": 20, "oltp_write_only": 6,
		"oltp_update_index": 1, "oltp_update_non_index": 1, "oltp_insert": 1, "oltp_delete": 1,
	} {
		r := mustRun(t, "", map[string]any{"tests": []string{name}})
		test, err := r.newTest(name)
		expect.NoError(t, err)
		n := 0
		for _, b := range test.blocks {
			for _, u := range b {
				n += int(u.times) * len(u.statements)
			}
		}
		if test.transaction {
			n += 2
		}
		expect.Equal(t, n, want, name, "statements")
	}
}

// Exactly one in ratio transactions of a client writes.
func TestRatio(t *testing.T) {
	r := mustRun(t, "", map[string]any{"tests": []string{"ratio"}, "ratios": []int64{4}})
	test, err := r.newTest("ratio")
	expect.NoError(t, err)
	ids, err := newDistribution(r.p, uniform, r.size)
	expect.NoError(t, err)
	stage := &testStage{run: r, test: test, level: level{1, 1, 4}, ids: ids, draw: drawBlock}
	stage.findParts()
	for phase := range int64(4) {
		c := &client{stage: stage, test: test, rows: r.size, tables: 1, phase: phase}
		c.ids, c.source, c.writer = ids, gen.NewSource(gen.NewStream(1)), []prepared{{}}
		writes := 0
		for range 400 {
			expect.NoError(t, c.Ready(t.Context()))
			writes += c.kind
			c.finish(&workload.Outcome{}, tally{})
		}
		expect.Equal(t, writes, 100, "phase", phase, "of 400 transactions write, want 100")
	}
}

func TestSteps(t *testing.T) {
	r := mustRun(t, "2016", nil)
	expect.Equal(t, len(r.Steps()), 3+13*10,
		"the sequence of 2016 has", "steps, want load, index, settle and 13 × 10")
	s := r.Steps()[3]
	expect.True(t, s.Name == "update-index-trx@1c" && s.Base == "update-index-trx" && len(s.Axes) == 1 && s.Seconds == 300, s)
	r = mustRun(t, "suite", nil)
	befores := 0
	for _, s := range r.Steps() {
		if s.Before != "" {
			befores++
			expect.True(t, s.Before == s.Name+before && slices.Contains(stepNames(r), s.Before),
				"Before of step", s.Name, "is", s.Before)
		}
	}
	expect.Equal(t, befores, 15, "reads are compared with those before the writes, want 15")
	r = mustRun(t, "", map[string]any{"tests": []string{"ratio"}, "tables": []int64{1, 8},
		"ratios": []int64{16, 1}, "clients": []int64{2, 4}, "warmup_seconds": 1.0})
	for _, want := range []string{"ratio@16r.1t.2c", "ratio@1r.8t.4c", "ratio.warmup@16r.1t.2c"} {
		expect.True(t, slices.Contains(stepNames(r), want), "there is no step", want, "in", stepNames(r))
	}
}

func TestRefusals(t *testing.T) {
	for name, given := range map[string]map[string]any{
		"no such test":      {"tests": []string{"oltp_nothing"}},
		"is repeated":       {"tests": []string{"select", "select"}},
		"works on one":      {"tests": []string{"select_random_points"}, "tables": []int64{2}},
		"it is empty":       {"clients": []int64{}},
		"test \"random-poi": {"tests": []string{"random-points-0"}},
		"test \"read-only-": {"tests": []string{"read-only-0100"}},
	} {
		_, err := newRun("", given)
		if name == "no such test" {
			name = "there is no test"
		}
		expect.True(t, err != nil && strings.Contains(err.Error(), name), given, err, "want", name)
	}
}
