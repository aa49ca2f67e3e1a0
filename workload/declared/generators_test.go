package declared

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/model"
)

// small reads a workload of one table and some operations.
func small(t *testing.T, columns, operations string, params map[string]any) *run {
	t.Helper()
	text := "name: small\nparams: {rows: {default: 100}, again: {default: 0}}\ntables:\n  t: {columns: {id: {value: {sequence: [1]}}, " + columns + "}}\n  other: {columns: {id: {value: row}}}\n" +
		"steps: [{load: t, rows: rows}, {load: t, name: again, rows: again, clear: true}]\n"
	if operations != "" {
		text += "operations:\n" + operations
	}
	return newRun(t, readTest(t, "small.yaml", []byte(text)), "", params).(*run)
}

// column returns the values of a column in the first rows.
func columnValues(r *run, name string, rows int64) (out []model.Value, subject column) {
	cols := r.compiler(1).columns(r.tables[0])
	var e env
	for row := range rows {
		for i := range cols.list {
			if cols.list[i].def.name == name {
				subject = cols.list[i]
				out = append(out, subject.at(&e, row))
			}
		}
	}
	return out, subject
}

// Values stay within what is known of them.
func TestGreatestValues(t *testing.T) {
	for _, c := range []struct {
		value string
		limit int64 // of a number, or of a text's bytes; 0: unknown
	}{
		{"{uniform: [1, 50]}", 50}, {"{uniform: [{uniform: [1, 90]}, 50]}", 90}, {"{uniform: [row, 50]}", 0}, {"{uniform: [1, row]}", 0},
		{"{choice: {3: 1, 70: 1, 5: 2}}", 70}, {"{choice: {a: 1, four: 1}}", 4}, {"{fnv: {uniform: [1, 5]}}", 0}, {"{permute: {of: {uniform: [1, 500]}, over: 7}}", 0},
		{"{sizes: {min: 3, max: 40}}", 40}, {"{decimal: {of: row, prefix: {const: abc}}}", 23}, {"{text: {uniform: [1, 30]}}", 30},
		{"{text: {choice: {10: 50, 20: 50}}}", 20}, {"{text: rows / 3.0}", 33}, {"{json: {a: {text: 5}, b: {const: b}}}", 21},
	} {
		r := small(t, "x: {max: 500, value: "+c.value+"}", "", nil)
		values, column := columnValues(r, "x", 500)
		expect.True(t, (c.limit <= 0 || column.value.limit == c.limit) && (c.limit != 0 || isText(column.value.typ) || column.value.limit == 0), c.value, column.value.limit, c.limit)
		for row, v := range values {
			n := int64(len(v.Buf()))
			if v.Type() == model.Int {
				n = v.Int()
			}
			if limit := column.value.limit; limit > 0 && n > limit {
				t.Fatalf("%s: row %d has %d, and %d is said to be the greatest", c.value, row, n, limit)
			}
		}
	}
}

func isText(t model.Type) bool { return t.IsText() }

// A number of a fraction makes fractions, wherever it stands; 1e3 is a whole number.
func TestUniformFractions(t *testing.T) {
	for value, want := range map[string]model.Type{
		"{uniform: [0.5, 3]}": model.Float, "{uniform: [0, 2.5]}": model.Float, "{uniform: [0, 1.0]}": model.Float, "{uniform: [1, 1e3]}": model.Int, "{uniform: [1, 9]}": model.Int,
	} {
		values, column := columnValues(small(t, "x: {value: "+value+"}", "", nil), "x", 1000)
		expect.Equal(t, column.value.typ, want, value, "makes values of type")
		for _, v := range values {
			expect.Must(t, (want != model.Float || v.Float() >= 0 && v.Float() <= 3) && (value != "{uniform: [0.5, 3]}" || v.Float() >= 0.5), value, v)
		}
	}
}

// So does a parameter of fractions, whatever its value is.
func TestUniformParameters(t *testing.T) {
	text := "name: w\nparams: {low: {type: float, default: 0.5}, high: {type: float, default: 2}, most: {default: 9}}\n" +
		"tables:\n  t: {columns: {id: {value: row}, x: {value: {uniform: [low, high]}}, y: {value: {uniform: [0, most]}}}}\nsteps: [{load: t, rows: 10}]\n"
	r := newRun(t, readTest(t, "w.yaml", []byte(text)), "", nil).(*run)
	values, _ := columnValues(r, "x", 1000)
	for _, v := range values {
		expect.Must(t, v.Type() == model.Float && v.Float() >= 0.5 && v.Float() <= 2, "a number of 0.5 to 2 is", v)
	}
	if values, _ := columnValues(r, "y", 1); values[0].Type() != model.Int {
		t.Errorf("a number of 0 to 9 is %v", values[0])
	}
}

