package kvkit

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

const (
	// buildMemory is the sort buffer of an index build in bytes.
	buildMemory = 64 << 20
	// buildBatch is the size of the transactions that write index entries.
	buildBatch = 1 << 20
)

// CreateIndexes reads the table once and writes the entries of all indexes in
// sorted runs.
func (db *database) CreateIndexes(ctx context.Context, table string, names ...string) error {
	l, err := db.table(table)
	if err != nil {
		return err
	}
	var indexes []*indexLayout
	for _, name := range names {
		ix := l.index(name)
		switch {
		case ix == nil:
			return fmt.Errorf("the schema has no index %s on table %s", name, table)
		case ix.exists.Load():
			return engine.Errorf(engine.Duplicate, "index %s on table %s exists", name, table)
		}
		indexes = append(indexes, ix)
	}
	if err := db.build(ctx, l, indexes); err != nil {
		for _, ix := range indexes { // a failed build leaves nothing behind
			if cerr := db.clear(ix.space); cerr != nil {
				return fmt.Errorf("create index: %w (and remove what was built: %v)", err, cerr)
			}
		}
		return fmt.Errorf("create index: %w", err)
	}
	err = db.update(func(tx Tx) (err error) {
		for i := 0; i < len(indexes) && err == nil; i++ {
			err = tx.Put(catalogKey(indexes[i].space), []byte(indexes[i].definition()))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	for _, ix := range indexes {
		ix.exists.Store(true)
	}
	return nil
}

type entry struct{ key, value []byte }

// builder collects index entries and writes a sorted run whenever its buffer is
// full. Runs are written between read transactions, because a store may allow
// only one open transaction per goroutine.
type builder struct {
	db      *database
	l       *layout
	indexes []*indexLayout
	entries []entry
	size    int
	rows    int
	row     []model.Value
	text    []byte
	resume  []byte // the row key to continue from
}

func (db *database) build(ctx context.Context, l *layout, indexes []*indexLayout) error {
	b := &builder{db: db, l: l, indexes: indexes, row: make([]model.Value, len(l.columns))}
	lower, upper := spaceRange(l.space)
	b.resume = lower
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := db.view(func(tx Tx) (err error) {
			more, err = b.fill(tx, upper)
			return err
		})
		if err != nil {
			return err
		}
		if err := b.flush(); err != nil {
			return err
		}
	}
	return b.checkUnique()
}

// fill reads rows until the buffer is full and reports whether there are more.
func (b *builder) fill(tx Tx, upper []byte) (more bool, err error) {
	err = each(tx, b.resume, upper, 0, func(it Iter) (bool, error) {
		if more = b.size >= buildMemory; more {
			b.resume = bytes.Clone(it.Key())
			return false, nil
		}
		value, err := it.Value()
		if err != nil || b.l.hides(value) {
			return true, err
		}
		b.text = b.text[:0]
		if err := b.l.decodeRow(it.Key(), value, b.row, &b.text); err != nil {
			return false, err
		}
		return true, b.add()
	})
	return more, err
}

func (b *builder) add() error {
	b.rows++
	for _, ix := range b.indexes {
		key, value, err := b.l.appendEntry(nil, nil, ix, b.row)
		if err != nil {
			return err
		}
		b.entries = append(b.entries, entry{key, value})
		b.size += len(key) + len(value)
	}
	return nil
}

// flush writes the collected entries in key order.
func (b *builder) flush() error {
	slices.SortFunc(b.entries, func(x, y entry) int { return bytes.Compare(x.key, y.key) })
	for start := 0; start < len(b.entries); {
		err := b.db.update(func(tx Tx) error {
			for n, end := 0, start+b.db.atMost(len(b.entries)); start < min(end, len(b.entries)) && n < buildBatch; start++ {
				e := b.entries[start]
				if err := tx.Put(e.key, e.value); err != nil {
					return err
				}
				n += len(e.key) + len(e.value)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	b.entries, b.size = b.entries[:0], 0
	return nil
}

// checkUnique checks the unique indexes just built: rows with the same values
// have one entry in common.
func (b *builder) checkUnique() error {
	for _, ix := range b.indexes {
		if !ix.index.Unique {
			continue
		}
		entries := 0
		err := b.db.view(func(tx Tx) error {
			return iterate(tx, ix.space, func(Iter) (bool, error) {
				entries++
				return true, nil
			})
		})
		if err != nil {
			return err
		}
		if entries != b.rows {
			return engine.Errorf(engine.Duplicate, "index %s: several rows have the same values", ix.index.Name)
		}
	}
	return nil
}
