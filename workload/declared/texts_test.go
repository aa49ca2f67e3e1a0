package declared

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
	"rumbench/workload/workloadtest"
)

// saved returns the share that zlib saves of a column's values, in blocks of 16 KB.
func saved(t *testing.T, value string, rows int64) float64 {
	t.Helper()
	values, _ := columnValues(small(t, "x: {value: "+value+"}", "", nil), "x", rows)
	var all []byte
	for _, v := range values {
		all = append(all, v.Buf()...)
	}
	const block = 16 << 10
	whole, packed := 0, 0
	for ; len(all) >= block; all = all[block:] {
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		w.Write(all[:block])
		w.Close()
		whole, packed = whole+block, packed+out.Len()
	}
	return 1 - float64(packed)/float64(whole)
}

// A compressor saves the share that was asked for.
func TestCompress(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"bytes", "text"} {
		for _, share := range []float64{0, 0.25, 0.5, 0.75, 0.9} {
			for size, rows := range map[string]int64{
				"100": 2000, "1000": 200, "10000": 20, "{uniform: [1, 1000]}": 400, "{uniform: [10000, 20000]}": 15, "{size: 100, check: true}": 2000, "{size: 5000, check: true}": 40,
			} {
				args := strings.Trim(size, "{}")
				if !strings.HasPrefix(size, "{size") {
					args = "size: " + size
				}
				want := share
				if kind == "text" && share < 0.25 {
					want = 0.25 // a random character holds 6 of 8 bits
				}
				if got := saved(t, fmt.Sprintf("{%s: {%s, compress: %v}}", kind, args, share), rows); math.Abs(got-want) > 0.03 {
					t.Errorf("%s of size %s: of a share %v, %.3f is saved", kind, size, share, got)
				}
			}
		}
	}
}

// Any byte that is flipped is found, in the proof as well.
func TestFlippedByte(t *testing.T) {
	for _, kind := range []string{"bytes", "text"} {
		values, column := columnValues(small(t, "x: {value: {"+kind+": {size: {uniform: [8, 300]}, compress: 0.5, check: true}}}", "", nil), "x", 50)
		expect.Must(t, column.value.proven, "the column has no proofs")
		for _, v := range values {
			text := bytes.Clone(v.Buf())
			expect.Must(t, isProven(text), text, "does not prove itself")
			for i := range text {
				for bit := range 8 {
					text[i] ^= 1 << bit
					expect.Must(t, !isProven(text), v.Buf(), "proves itself with bit", bit, "of byte", i, "flipped")
					text[i] ^= 1 << bit
				}
			}
		}
	}
}

// A read that returns a byte that was flipped breaks the step.
func TestSpoiledText(t *testing.T) {
	const text = `
name: w
tables: {t: {columns: {id: {value: {sequence: [0]}}, x: {value: {text: {size: 50, check: true}}}}}}
operations: {look: [{scan: t}]}
steps: [{load: t, rows: 10}, {run: r, groups: {g: {do: look, operations: 3}}}]
`
	r := newRun(t, readTest(t, "w.yaml", []byte(text)), "", nil).(*run)
	db := openMemory(t, r)
	ctx := context.Background()
	expect.NoError(t, db.CreateTables(ctx))
	session, err := db.Session(ctx)
	expect.NoError(t, err)
	run := func(step int, previous *workload.Live) workload.Finding {
		stage, err := r.steps[step].Open(ctx, workload.Env{DB: db, Seed: 1, Results: true, Previous: previous})
		expect.NoError(t, err)
		c := workloadtest.Alone(t, db, stage, 0)
		for range r.steps[step].Groups[0].Work {
			workloadtest.Once(t, c)
		}
		found, err := stage.Finish(ctx, workload.Totals{{{Ops: r.steps[step].Groups[0].Work}}})
		expect.NoError(t, err)
		return found
	}
	live := run(0, nil).Live
	if found := run(1, &live); len(found.Broken) > 0 {
		t.Fatal(found.Broken)
	}
	cols := r.compiler(1).columns(r.tables[0])
	spoiled := bytes.Clone(cols.list[1].at(&env{src: *gen.NewSource(gen.NewStream(1))}, 4).Buf())
	spoiled[20] ^= 1
	stmt, err := session.Prepare(ctx, &model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "x"}}})
	expect.NoError(t, err)
	expect.NoError(t, stmt.Exec(ctx, []model.Value{model.StringValue(spoiled), model.IntValue(4)}, &engine.Result{}))
	if found := run(1, &live); len(found.Broken) != 1 || !strings.HasPrefix(found.Broken[0], "3 texts") { // in each scan
		t.Errorf("a flipped byte is reported as %v", found.Broken)
	}
}
