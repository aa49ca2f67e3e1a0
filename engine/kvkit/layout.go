package kvkit

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync/atomic"

	"rumbench/model"
)

// catalogSpace holds a key for every existing table and index.
const catalogSpace = 0

// layout is how a table is stored.
type layout struct {
	table   *model.Table
	columns []model.Column // as declared, with key columns NotNull
	key     []int          // positions of the primary key
	rest    []int          // positions of the other columns, stored in the value
	space   uint16
	indexes []*indexLayout // in the order of the declaration, existing or not
	auto    int            // position of the Auto column, or -1
	exists  atomic.Bool
	lastID  atomic.Int64 // the greatest number assigned
	locks   rowLocks     // of stores without isolation
	values  rowLocks     // of values in unique indexes, taken after those of rows
	tagged  bool         // values of rows begin with rowTag: they may be merged
}

type indexLayout struct {
	index   *model.Index
	columns []int
	include []int
	space   uint16
	exists  atomic.Bool
}

// newLayouts numbers the spaces in schema order, so a database must be reopened
// with the same schema.
func newLayouts(s model.Schema) (map[string]*layout, []*layout, error) {
	byName := map[string]*layout{}
	var ordered []*layout
	next := uint16(catalogSpace + 1)
	for i := range s.Tables {
		t := &s.Tables[i]
		if err := t.Validate(); err != nil {
			return nil, nil, err
		}
		l := &layout{table: t, space: next, auto: t.AutoColumn()}
		l.locks.seed, l.values.seed = maphash.MakeSeed(), maphash.MakeSeed()
		next++
		l.columns = slices.Clone(t.Columns)
		l.key, _ = t.Positions(t.Key)
		for _, k := range l.key {
			l.columns[k].NotNull = true
		}
		for c := range l.columns {
			if !slices.Contains(l.key, c) {
				l.rest = append(l.rest, c)
			}
		}
		for j := range t.Indexes {
			ix := &indexLayout{index: &t.Indexes[j], space: next}
			next++
			ix.columns, _ = t.Positions(ix.index.Columns)
			ix.include, _ = t.Positions(ix.index.Include)
			l.indexes = append(l.indexes, ix)
		}
		byName[t.Name] = l
		ordered = append(ordered, l)
	}
	return byName, ordered, nil
}

// definition returns everything that the stored form of a table depends on. The
// catalog holds it, so that a database is never read with a different one.
func (l *layout) definition() string {
	text := "table " + l.table.Name
	for _, c := range l.columns {
		text += fmt.Sprintf(" %s:%s%d", c.Name, c.Type, c.Width)
		if !c.NotNull {
			text += "?"
		}
	}
	return fmt.Sprintf("%s key %v", text, l.table.Key)
}

func (ix *indexLayout) definition() string {
	text := fmt.Sprintf("index %s %v include %v unique %v", ix.index.Name, ix.index.Columns, ix.index.Include,
		ix.index.Unique)
	if ix.index.Unique {
		text += " by value" // the primary key is the entry's value
	}
	return text
}

func appendSpace(dst []byte, space uint16) []byte { return binary.BigEndian.AppendUint16(dst, space) }

func (l *layout) index(name string) *indexLayout {
	for _, ix := range l.indexes {
		if ix.index.Name == name {
			return ix
		}
	}
	return nil
}

