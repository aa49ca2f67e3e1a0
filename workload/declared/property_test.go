package declared

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/engine/bbolt"
	"rumbench/engine/memory"
	"rumbench/engine/pebble"
	"rumbench/internal/expect"
	"rumbench/workload/workloadtest"
)

// Random files do the same on two engines, and keep their own counts with concurrent
// clients too.
func TestRandomFiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := author{T: rt}
		text := f.file()
		seed := rapid.Uint64Range(1, 5).Draw(rt, "seed")
		ok := t.Run("file", func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Log("the file is\n" + text)
				}
			}()
			once := func(e engine.Engine, text string) []workloadtest.State {
				r := newRun(t, readTest(t, "random.yaml", []byte(text)), "", nil)
				return workloadtest.Lockstep(t, r, workloadtest.Open(t, e, r.Schema()), seed)
			}
			plain := strings.ReplaceAll(text, "transaction: true", "transaction: false")
			workloadtest.Compare(t, "pebble", once(memory.Engine{}, plain), once(pebble.Engine{}, plain))
			if plain != text { // which pebble does not have
				workloadtest.Compare(t, "bbolt", once(memory.Engine{}, text), once(bbolt.Engine{}, text))
			}
			r := newRun(t, readTest(t, "random.yaml", []byte(text)), "", nil)
			workloadtest.Concurrent(t, r, openMemory(t, r), seed)
		})
		expect.Must(rt, ok, "see above")
	})
}

// author writes a random file.
type author struct {
	*rapid.T
	tables []*randomTable
	text   strings.Builder
}

type randomTable struct {
	name     string
	key      []string
	auto     bool
	sequence bool     // a key's row is known
	numbers  []string // columns that can be added to
	texts    []string // text columns of at most 20 bytes
	columns  []string // that are not of the key
	indexes  []string
}

func (a *author) one(subject string, list ...string) string {
	return rapid.SampledFrom(list).Draw(a.T, subject)
}
func (a *author) between(subject string, start, end int) int {
	return rapid.IntRange(start, end).Draw(a.T, subject)
}
func (a *author) maybe(subject string) bool { return rapid.Bool().Draw(a.T, subject) }

func (a *author) writef(format string, args ...any) { fmt.Fprintf(&a.text, format+"\n", args...) }

func (a *author) file() string {
	a.writef("name: random\nparams: {p: {default: %d, min: 1}, share: {type: float, default: 0.5}}", a.between("p", 1, 9))
	a.writef("values: {named: {uniform: [1, 10 * p]}}\ntables:")
	for i := range a.between("tables", 1, 3) {
		a.table(fmt.Sprint("t", i))
	}
	a.writef("operations:")
	var ops []string
	for i := range a.between("operations", 1, 4) {
		ops = append(ops, fmt.Sprint("o", i))
		a.operation(ops[i])
	}
	a.steps(ops)
	return a.text.String()
}

func (a *author) table(name string) {
	t := &randomTable{name: name}
	a.tables = append(a.tables, t)
	a.writef("  %s:\n    columns:", name)
	switch a.one("key", "sequence", "auto", "hashed", "digits", "two") {
	case "sequence":
		t.key, t.sequence = []string{"id"}, true
		a.writef("      id: {value: {sequence: [%d, %d]}}", a.between("from", -5, 5), a.between("step", 1, 3))
	case "auto":
		t.key, t.auto, t.sequence = []string{"id"}, true, true
		a.writef("      id: {auto: true}")
	case "hashed":
		t.key = []string{"id"}
		a.writef("      id: {value: {decimal: {of: {fnv: row}, prefix: {const: user}}}}")
	case "digits":
		t.key = []string{"id"}
		a.writef("      id: {value: {decimal: {digits: 8, length: 12}}}")
	case "two":
		t.key = []string{"id", "part"}
		k := a.between("parts", 1, 4)
		a.writef("      id: {type: int64, value: (row - row %% %d) / %d}\n      part: {type: int32, value: row %% %d}", k, k, k)
	}
	fewest := 0
	if t.auto {
		fewest = 1
	}
	for i := range a.between("columns", fewest, 4) {
		a.column(t, fmt.Sprint("c", i))
	}
	a.writef("    key: [%s]", strings.Join(t.key, ", "))
	for i := range a.between("indexes", 0, 2) {
		if len(t.columns) == 0 {
			break
		}
		if i == 0 {
			a.writef("    indexes:")
		}
		ix := fmt.Sprint("x", i)
		t.indexes = append(t.indexes, ix)
		a.writef("      %s: {columns: [%s, %s]}", ix, t.columns[i%len(t.columns)], strings.Join(t.key, ", "))
	}
}

