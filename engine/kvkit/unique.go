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

// refuseEqual returns an error of class Duplicate if the unique index holds the
// row's values for a row other than the one with encoded key own. NULL equals
// nothing. It leaves the encoded values in b.key.
func (b *base) refuseEqual(tx Tx, ix *indexLayout, row []model.Value, own []byte) error {
	var err error
	if b.key, err = b.l.appendColumns(appendSpace(b.key[:0], ix.space), ix.columns, row); err != nil {
		return err
	}
	if slices.ContainsFunc(ix.columns, func(c int) bool { return row[c].IsNull() }) {
		return nil
	}
	b.end = prefixEnd(b.end, b.key)
	return each(tx, b.key, b.end, func(it Iter) (bool, error) {
		if own == nil || !bytes.Equal(it.Key()[len(b.key):], own[2:]) {
			return false, engine.Errorf(engine.Duplicate, "index %s: another row has the value", ix.index.Name)
		}
		return true, nil
	})
}
