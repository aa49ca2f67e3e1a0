package rocksdb

import "encoding/binary"

// batch is a write batch in RocksDB's own form, which the library takes whole: a
// sequence number that it sets, the number of records, and the records.
type batch struct {
	bytes    []byte
	count    uint32
	families bool
}

// A kind of records: its number without a family and with one.
type kind struct{ plain, family byte }

var (
	deletion       = kind{0, 4}
	put            = kind{1, 5}
	merge          = kind{2, 6}
	singleDeletion = kind{7, 8}
)

const batchHeader = 12

func (b *batch) reset() {
	b.bytes, b.count = append(b.bytes[:0], make([]byte, batchHeader)...), 0
}

// key begins a record. The family of a key is its space.
func (b *batch) key(k kind, key []byte) {
	b.count++
	if b.families {
		b.bytes = append(b.bytes, k.family)
		b.bytes = binary.AppendUvarint(b.bytes, uint64(binary.BigEndian.Uint16(key)))
	} else {
		b.bytes = append(b.bytes, k.plain)
	}
	b.text(key)
}

func (b *batch) text(t []byte) {
	b.bytes = append(binary.AppendUvarint(b.bytes, uint64(len(t))), t...)
}

// whole returns the batch with its number of records.
func (b *batch) whole() []byte {
	binary.LittleEndian.PutUint32(b.bytes[8:], b.count)
	return b.bytes
}
