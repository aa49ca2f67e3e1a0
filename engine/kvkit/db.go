package kvkit

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/model"
)

type database struct {
	store      Store
	dir        string
	durability model.Durability
	kind       Concurrency
	switches   Switches
	waited     atomic.Int64 // ns, of writers for each other
	maxEntries int          // that a transaction may write; 0: any number
	byName     map[string]*layout
	tables     []*layout

	mu       sync.Mutex
	sessions map[*session]bool
	ended    counts // of sessions closed
	closed   bool
}

// readCatalog reads which tables and indexes exist, and their last numbers.
func (db *database) readCatalog(tx Tx) error {
	exists := func(space uint16, definition string) (bool, error) {
		v, err := tx.Get(catalogKey(space))
		if err == nil && v != nil && string(v) != definition {
			err = fmt.Errorf("the database holds %q, not %q: the parameters that shape the tables must be those of the load", v,
				definition)
		}
		return v != nil, err
	}
	seen := map[uint16]bool{catalogSpace: true}
	for _, l := range db.tables {
		seen[l.space] = true
		for _, ix := range l.indexes {
			seen[ix.space] = true
		}
	}
	if err := refuseUnknown(tx, seen); err != nil {
		return err
	}
	marked, err := exists(catalogSpace, db.switches.definition())
	if err != nil {
		return err
	}
	for _, l := range db.tables {
		there, err := exists(l.space, l.definition())
		if err != nil {
			return err
		}
		if there && !marked && db.switches.definition() != "" {
			return fmt.Errorf("the database was loaded without%s: the options that shape the tables must be those of the load",
				db.switches.definition())
		}
		l.exists.Store(there)
		for _, ix := range l.indexes {
			there, err := exists(ix.space, ix.definition())
			if err != nil {
				return err
			}
			ix.exists.Store(there)
		}
		if l.exists.Load() && l.auto >= 0 {
			if err := readLastID(tx, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseUnknown refuses a database with tables or indexes that the schema does
// not have: they would not be maintained.
func refuseUnknown(tx Tx, seen map[uint16]bool) error {
	return iterate(tx, catalogSpace, func(it Iter) (bool, error) {
		key := it.Key()
		if len(key) == 4 && !seen[binary.BigEndian.Uint16(key[2:])] {
			v, err := it.Value()
			if err != nil {
				return false, err
			}
			return false, fmt.Errorf("the database holds %q, which the schema does not have: the parameters that shape the "+
				"tables must be those of the load", v)
		}
		return true, nil
	})
}

func readLastID(tx Tx, l *layout) error {
	it, err := tx.Iter(spaceRange(l.space))
	if err != nil {
		return err
	}
	if it.Last() {
		row := make([]model.Value, len(l.columns))
		_, err = l.decodeColumns(it.Key()[2:], l.key, row, nil)
		l.lastID.Store(row[l.auto].Int())
	}
	return errors.Join(err, it.Close())
}

func catalogKey(space uint16) []byte { return appendSpace(appendSpace(nil, catalogSpace), space) }

func spaceRange(space uint16) (lower, upper []byte) {
	return appendSpace(nil, space), appendSpace(nil, space+1)
}

func (db *database) table(name string) (*layout, error) {
	l := db.byName[name]
	if l == nil {
		return nil, fmt.Errorf("the schema has no table %s", name)
	}
	return l, nil
}

func (db *database) update(f func(Tx) error) error { return db.run(Write, f) }
func (db *database) view(f func(Tx) error) error   { return db.run(Read, f) }

// begin begins a transaction of the store. Where only one may write at a time, it counts how
// long writers wait for each other.
func (db *database) begin(mode Mode) (Tx, error) {
	if db.kind != SingleWriter || !mode.Writes() {
		return db.store.Begin(mode)
	}
	asked := time.Now()
	tx, err := db.store.Begin(mode)
	db.waited.Add(int64(time.Since(asked)))
	return tx, err
}

// run runs f in a transaction.
func (db *database) run(mode Mode, f func(Tx) error) error {
	tx, err := db.begin(mode)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil || !mode.Writes() {
		return err
	}
	return tx.Commit()
}

func (db *database) CreateTables(context.Context) error {
	for _, l := range db.tables {
		if l.exists.Load() {
			return engine.Errorf(engine.Duplicate, "table %s exists", l.table.Name)
		}
	}
	err := db.update(func(tx Tx) (err error) {
		if d := db.switches.definition(); d != "" {
			err = tx.Put(catalogKey(catalogSpace), []byte(d))
		}
		for i := 0; i < len(db.tables) && err == nil; i++ {
			err = tx.Put(catalogKey(db.tables[i].space), []byte(db.tables[i].definition()))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	for _, l := range db.tables {
		l.exists.Store(true)
	}
	return nil
}

func (db *database) DropIndex(_ context.Context, table, index string) error {
	l, err := db.table(table)
	if err != nil {
		return err
	}
	ix := l.index(index)
	if ix == nil || !ix.exists.Load() {
		return fmt.Errorf("table %s has no index %s", table, index)
	}
	ix.exists.Store(false)
	if err := db.update(func(tx Tx) error { return tx.Delete(catalogKey(ix.space)) }); err != nil {
		return err
	}
	return db.clear(ix.space)
}

// ClearTable empties a table and its indexes. Numbering continues.
func (db *database) ClearTable(_ context.Context, table string) error {
	l, err := db.table(table)
	if err != nil {
		return err
	}
	spaces := []uint16{l.space}
	for _, ix := range l.indexes {
		if ix.exists.Load() {
			spaces = append(spaces, ix.space)
		}
	}
	for _, space := range spaces {
		if err := db.clear(space); err != nil {
			return fmt.Errorf("clear table %s: %w", table, err)
		}
	}
	return nil
}

// clearBatch is the number of keys that one transaction of clear deletes.
const clearBatch = 10_000

// atMost returns n, or less if a transaction cannot write that much.
func (db *database) atMost(n int) int { return min(n, cmp.Or(db.maxEntries, n)) }

// clear removes the entries of a space: by a single record if the store can, as
// transactions that isolate know no ranges.
func (db *database) clear(space uint16) error {
	cleared := false
	err := db.update(func(tx Tx) (err error) {
		if r, ok := tx.(RangeDeleter); ok && db.kind == Unisolated {
			cleared, err = true, r.DeleteRange(spaceRange(space))
		}
		return err
	})
	if err != nil || cleared {
		return err
	}
	for {
		var keys arena
		err := db.view(func(tx Tx) error {
			return iterate(tx, space, func(it Iter) (bool, error) {
				keys.add(it.Key())
				return keys.len() < db.atMost(clearBatch), nil
			})
		})
		if err != nil || keys.len() == 0 {
			return err
		}
		err = db.update(func(tx Tx) (err error) {
			for i := 0; i < keys.len() && err == nil; i++ {
				err = tx.Delete(keys.at(i))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
}

// iterate calls f for the entries of a space until it returns false.
func iterate(tx Tx, space uint16, f func(Iter) (bool, error)) error {
	lower, upper := spaceRange(space)
	return each(tx, lower, upper, 0, f)
}

// announce passes on how many entries are going to be read, unless that is 0.
func announce(it Iter, entries int) {
	if a, ok := it.(Announced); ok && entries > 0 {
		a.Announce(entries)
	}
}

// each calls f for the entries from lower, inclusive, to upper, exclusive,
// until it returns false. limit is the greatest number of these entries, which
// is announced; 0: unknown.
func each(tx Tx, lower, upper []byte, limit int, f func(Iter) (bool, error)) error {
	it, err := tx.Iter(lower, upper)
	if err != nil {
		return err
	}
	announce(it, limit)
	for ok := it.First(); ok; ok = it.Next() {
		if more, err := f(it); err != nil || !more {
			return errors.Join(err, it.Close())
		}
	}
	return it.Close()
}

func (db *database) Session(context.Context) (engine.Session, error) {
	s := &session{db: db}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.sessions[s] = true
	return s, nil
}

func (db *database) Settings(context.Context) ([]engine.Setting, error) {
	out := append(db.store.Settings(),
		engine.Setting{Name: "durability", Value: string(db.durability), Source: engine.AsSet})
	if level := db.kind.Isolation(); level != model.DefaultIsolation {
		out = append(out, engine.Setting{Name: "isolation", Value: level.String(), Source: engine.AsSet})
	}
	return append(out, db.switches.settings...), nil
}

func (db *database) Sizes(context.Context) ([]engine.Size, error) {
	var ranges []Range
	add := func(name string, space uint16) {
		lower, upper := spaceRange(space)
		ranges = append(ranges, Range{Object: name, Lower: lower, Upper: upper})
	}
	for _, l := range db.tables {
		if !l.exists.Load() {
			continue
		}
		add(l.table.Name, l.space)
		for _, ix := range l.indexes {
			if ix.exists.Load() {
				add(l.table.Name+"."+ix.index.Name, ix.space)
			}
		}
	}
	if err := db.store.Sizes(ranges); err != nil {
		return nil, fmt.Errorf("read the sizes of tables and indexes: %w", err)
	}
	total, err := db.totalSize()
	if err != nil {
		return nil, fmt.Errorf("read the size of the database: %w", err)
	}
	out := []engine.Size{{Bytes: total, Kind: engine.Exact}}
	for _, r := range ranges {
		out = append(out, engine.Size{Object: r.Object, Bytes: r.Bytes, Kind: r.Kind})
	}
	return out, nil
}

// totalSize returns the size of everything on disk, logs included. Space that is
// preallocated or mapped beyond the contents of a file does not count: it holds nothing yet.
func (db *database) totalSize() (int64, error) {
	if s, ok := db.store.(Sized); ok {
		return s.TotalSize()
	}
	return fsize.Used(db.dir)
}

func (db *database) Counters(_ context.Context, s *engine.Sample) error {
	var all counts
	db.mu.Lock()
	all.add(&db.ended)
	for open := range db.sessions {
		all.add(&open.counts)
	}
	db.mu.Unlock()
	all.sample(s)
	if db.kind == SingleWriter {
		s.Counter(engine.WriterWait, "ns", float64(db.waited.Load()))
	}
	return db.store.Counters(s)
}

// Structure implements engine.Structured.
func (db *database) Structure(context.Context) (engine.Structure, error) {
	if s, ok := db.store.(Structured); ok {
		return s.Structure()
	}
	return engine.Structure{}, nil
}

func (db *database) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	var done engine.Settling
	if db.switches.CleanOnSettle {
		done.Do("remove stale index entries", func() (string, error) {
			n, err := db.removeStale(ctx)
			return fmt.Sprintf("%d removed", n), err
		})
	}
	db.store.Settle(ctx, &done)
	return done.Result()
}

func (db *database) Close() error {
	db.mu.Lock()
	again, open := db.closed, slices.Collect(maps.Keys(db.sessions))
	db.closed = true
	db.mu.Unlock()
	if again {
		return nil
	}
	for _, s := range open {
		s.Close()
	}
	return db.store.Close()
}