// appendColumns appends the key encoding of columns of a row.
func (l *layout) appendColumns(dst []byte, columns []int, row []model.Value) (_ []byte, err error) {
	for _, c := range columns {
		if dst, err = appendKey(dst, &l.columns[c], row[c]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (l *layout) appendRowKey(dst []byte, row []model.Value) ([]byte, error) {
	return l.appendColumns(appendSpace(dst, l.space), l.key, row)
}

func (l *layout) appendCells(dst []byte, columns []int, row []model.Value) (_ []byte, err error) {
	for _, c := range columns {
		if dst, err = appendCell(dst, &l.columns[c], row[c]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (l *layout) appendRow(dst []byte, row []model.Value) ([]byte, error) {
	if l.tagged {
		dst = append(dst, rowTag)
	}
	return l.appendCells(dst, l.rest, row)
}

// byValue reports whether a row's entry has the primary key in its value: the
// index is unique, and the row has no NULL in its columns, which equals nothing.
func (ix *indexLayout) byValue(row []model.Value) bool {
	return ix.index.Unique && !slices.ContainsFunc(ix.columns, func(c int) bool { return row[c].IsNull() })
}

func (l *layout) appendEntryKey(dst []byte, ix *indexLayout, row []model.Value) ([]byte, error) {
	dst, err := l.appendColumns(appendSpace(dst, ix.space), ix.columns, row)
	if err != nil || ix.byValue(row) {
		return dst, err
	}
	return l.appendColumns(dst, l.key, row)
}

func (l *layout) appendEntry(key, value []byte, ix *indexLayout, row []model.Value) ([]byte, []byte, error) {
	key, err := l.appendEntryKey(key, ix, row)
	if err == nil && ix.byValue(row) {
		value, err = l.appendColumns(value, l.key, row)
	}
	if err == nil {
		value, err = l.appendCells(value, ix.include, row)
	}
	return key, value, err
}

// splitEntry decodes the index columns of an entry into row and returns its
// encoded primary key and included columns.
func (l *layout) splitEntry(ix *indexLayout, it Iter, row []model.Value,
	arena *[]byte) (key, include []byte, err error) {
	if key, err = l.decodeColumns(it.Key()[2:], ix.columns, row, arena); err != nil {
		return nil, nil, err
	}
	if len(key) > 0 && len(ix.include) == 0 {
		return key, nil, nil
	}
	value, err := it.Value()
	if err != nil || len(key) > 0 {
		return key, value, err
	}
	include, err = l.decodeColumns(value, l.key, row, arena)
	return value[:len(value)-len(include)], include, err
}

// decodeColumns decodes the first columns of a key into row and returns the
// rest.
func (l *layout) decodeColumns(key []byte, columns []int, row []model.Value, arena *[]byte) (_ []byte, err error) {
	for _, c := range columns {
		if row[c], key, err = decodeKey(key, &l.columns[c], arena); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// decodeCells decodes the cells of columns into row and returns the rest.
func (l *layout) decodeCells(value []byte, columns []int, row []model.Value) (_ []byte, err error) {
	for _, c := range columns {
		if row[c], value, err = decodeCell(value, &l.columns[c]); err != nil {
			return nil, err
		}
	}
	return value, nil
}

// hides reports whether a stored value is not a row, but the remains of
// operands on a row that does not exist.
func (l *layout) hides(value []byte) bool { return l.tagged && !IsRow(value) }

// decodeRow decodes a stored row into row, which has an element per column.
func (l *layout) decodeRow(key, value []byte, row []model.Value, arena *[]byte) error {
	if _, err := l.decodeColumns(key[2:], l.key, row, arena); err != nil {
		return err
	}
	if l.tagged {
		value = value[1:]
	}
	_, err := l.decodeCells(value, l.rest, row)
	return err
}

// covers reports whether entries of the index (nil: the table) hold the columns.
func (l *layout) covers(ix *indexLayout, columns []int) bool {
	missing := func(c int) bool {
		return !slices.Contains(ix.columns, c) && !slices.Contains(l.key, c) && !slices.Contains(ix.include, c)
	}
	return ix == nil || !slices.ContainsFunc(columns, missing)
}

// Spaces returns how many spaces a schema has, which are numbered from 0: the
// catalog, and one for each table and index.
func Spaces(s model.Schema) int {
	n := 1
	for i := range s.Tables {
		n += 1 + len(s.Tables[i].Indexes)
	}
	return n
}

// LongestKey returns the table or index with the longest keys, and how many bytes
// they can have, their space included.
func LongestKey(s model.Schema) (object string, bytes int, err error) {
	_, tables, err := newLayouts(s)
	for _, l := range tables {
		row := l.longest(l.key)
		if row > bytes {
			object, bytes = l.table.Name, row
		}
		for _, ix := range l.indexes {
			if n := l.longest(ix.columns) + row; n > bytes { // both count a space, an entry has one
				object, bytes = l.table.Name+"."+ix.index.Name, n-SpaceLen
			}
		}
	}
	return object, bytes, err
}

// SpaceLen is the length of the space at the beginning of each key.
const SpaceLen = 2

// SpaceOf returns the space of a key, see Spaces.
func SpaceOf(key []byte) int { return int(binary.BigEndian.Uint16(key)) }

// unlimited is more than any key has.
const unlimited = math.MaxInt32

// longest returns the length of the longest key of some columns, see appendKey.
func (l *layout) longest(columns []int) int {
	n := SpaceLen
	for _, i := range columns {
		c := &l.columns[i]
		if !c.NotNull {
			n++
		}
		switch {
		case c.Type == model.UUID:
			n += uuidLen
		case !c.Type.IsText():
			n += 8
		case c.Width == 0:
			n += unlimited
		default:
			n += 2*c.Width + 2 // each byte may have to be escaped
		}
	}
	return n
}
