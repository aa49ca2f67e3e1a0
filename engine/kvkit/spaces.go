package kvkit

import (
	"encoding/binary"
	"math"

	"rumbench/model"
)

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