func (a *author) column(t *randomTable, name string) {
	t.columns = append(t.columns, name)
	switch a.one("column", "number", "text", "other") {
	case "number":
		a.writef("      %s: {type: %s, value: %s}", name, a.one("type", "int64", "int32"), a.number(t))
		t.numbers = append(t.numbers, name)
	case "text":
		words := a.words()
		if a.writef("      %s: {max: 20, value: %s}", name, words); strings.Contains(words, "check") {
			break
		}
		t.texts = append(t.texts, name)
	default:
		a.writef("      %s: {value: %s}", name, a.one("value", "{normal: [10, 3]}", "{uniform: [0.5, 2.5]}", "{clock: 1}", "{fnv: row}", "{uuid: 4}", "{uuid: {version: 7}}", "{bytes: {size: 40, compress: share, check: true}}",
			"{json: {a: {text: 5}, b: row, c: {json: {d: {choice: {x: 1, 'y\"': 2}}}}}}", "{text: {size: {sizes: {max: 50}}}}", "row / 2", "{permute: {over: 50}}"))
	}
}

// number is a value of at most a few hundred.
func (a *author) number(t *randomTable) string {
	list := []string{"5", "p", "named", "{uniform: [1, 100]}", "{uniform: [-5, p]}", "{choice: {0: 1, 7: 2, 9: 0}}", "{zipf: 20}", "{any: p}", "{gaussian: 50}", "{pareto: 50}", "{newest: 30}",
		"{latest: 30}", "{hotspot: [40, 0.5]}", "{scrambled_zipf: 100}", "{hot_ranges: {over: 100, ranges: 7}}", "{uniform: [p, 2 * p + 1]}"}
	if t != nil {
		list = append(list, "row % 7", "{permute: {of: row % 10, over: 10}}", "{any: "+a.tables[0].name+"}")
		if len(t.numbers) > 0 {
			list = append(list, t.numbers[0]+" % 50 + 1")
		}
	}
	return rapid.SampledFrom(list).Draw(a.T, "number")
}

func (a *author) words() string {
	return a.one("words", "{text: 20}", "{text: {size: {uniform: [8, 20]}, compress: share, check: true}}", "{choice: {new: 1, paid: 2}}", "{const: word}", "{decimal: {of: {uniform: [1, 9]}}}")
}

// rowOf is a row of a table, and existing one that it has, or had.
func (a *author) existing(t *randomTable) string {
	return a.one("row", "{any: {}}", "{zipf: {}}", "{scrambled_zipf: {new: 5}}", "{latest: {}}", "{hotspot: {}}", "{newest: {}}", "{hot_ranges: {ranges: 3}}", "{gaussian: {}}", "{pareto: {}}", "{any: "+t.name+"}")
}

func (a *author) rowOf(t *randomTable) string {
	if a.maybe("foreign") {
		return a.one("row", "{uniform: [0, 10]}", "{any: "+a.tables[0].name+"}", "drawn")
	}
	return a.existing(t)
}

func (a *author) operation(name string) {
	a.writef("  %s:\n    transaction: %v\n    draw: {drawn: {any: %s}, amount: %s}\n    do:", name, a.maybe("transaction"), a.tables[0].name, a.number(nil))
	carried := []string{"amount"}
	for i := range a.between("statements", 1, 3) {
		t := rapid.SampledFrom(a.tables).Draw(a.T, "table")
		a.writef("      - {%s}", strings.Join(a.statement(t, i, &carried), ", "))
	}
}

// statement returns the parts of a statement.
func (a *author) statement(t *randomTable, n int, carried *[]string) []string {
	amount := rapid.SampledFrom(*carried).Draw(a.T, "amount")
	switch a.one("kind", sInsert, sGet, sScan, sUpdate, sDelete) {
	case sInsert:
		out := []string{"insert: " + t.name}
		if len(t.numbers) > 0 && a.maybe("set") {
			out = append(out, fmt.Sprintf("set: {%s: %s %% 100}", t.numbers[0], amount))
		}
		if !t.auto && a.maybe("again") {
			conflict := []string{"ignore", "replace"}
			if len(t.numbers) > 0 {
				conflict = append(conflict, "{add: ["+t.numbers[0]+"]}")
			}
			return append(out, "row: "+a.existing(t), "conflict: "+rapid.SampledFrom(conflict).Draw(a.T, "conflict"))
		}
		return append(out, fmt.Sprint("rows: ", a.between("rows", 1, 3)))
	case sGet:
		out := []string{"get: " + t.name}
		if t.comparable() && a.maybe("index") {
			return append(out, a.byIndex(t, amount)...)
		}
		out = append(out, "row: "+a.rowOf(t))
		if a.maybe("several") {
			return append(out, fmt.Sprint("rows: ", a.between("rows", 2, 4)))
		}
		return append(out, a.reads(t, n, carried)...)
	case sScan:
		return a.scan(t, n, amount, carried)
	case sUpdate:
		return a.update(t, amount)
	}
	return []string{"delete: " + t.name, "row: " + a.rowOf(t)}
}

