package kvkit

import (
	"bytes"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

func hasUnique(l *layout) bool {
	return slices.ContainsFunc(l.indexes, func(ix *indexLayout) bool { return ix.index.Unique })
}

// expectNone reads a key that is expected not to exist before it is put.
func (b *base) expectNone(tx *txn, key []byte) ([]byte, error) {
	if b.db.switches.Filter && b.db.kind != Isolated {
		return tx.probe(key)
	}
	return tx.getForUpdate(key)
}

// refuseEqual returns an error of class Duplicate if the unique index holds the
// row's values for a row other than the one with encoded key own. NULL equals
// nothing. It leaves the key of the row's entry in b.key.
func (b *base) refuseEqual(tx *txn, ix *indexLayout, row []model.Value, own []byte) (err error) {
	if b.key, err = b.l.appendEntryKey(b.key[:0], ix, row); err != nil || !ix.byValue(row) {
		return err
	}
	value, err := b.expectNone(tx, b.key)
	if err == nil && value != nil && (own == nil || !bytes.HasPrefix(value, own[2:])) {
		err = engine.Errorf(engine.Duplicate, "index %s: another row has the value", ix.index.Name)
	}
	return err
}

// claimOf appends to b.values the keys of a row's entries in unique indexes among
// a list.
func (b *base) claimOf(indexes []*indexLayout, row []model.Value) (err error) {
	for _, ix := range indexes {
		if !ix.byValue(row) || !ix.exists.Load() {
			continue
		}
		if b.values.buf, err = b.l.appendEntryKey(b.values.buf, ix, row); err != nil {
			return err
		}
		b.values.end()
	}
	return nil
}