// A column that is always the same can be computed with, as others.
func TestColumnsOfColumns(t *testing.T) {
	values, _ := columnValues(small(t, "a: {value: 5}, b: {value: a * 2 + id}, c: {value: b - row}, s: {value: {const: x}}, d: {value: s}", "", nil), "c", 10)
	for _, v := range values {
		expect.Equal(t, v.Int(), 11, v, "want 11")
	}
}

// A permutation is a bijection of each round, of negative numbers too.
func TestPermute(t *testing.T) {
	values, _ := columnValues(small(t, "x: {value: {permute: {of: row - 50, over: 25}}}", "", nil), "x", 100)
	seen := map[int64]bool{}
	for row, v := range values {
		round := (int64(row) - 50 + 100) / 25
		expect.Must(t, !seen[v.Int()] && (v.Int()+100)/25 == round, "row", row, "has", v)
		seen[v.Int()] = true
	}
}

// Deleted rows are drawn again in the same range, so ranges keep their shares; if a range
// has no rows left, the others take its share.
func TestHotRangesKeepTheirShares(t *testing.T) {
	const rows, ranges, draws = 10_000, 10, 20_000
	c := clientOf(t, "zippydb", "requests", map[string]any{"rows": int64(rows), "ranges": int64(ranges)})
	i := slices.IndexFunc(c.ops, func(o *operation) bool { return o.name == "get" })
	table, row := c.tables[0], c.ops[i].statements[0].row
	shares := func() (out [ranges]float64) {
		for range draws {
			at := row.num(&c.env)
			expect.Must(t, !table.isDead(at), "row", at, "was deleted")
			out[at*ranges/rows] += 1. / draws
		}
		return out
	}
	before := shares()
	hottest := int64(slices.Index(before[:], slices.Max(before[:])))
	for at := hottest * rows / ranges; at < (hottest+1)*rows/ranges; at++ {
		table.dead.set(at, at%10 != 0)
	}
	for at, share := range shares() {
		expect.True(t, math.Abs(share-before[at]) <= 0.02, at, before[at], share)
	}
	for at := hottest * rows / ranges; at < (hottest+1)*rows/ranges; at++ {
		table.dead.set(at, true)
	}
	after := shares()
	for at, share := range after {
		if want := before[at] / (1 - before[hottest]); int64(at) != hottest && math.Abs(share-want) > 0.03 {
			t.Errorf("range %d has a share of %.3f beside an empty one, want %.3f", at, share, want)
		}
	}
}

// A prefix stands once before the digits, also where it is computed.
func TestPrefix(t *testing.T) {
	values, _ := columnValues(small(t, "p: {value: {text: 5}}, x: {value: {decimal: {of: row, prefix: p, digits: 3}}}, y: {value: {decimal: {prefix: {decimal: {prefix: {const: a}}}}}}", "", nil), "x", 20)
	texts, _ := columnValues(small(t, "p: {value: {text: 5}}", "", nil), "p", 20)
	for row, v := range values {
		if got, want := string(v.Buf()), fmt.Sprintf("%s%03d", texts[row].Buf(), row); got != want {
			t.Errorf("row %d has %q, want %q", row, got, want)
		}
	}
}

