package kvkit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/model"
)

// Means are a store's abilities beyond Get, Put and Delete.
type Means uint8

// The means.
const (
	Merges        Means = 1 << iota // its Tx is a Merger
	SingleDeletes                   // its Tx is a SingleDeleter
	Filters                         // its Get, or its Tx as a Prober, asks filters on all levels
)

// switches are the options that avoid reads: the means they need, the value
// without effect, the other values, and their documentation.
var switches = []struct {
	needs Means
	name  string
	off   string
	on    []string
	doc   string
}{
	{Merges, "updates", "read", []string{"merge"},
		"merge writes the change of a row instead of the row, where it is known to exist"},
	{Merges, "upserts", "read", []string{"merge"},
		"merge writes an insert that adds to an existing row as one record, where indexes hold only the key"},
	{0, "indexes", "exact", []string{"blind"},
		"blind leaves old entries in indexes that are not unique; readers check each entry against its row"},
	{0, "cleanup", "none", []string{"read", "settle"}, "who removes the old entries that indexes: blind leaves"},
	{SingleDeletes, "deletes", "plain", []string{"single"},
		"single deletes by a record that ends at the first older one; rows are never changed"},
	{Filters, "unique", "read", []string{"filter"}, "filter checks by filters that a key or value is new"},
}

// Options returns the options that avoid reads in a store with the means.
func Options(m Means) (out []engine.Option) {
	for _, s := range switches {
		if s.needs&^m == 0 {
			out = append(out, engine.Option{Name: s.name, Type: strings.Join(append([]string{s.off}, s.on...), "|"),
				Doc: s.doc + " (default " + s.off + ")"})
		}
	}
	return out
}

// Switches are the values of the options that avoid reads. The zero value avoids
// none.
type Switches struct {
	MergeUpdates, MergeUpserts bool
	BlindIndexes               bool
	CleanOnRead, CleanOnSettle bool
	SingleDeletes              bool
	Filter                     bool

	settings []engine.Setting // the switches that are on
}

// NewSwitches reads the options. It refuses those that the schema or other
// switches rule out; those whose means a store lacks are not among its options.
func NewSwitches(c engine.Config) (w Switches, err error) {
	values := map[string]string{}
	var settings []engine.Setting
	o := c.ReadOptions()
	for _, s := range switches {
		v := o.Choice(s.name, append([]string{s.off}, s.on...)...)
		values[s.name] = v
		if v != s.off {
			settings = append(settings, engine.Setting{Name: s.name, Value: v, Source: engine.AsSet})
		}
	}
	w = Switches{
		MergeUpdates: values["updates"] == "merge", MergeUpserts: values["upserts"] == "merge",
		BlindIndexes: values["indexes"] == "blind", SingleDeletes: values["deletes"] == "single",
		CleanOnRead: values["cleanup"] == "read", CleanOnSettle: values["cleanup"] == "settle",
		Filter: values["unique"] == "filter", settings: settings,
	}
	return w, cmp.Or(o.Err, w.check(c.Schema))
}

func (w Switches) check(s model.Schema) error {
	none := func(f func(t *model.Table) bool) bool {
		return len(s.Tables) > 0 && !slices.ContainsFunc(s.Tables, func(t model.Table) bool { return f(&t) })
	}
	changes := w.MergeUpdates || w.MergeUpserts || w.BlindIndexes
	return cmp.Or(
		engine.RefuseIf((w.CleanOnRead || w.CleanOnSettle) && !w.BlindIndexes, "options.cleanup", nil,
			"only indexes: blind leaves entries to clean up"),
		engine.RefuseIf(w.SingleDeletes && changes, "options.deletes", "single",
			"single deletes need rows and entries that are put once; updates: merge, upserts: merge and indexes: blind put "+
				"them again"),
		engine.RefuseIf(w.MergeUpdates && none(w.mergesColumn), "options.updates", "merge",
			"no table of the workload has a column outside of its key and its indexes"),
		engine.RefuseIf(w.MergeUpserts && none(indexesKey), "options.upserts", "merge",
			"every table of the workload has an index with columns outside of its key"),
		engine.RefuseIf(w.BlindIndexes && none(hasBlind), "options.indexes", "blind",
			"no table of the workload has an index that is not unique"))
}

// mergesColumn reports whether a column is neither in the key nor in an index whose
// entries have to follow it.
func (w Switches) mergesColumn(t *model.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c model.Column) bool {
		return !slices.Contains(t.Key, c.Name) && !slices.ContainsFunc(t.Indexes, func(ix model.Index) bool {
			if w.BlindIndexes && !ix.Unique {
				return false
			}
			return slices.Contains(ix.Columns, c.Name) || slices.Contains(ix.Include, c.Name)
		})
	})
}

// indexesKey reports whether indexes hold nothing but columns of the key.
func indexesKey(t *model.Table) bool {
	return !slices.ContainsFunc(t.Indexes, func(ix model.Index) bool {
		return slices.ContainsFunc(slices.Concat(ix.Columns, ix.Include),
			func(c string) bool { return !slices.Contains(t.Key, c) })
	})
}

func hasBlind(t *model.Table) bool {
	return slices.ContainsFunc(t.Indexes, func(ix model.Index) bool { return !ix.Unique })
}

// Merges reports whether values are merged, so that the store needs an Operator.
func (w Switches) Merges() bool { return w.MergeUpdates || w.MergeUpserts }

// definition returns the switches that the stored data depends on; the catalog
// holds it, so that the database is not opened without its operator, or by
// readers that trust its index entries.
func (w Switches) definition() (out string) {
	for _, s := range []struct {
		on   bool
		text string
	}{{w.Merges(), " merged rows"}, {w.BlindIndexes, " blind indexes"}, {w.SingleDeletes, " single deletes"}} {
		if s.on {
			out += s.text
		}
	}
	return out
}

// allows refuses an operation that breaks an assumption of a switch, or writes
// more than a transaction of the store holds.
func (db *database) allows(l *layout, op *model.Op) error {
	changes := op.Kind == model.Update || op.Kind == model.Insert && op.OnConflict > model.Ignore
	if db.switches.SingleDeletes && changes {
		return engine.Refuse("options.deletes", "single",
			"operation %s changes rows; single deletes need rows that are put once", op.Label())
	}
	rows := max(op.Rows, op.KeyCount())
	if op.Kind == model.Get || op.Kind == model.Scan || rows == 1 {
		return nil
	}
	entries := 1 + len(l.indexes)
	if changes {
		entries += len(l.indexes)
	}
	if n := rows * entries; db.maxEntries > 0 && n > db.maxEntries {
		return fmt.Errorf("operation %s writes up to %d rows and index entries: %w", op.Label(), n, tooLarge(db.maxEntries))
	}
	return nil
}

// Open returns a database on a store. The store is closed with the database, and
// also when Open fails.
func (w Switches) Open(store Store, c engine.Config) (engine.DB, error) {
	byName, tables, err := newLayouts(c.Schema)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	for _, l := range tables {
		l.tagged = w.Merges()
	}
	db := &database{store: store, dir: c.Dir, durability: c.Durability, kind: store.Concurrency(), switches: w,
		byName: byName, tables: tables, sessions: map[*session]bool{}}
	if limited, ok := store.(Limited); ok {
		db.maxEntries = limited.MaxEntries()
	}
	if err := db.view(db.readCatalog); err != nil {
		return nil, errors.Join(fmt.Errorf("read catalog: %w", err), store.Close())
	}
	return db, nil
}
