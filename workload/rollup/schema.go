package rollup

import (
	"fmt"
	"slices"

	"rumbench/model"
	"rumbench/workload/gen"
)

// The columns.
const (
	colHID = "hid"
	colMID = "mid"
	colID  = "id"
	colK   = "k"
	colC   = "c"
	colPad = "pad"
)

// buckets are the sizes of the roll-ups' buckets.
var buckets = []int64{10, 100, 1000}

// The values of k are 0…greatestK, of which the lowest paretoShare get 80 % of the draws.
// hid and mid of schema scattered have the same number of values. Those of schema
// aggregating are 0…side-1, so that there is a pair for every fact.
const (
	greatestK   = 10_000
	paretoShare = 0.2
	side        = 1 << 20
)

// The groups of digits in the text columns, and the widths of the columns.
const (
	cGroups, padGroups = 10, 5
	cWidth, padWidth   = 120, 60
	textBytes          = 119 + 59
)

func baseName(n int) string { return fmt.Sprintf("sbtest%d", n+1) }

// tableName returns the name of a base table or, with a bucket, of a roll-up.
func tableName(n int, bucket int64) string {
	if bucket == 0 {
		return baseName(n)
	}
	return fmt.Sprintf("%s_r%d", baseName(n), bucket)
}

func indexName(n int) string { return fmt.Sprintf("k_%d", n+1) }

// Schema returns the base tables, each followed by its roll-ups.
func (r *run) Schema() (s model.Schema) {
	for n := range r.tables {
		base := r.table(tableName(n, 0), 4, r.texts(false))
		if r.schema == sequential {
			base.Indexes = []model.Index{{Name: indexName(n), Columns: []string{colK}}}
		}
		s.Tables = append(s.Tables, base)
		for _, b := range buckets {
			s.Tables = append(s.Tables, r.table(tableName(n, b), 8, r.texts(true)))
		}
	}
	return s
}

// texts reports whether base tables, or roll-ups, have the text columns.
func (r *run) texts(rollup bool) bool {
	if rollup {
		return r.wide
	}
	return r.schema == sequential
}

// table returns a table. Sums have 8 bytes, so that no engine has to read them to check
// whether they fit.
func (r *run) table(name string, kWidth int, texts bool) model.Table {
	t := model.Table{Name: name, Key: []string{colID}}
	if r.schema != sequential {
		t.Key = []string{colHID, colMID, colID}
		t.Columns = []model.Column{{Name: colHID, Type: model.Int, Width: 4, NotNull: true},
			{Name: colMID, Type: model.Int, Width: 4, NotNull: true}}
	}
	t.Columns = append(t.Columns,
		model.Column{Name: colID, Type: model.Int, NotNull: true},
		model.Column{Name: colK, Type: model.Int, Width: kWidth, NotNull: true})
	if texts {
		t.Columns = append(t.Columns, model.Column{Name: colC, Type: model.String, Width: cWidth, NotNull: true, Fixed: true},
			model.Column{Name: colPad, Type: model.String, Width: padWidth, NotNull: true, Fixed: true})
	}
	return t
}

// rowBytes returns the user bytes of a row, and of its index entry.
func (r *run) rowBytes(rollup bool) int64 {
	n := int64(8) // id
	if r.schema != sequential {
		n += 4 + 4
	}
	if rollup {
		n += 8
	} else {
		n += 4
	}
	if r.texts(rollup) {
		n += textBytes
	}
	if r.schema == sequential && !rollup {
		n += 4 + 8 // k and id
	}
	return n
}

// fact is the data that a transaction inserts and adds to roll-ups.
type fact struct {
	hid, mid, id, k int64
	text            []byte // c and pad
}

// facts generates facts: number n of a table is a function of the seed, the table and n.
// Only one client may use it.
type facts struct {
	*run
	values gen.Stream
	orders gen.Stream      // of the pairs in a round
	places gen.Permutation // of the pairs among all possible ones
	at     []round         // the round of the last fact, by table
}

func (r *run) newFacts(seed uint64) facts {
	return facts{
		run: r, values: gen.NewStream(seed, "rollup", "facts"),
		// Both are the same for every seed: a trial that goes on from facts of another seed has the pairs that are next.
		orders: gen.NewStream(0, "rollup", "pairs"),
		places: gen.NewPermutation(side*side, gen.NewStream(0, "rollup", "places")),
		at:     slices.Repeat([]round{r.firstRound()}, r.tables),
	}
}

// round is a round of schema aggregating: each pair that exists at its beginning gets
// one fact. Facts are numbered without gaps, whichever client inserts them, so their
// rounds are known, and with them how many rows the roll-ups have.
type round struct {
	number int64
	first  int64 // the number of its first fact, excluding the first facts of new pairs
	pairs  int64
}

func (r *run) firstRound() round { return round{pairs: r.pairs} }

func (r *run) after(at round) round {
	first := at.first + at.pairs
	return round{at.number + 1, first, r.pairs + first/(r.perPair-1)}
}

// set sets f to fact n, from 0, of a table.
func (m *facts) set(f *fact, table int, n int64) {
	s := gen.NewSource(m.values.Sub(uint64(table)).Sub(uint64(n)))
	f.id, f.k, f.text = n, m.k.Draw(s), f.text[:0]
	switch m.schema {
	case scattered:
		f.hid, f.mid = s.Uniform(greatestK+1), s.Uniform(greatestK+1)
	case aggregating:
		var pair int64
		f.id, pair = m.pairOf(table, n)
		place := m.places.At(pair)
		f.hid, f.mid = place/side, place%side
	}
	if m.schema == sequential || m.wide {
		f.text = gen.AppendDigits(gen.AppendDigits(f.text, s, cGroups), s, padGroups)
	}
}

// pairOf returns the round and the pair of fact n of a table. The first fact of a pair
// belongs to the round of the preceding fact.
func (m *facts) pairOf(table int, n int64) (number, pair int64) {
	begun := n / m.perPair
	begins := n%m.perPair == m.perPair-1
	other := n - begun
	if begins {
		other--
	}
	at := &m.at[table]
	if other < at.first {
		*at = m.firstRound()
	}
	for other >= at.first+at.pairs {
		*at = m.after(*at)
	}
	if begins {
		return at.number, m.pairs + begun
	}
	order := gen.NewPermutation(at.pairs, m.orders.Sub(uint64(table)).Sub(uint64(at.number)))
	return at.number, order.At(other - at.first)
}

// appendRow appends the row of a fact in the base table, or in the roll-up of a
// bucket size.
func (r *run) appendRow(args []model.Value, f *fact, bucket int64) []model.Value {
	id := f.id
	if bucket > 0 {
		id /= bucket
	}
	if r.schema != sequential {
		args = append(args, model.IntValue(f.hid), model.IntValue(f.mid))
	}
	args = append(args, model.IntValue(id), model.IntValue(f.k))
	if r.texts(bucket > 0) {
		args = append(args, model.StringValue(f.text[:cWidth-1]), model.StringValue(f.text[cWidth-1:]))
	}
	return args
}
