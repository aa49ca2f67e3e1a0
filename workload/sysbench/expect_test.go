package sysbench

import (
	"fmt"
	"testing"

	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

func TestCovered(t *testing.T) {
	for _, c := range []struct {
		spans []span
		want  int64
	}{
		{nil, 0},
		{[]span{{1, 1}}, 1},
		{[]span{{5, 14}}, 10},
		{[]span{{7, 7}, {3, 3}, {7, 7}}, 2},
		{[]span{{10, 19}, {1, 5}}, 15},
		{[]span{{10, 19}, {15, 24}, {1, 30}}, 30},
		{[]span{{1, 5}, {2, 3}, {5, 6}}, 6},
	} {
		expect.Equal(t, covered(c.spans), c.want, c.spans, "cover")
	}
}

// A statement should find the rows of distinct keys, and of ranges within the
// table.
func TestExpect(t *testing.T) {
	const size = 1000
	ints := func(n ...int64) (out []model.Value) {
		for _, x := range n {
			out = append(out, model.IntValue(x))
		}
		return out
	}
	simple, ranges := simpleRange(100), randomRanges(2, 5)
	sum, points, list, update := sumRange(100), randomPoints(3), get("points", 3, nil, colC), updateC(2, nil)
	for _, c := range []struct {
		distribution string
		s            *statement
		args         []model.Value
		want         int64
	}{
		{uniform, &pointSelect, ints(1000), 1},
		{uniform, &pointSelect, ints(1001), 0},
		{uniform, &list, ints(7, 3, 7), 2},
		{uniform, &update, ints(99, 7, 8), 2},
		{uniform, &update, ints(99, 7, 7), 1},
		{uniform, &simple, ints(1, 100), 100},
		{uniform, &simple, ints(991, 1090), 10},
		{uniform, &sum, ints(991, 1090), 1},
		{uniform, &points, ints(0, 5, 9), 2},
		{uniform, &ranges, ints(0, 5, 4, 9), 9},
		{zipfian, &list, ints(7, 3, 7), 2},
		{zipfian, &points, ints(1, 5, 9), 0}, // frequent values have more rows
		{uniform, &appendNew, ints(1, 2, 3), 0},
		{uniform, &scanAll, ints(0), 0},
	} {
		r := mustRun(t, "", map[string]any{"distribution": c.distribution, "table_size": int64(size)})
		client := &client{rows: size, stage: &testStage{run: r, env: workload.Env{Results: true}}}
		expect.Equal(t, client.expect(c.s, c.args), c.want, c.distribution, c.s.name, c.args)
		client.stage.env.Results = false
		expect.Equal(t, client.expect(c.s, c.args), 0, c.s.name, c.args, "on an engine that stores nothing")
	}
}

// Every test that reads, updates or deletes knows how many rows it finds, except
// for a scan that returns nothing.
func TestFinds(t *testing.T) {
	r := mustRun(t, "", nil)
	for _, listed := range tests {
		name := listed.name
		if n := len(name) - 1; name[n] == 'N' {
			name = name[:n] + "10"
		}
		test, err := r.newTest(name)
		expect.NoError(t, err)
		looks := name != "scan" && name != "insert" && name != "oltp_insert"
		for _, k := range r.kinds(test, level{tables: 1, clients: 1}) {
			expect.Equal(t, (k.Finds != workload.FindsNothing), looks, name, k.Name, "finds", k.Finds)
		}
	}
}

// expect allocates nothing.
func TestExpectAllocatesNothing(t *testing.T) {
	r := mustRun(t, "", map[string]any{"table_size": int64(1000)})
	c := &client{rows: 1000, stage: &testStage{run: r, env: workload.Env{Results: true}}}
	s := get("points", listed, nil, colC)
	source := gen.NewSource(gen.NewStream(1, "test"))
	args := make([]model.Value, listed)
	draw := func() {
		for i := range args {
			args[i] = model.IntValue(1 + source.Uniform(1000))
		}
		if n := c.expect(&s, args); n < listed/2 || n > listed {
			panic(fmt.Sprint(n))
		}
	}
	draw()
	if n := testing.AllocsPerRun(100, draw); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