// comparable reports whether there is an index whose first column has values that
// operations can name.
func (t *randomTable) comparable() bool {
	return len(t.indexes) > 0 && (slices.Contains(t.numbers, t.columns[0]) || slices.Contains(t.texts, t.columns[0]))
}

// byIndex are all entries of an index with a value of its first column.
func (a *author) byIndex(t *randomTable, amount string) []string {
	return []string{"index: " + t.indexes[0], fmt.Sprintf("equal: {%s: %s}", t.columns[0], a.valueOf(t, t.columns[0], amount))}
}

// valueOf is a value for a column.
func (a *author) valueOf(t *randomTable, column, amount string) string {
	switch {
	case slices.Contains(t.numbers, column):
		return amount + " % 100"
	}
	return a.words()
}

func (a *author) reads(t *randomTable, n int, carried *[]string) []string {
	switch {
	case a.maybe("all"):
		return nil
	case len(t.numbers) > 0 && a.maybe("carry"):
		name := fmt.Sprint("v", n)
		*carried = append(*carried, name)
		return []string{fmt.Sprintf("read: {%s: %s}", t.numbers[0], name)}
	}
	return []string{"read: [" + t.key[0] + "]"}
}

func (a *author) scan(t *randomTable, n int, amount string, carried *[]string) []string {
	out := []string{"scan: " + t.name, fmt.Sprint("descending: ", a.maybe("descending"))}
	if len(t.key) == 1 && a.maybe("by row") {
		out = append(out, "row: "+a.rowOf(t))
	} else if t.sequence || len(t.key) == 2 {
		switch a.one("bounds", "none", "from", "above and below", "equal") {
		case "from":
			out = append(out, "from: "+amount)
		case "above and below":
			out = append(out, "above: "+amount+" - 20", "below: "+amount+" + 20")
		case "equal":
			out = append(out, fmt.Sprintf("equal: {id: %s}", amount))
		}
	}
	name := fmt.Sprint("v", n)
	switch a.one("result", "rows", "count", "sum", "drawn limit") {
	case "count":
		*carried = append(*carried, name)
		return append(out, "count: "+name)
	case "sum":
		if len(t.numbers) > 0 {
			*carried = append(*carried, name)
			return append(out, fmt.Sprintf("sum: {%s: %s}", t.numbers[0], name))
		}
	case "drawn limit":
		return append(out, "limit: {uniform: [1, 5]}")
	}
	return append(append(out, fmt.Sprint("limit: ", a.between("limit", 1, 9))), a.reads(t, n, carried)...)
}

func (a *author) update(t *randomTable, amount string) []string {
	if len(t.columns) == 0 {
		return []string{"delete: " + t.name, "row: " + a.rowOf(t)}
	}
	out := []string{"update: " + t.name, "row: " + a.rowOf(t)}
	if t.comparable() && a.maybe("by index") {
		out = append(out[:1], a.byIndex(t, amount)...)
	}
	last := t.columns[len(t.columns)-1]
	switch {
	case slices.Contains(t.numbers, last) && a.maybe("add"):
		return append(out, fmt.Sprintf("add: {%s: %s %% 10}", last, amount))
	case (slices.Contains(t.numbers, last) || slices.Contains(t.texts, last)) && a.maybe("given"):
		return append(out, fmt.Sprintf("set: {%s: %s}", last, a.valueOf(t, last, amount)))
	}
	return append(out, "set: ["+last+"]")
}

func (a *author) steps(ops []string) {
	a.writef("steps:")
	for _, t := range a.tables {
		a.writef("  - {load: %s, rows: %d * p, clients: %d, batch: %d}", t.name, a.between("rows", 1, 9), a.between("clients", 1, 3), a.between("batch", 1, 20))
		if len(t.indexes) > 0 && a.maybe("later") {
			a.writef("  - {index: %s}", t.name)
		}
	}
	for i := range a.between("runs", 1, 2) {
		group := func(name string) string {
			return fmt.Sprintf("%s: {clients: %d, operations: %d, mix: {%s: 1, %s: 2}}", name, a.between("clients", 1, 3), 6*a.between("work", 1, 10),
				rapid.SampledFrom(ops[:1]).Draw(a.T, "operation"), ops[len(ops)-1])
		}
		if len(ops) == 1 {
			group = func(name string) string { return fmt.Sprintf("%s: {clients: 2, operations: 30, do: %s}", name, ops[0]) }
		} else if a.maybe("sequence") {
			group = func(name string) string {
				return fmt.Sprintf("%s: {clients: 2, operations: 40, retry: same, sequence: [%s]}", name, strings.Join(ops, ", "))
			}
		}
		a.writef("  - {run: r%d, groups: {%s}}", i, group("g"))
	}
}
