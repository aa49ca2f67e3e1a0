package rocksdb

import (
	"encoding/binary"

	"rumbench/engine/kvkit"
)

// batch is a write batch in RocksDB's own format, which the library accepts as a whole: a
// sequence number that the library sets, the number of records, and the records.
type batch struct {
	bytes    []byte
	count    uint32
	changes  bool // it contains more than puts
	families bool
}

// The kinds of records, without and with the name of a family.
const (
	deletion       = 0
	put            = 1
	merge          = 2
	singleDeletion = 7
	rangeDeletion  = 15
)

var inFamily = [...]byte{deletion: 4, put: 5, merge: 6, singleDeletion: 8, rangeDeletion: 14}

const batchHeader = 12

func (b *batch) reset() {
	b.bytes, b.count, b.changes = append(b.bytes[:0], make([]byte, batchHeader)...), 0, false
}

// add adds a record: a key, whose space is its family, and the rest of a record of that
// kind: a value, or the end of the range.
func (b *batch) add(kind byte, texts ...[]byte) {
	b.count++
	b.changes = b.changes || kind != put
	if b.families {
		b.bytes = binary.AppendUvarint(append(b.bytes, inFamily[kind]), uint64(kvkit.SpaceOf(texts[0])))
	} else {
		b.bytes = append(b.bytes, kind)
	}
	for _, t := range texts {
		b.bytes = append(binary.AppendUvarint(b.bytes, uint64(len(t))), t...)
	}
}

// whole returns the batch with its number of records.
func (b *batch) whole() []byte {
	binary.LittleEndian.PutUint32(b.bytes[8:], b.count)
	return b.bytes
}