// Objects are JSON, whatever their fields and texts are.
func TestJSON(t *testing.T) {
	const value = `{json: {'a "field"': {const: "quoted \" and \\ and \n"}, inner: {json: {list: {const: '["]'}, n: row}}, name: {choice: {"ä\tb": 1}}, f: {normal: [0, 1]}, t: {text: 9}, d: {decimal: {prefix: {const: '"'}}}}}`
	values, column := columnValues(small(t, "x: {value: "+value+"}", "", nil), "x", 100)
	for row, v := range values {
		var got map[string]any
		if err := json.Unmarshal(v.Buf(), &got); err != nil {
			t.Fatalf("%s: %v", v.Buf(), err)
		}
		text, _ := got["t"].(string)
		expect.Equal(t, len(text), 9, "the text is", text)
		delete(got, "t")
		delete(got, "f")
		want := map[string]any{
			`a "field"`: "quoted \" and \\ and \n", "inner": map[string]any{"list": `["]`, "n": float64(row)}, "name": "ä\tb", "d": fmt.Sprint(`"`, row),
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
		expect.Must(t, int64(len(v.Buf())) <= column.value.limit,
			"an object has", len(v.Buf()), "bytes, and", column.value.limit, "are said to be the most")
	}
}

// An engine need not look for rows only where they are known to exist: chosen of the
// statement's own table, and not computed.
func TestBlind(t *testing.T) {
	for row, want := range map[string]bool{
		"{any: {}}": true, "{zipf: t}": true, "{any: other}": false, "{any: 100}": false, "{fnv: {any: {}}}": false,
		"{permute: {of: {any: {}}, over: rows}}": false, "drawn": true, "foreign": false, "1 + drawn": false,
	} {
		r := small(t, "n: {value: 0}", "  o: {draw: {drawn: {any: t}, foreign: {any: other}}, do: [{update: t, row: "+row+", add: {n: 1}}]}\n", nil)
		ops := r.compiler(1).readOperations(r.root.Get("operations"))
		if s := ops[0].statements[0]; s.variants[0].op.Blind != want || s.exact != want {
			t.Errorf("row %s: blind is %v, exact %v, want %v", row, s.variants[0].op.Blind, s.exact, want)
		}
	}
}

// A column that is computed from the key does not say which row a key belongs to.
func TestRowOfKey(t *testing.T) {
	const text = `
name: w
tables:
  t: {columns: {n: {value: {sequence: [5, 3]}}, key: {value: KEY}}, key: [key]}
operations: {o: [{delete: t, key: {key: 8}}]}
steps: [{load: t, rows: 10}]
`
	for key, known := range map[string]bool{"n": true, "{sequence: [5, 3]}": true, "{fnv: n}": false, "{permute: {of: n, over: 100}}": false, "n * 2": false} {
		r := newRun(t, readTest(t, "w.yaml", []byte(strings.ReplaceAll(text, "KEY", key))), "", nil).(*run)
		s := r.compiler(1).readOperations(r.root.Get("operations"))[0].statements[0]
		expect.True(t, (s.rowOf != nil) == known && (!known || s.rowOf(8) == 1),
			"key", key, "the row of a key is known", s.rowOf != nil)
	}
}

// A load that is left out does not clear the table; the peak of rows counts.
func TestLoaded(t *testing.T) {
	for again, want := range map[int64]int64{0: 100, 30: 100, 500: 500} {
		r := small(t, "n: {value: 0}", "", map[string]any{"again": again})
		expect.True(t, r.tables[0].loaded == want && r.Estimate(nil).Rows == want, again, r.tables[0].loaded, r.Estimate(nil).Rows)
	}
}

// Custom SQL that may write to other tables than the file's leaves unknown how much data there is.
func TestWritesOtherTables(t *testing.T) {
	tables := []*tableDef{{Table: &model.Table{Name: "queue"}}}
	for sql, elsewhere := range map[string]bool{
		"INSERT INTO queue VALUES (:id) ON CONFLICT (id) DO UPDATE SET n = 1": false, "insert into rumbench.\"queue\" values (:id)": false,
		"INSERT INTO queue SELECT * FROM old ON DUPLICATE KEY UPDATE n = 1": false, "DELETE FROM queue WHERE id = :id": false,
		"UPDATE ONLY queue SET n = 1": false, "INSERT INTO log VALUES (1)": true, "CREATE TABLE IF NOT EXISTS copy AS SELECT 1": true,
		"CALL work(:id)": true, "WITH gone AS (DELETE FROM queue RETURNING *) INSERT INTO done SELECT * FROM gone": true,
	} {
		pieces, _ := split(sql)
		s := &statement{own: ownSQL{"postgres": variant{op: model.Op{SQL: pieces}}}}
		expect.Equal(t, s.writesOtherTables(tables), elsewhere, sql)
	}
}

// UUIDs have their version and variant, and no two are equal; those of version 7 ascend by a millisecond per row.
func TestUUID(t *testing.T) {
	for value, version := range map[string]string{"{uuid: 4}": "4", "{uuid: {version: 7}}": "7", "{uuid: {version: 7, of: row * 2}}": "7"} {
		values, _ := columnValues(small(t, "x: {value: "+value+"}", "", nil), "x", 1000)
		seen := map[string]bool{}
		for i, v := range values {
			text := v.String()
			seen[text] = true
			expect.True(t, len(text) == 36 && text[14:15] == version && strings.Contains("89ab", text[19:20]), value, text)
			if i > 0 && version == "7" {
				expect.True(t, values[i-1].Compare(v) < 0, value, "order", values[i-1], v)
			}
		}
		expect.Equal(t, len(seen), len(values), value)
	}
	values, _ := columnValues(small(t, "x: {value: {uuid: {version: 7}}}", "", nil), "x", 3)
	ms, err := strconv.ParseInt(strings.ReplaceAll(values[2].String()[:13], "-", ""), 16, 64)
	expect.Equal(t, time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000"), "2026-01-01T00:00:00.002", err)
}
