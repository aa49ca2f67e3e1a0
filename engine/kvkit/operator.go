package kvkit

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"rumbench/model"
)

// In a database whose rows are merged, the value of a row is
//
//	rowTag, then a cell per column outside of the primary key, in order
//
// and an operand is one or more records, which are applied in order:
//
//	setTag, ordinal, cell                   the column becomes the cell
//	addTag, ordinal, cell                   the cell is added to the column
//	upsertTag, all cells, n, n × ordinal    no row: the cells become the row; else
//	                                        those at the ordinals are added to the
//	                                        row's
//
// A tag is a byte. An ordinal (0 for the first cell of a row) and n are unsigned
// LEB128 varints. The first byte distinguishes a row from an operand, so that an
// operator may be handed any mixture, oldest first; operands without a row are
// concatenated. Set and add records of a row that does not exist do nothing: if
// there is nothing but those, the result is no row (Pebble deletes it; an operator
// that has to return a value returns the operands, which are hidden, see IsRow).
//
// The form of a cell follows from its column, a letter in Operator.Formats:
//
//	i  4-byte integer: big-endian, its sign bit flipped
//	q  8-byte integer, the same
//	t  time: as q
//	d  double: its bits as a big-endian integer; all flipped if negative, else the sign bit
//	s  text or bytes: unsigned varint of the length, then the bytes
//
// A capital letter is a column that may be NULL: the cell begins with a byte, 0x00
// for NULL, which ends it, or 0x01. Only q and d can be added to. NULL counts as zero:
// x + NULL = x, NULL + x = x. Integers wrap around. A sum of doubles is rounded
// after each addition, so operands must not be added up beforehand; -0 becomes 0,
// and a sum that is not a number becomes NULL, or leaves a column without NULL
// as it is.
const (
	rowTag    = 0x00
	setTag    = 0x01
	addTag    = 0x02
	upsertTag = 0x03
)

// IsRow reports whether a value in a database of merged rows is a row, and not
// the remains of operands on a row that does not exist.
func IsRow(value []byte) bool { return len(value) > 0 && value[0] == rowTag }

// canAddTo reports whether an operator can add to the columns. It cannot add to
// narrow ones, whose sum may not fit: that must fail.
func (l *layout) canAddTo(columns []int) bool {
	return !slices.ContainsFunc(columns, func(c int) bool { return isNarrow(&l.columns[c]) })
}

func isNarrow(c *model.Column) bool { return c.Type == model.Int && c.Width == 4 }

// canAdd is canAddTo for the columns that assignments add to.
func (l *layout) canAdd(set []model.Assign) bool {
	return !slices.ContainsFunc(set,
		func(a model.Assign) bool { return a.Add && isNarrow(&l.columns[l.table.Column(a.Column)]) })
}

// appendChanges appends the operand of an update.
func (l *layout) appendChanges(dst []byte, set []model.Assign, columns []int,
	values []model.Value) (_ []byte, err error) {
	for i, c := range columns {
		tag := byte(setTag)
		if set[i].Add {
			tag = addTag
		}
		dst = binary.AppendUvarint(append(dst, tag), uint64(slices.Index(l.rest, c)))
		if dst, err = appendCell(dst, &l.columns[c], values[i]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendUpsert appends the operand that inserts a row, or adds its columns add to
// those of the existing row.
func (l *layout) appendUpsert(dst []byte, row []model.Value, add []int) ([]byte, error) {
	dst, err := l.appendCells(append(dst, upsertTag), l.rest, row)
	if err != nil {
		return dst, err
	}
	dst = binary.AppendUvarint(dst, uint64(len(add)))
	for _, c := range add {
		dst = binary.AppendUvarint(dst, uint64(slices.Index(l.rest, c)))
	}
	return dst, nil
}

// Operator applies operands to the rows of a schema.
type Operator struct {
	name   string
	tables map[uint16]*layout
}

func NewOperator(s model.Schema) (*Operator, error) {
	_, tables, err := newLayouts(s)
	if err != nil {
		return nil, err
	}
	o := &Operator{tables: map[uint16]*layout{}}
	hash := fnv.New64a()
	for _, l := range tables {
		o.tables[l.space] = l
		fmt.Fprintln(hash, l.space, l.definition())
	}
	o.name = fmt.Sprintf("rumbench.rows.%016x", hash.Sum64())
	return o, nil
}

// Name returns a name that differs for schemas with other rows, for stores that
// refuse to open with an operator of another name.
func (o *Operator) Name() string { return o.name }

// Formats returns the forms of the cells of every table by space, the first two
// bytes of a key, big-endian.
func (o *Operator) Formats() map[uint16]string {
	out := map[uint16]string{}
	for space, l := range o.tables {
		var format []byte
		for _, c := range l.rest {
			format = append(format, formatOf(&l.columns[c]))
		}
		out[space] = string(format)
	}
	return out
}

func formatOf(c *model.Column) byte {
	letter := map[model.Type]byte{model.Int: 'q', model.Time: 't', model.Float: 'd', model.String: 's',
		model.Bytes: 's', model.UUID: 's'}[c.Type]
	if isNarrow(c) {
		letter = 'i'
	}
	if !c.NotNull {
		letter -= 'a' - 'A'
	}
	return letter
}

// Merge appends the result of values, which are rows or operands, oldest first. If
// there is no row and none is made, base reports whether all older values are
// known: then there is no result, else the operands are the result.
func (o *Operator) Merge(dst, key []byte, base bool, values ...[]byte) (_ []byte, ok bool, err error) {
	l := o.tables[uint16(SpaceOf(key))]
	if l == nil {
		return dst, false, fmt.Errorf("merge: key %x is not of a table", key)
	}
	if !base && !slices.ContainsFunc(values, IsRow) {
		for _, v := range values {
			dst = append(dst, v...)
		}
		return dst, true, nil
	}
	m := merging{l: l, row: make([]model.Value, len(l.columns)), given: make([]model.Value, len(l.columns))}
	for _, v := range values {
		if err := m.apply(v); err != nil {
			return dst, false, fmt.Errorf("merge into table %s: %w", l.table.Name, err)
		}
	}
	if !m.there {
		return dst, false, nil
	}
	dst, err = l.appendCells(append(dst, rowTag), l.rest, m.row)
	return dst, true, err
}

// merging is a row while values are applied to it. Its text refers to them.
type merging struct {
	l          *layout
	row, given []model.Value
	there      bool
}

func (m *merging) apply(value []byte) (err error) {
	if IsRow(value) {
		m.there = true
		_, err = m.l.decodeCells(value[1:], m.l.rest, m.row)
		return err
	}
	for len(value) > 0 && err == nil {
		tag := value[0]
		value = value[1:]
		switch tag {
		case setTag, addTag:
			value, err = m.change(tag == addTag, value)
		case upsertTag:
			value, err = m.upsert(value)
		default:
			err = fmt.Errorf("unknown tag %#x in an operand", tag)
		}
	}
	return err
}

func (m *merging) change(add bool, value []byte) ([]byte, error) {
	c, value, err := m.ordinal(value)
	if err != nil {
		return nil, err
	}
	v, value, err := decodeCell(value, &m.l.columns[c])
	if add {
		m.add(c, v)
	} else {
		m.row[c] = v
	}
	return value, err
}

func (m *merging) upsert(value []byte) ([]byte, error) {
	given := m.given
	if !m.there {
		given = m.row
	}
	value, err := m.l.decodeCells(value, m.l.rest, given)
	if err != nil {
		return nil, err
	}
	count, value, err := uvarint(value)
	for ; count > 0 && err == nil; count-- {
		var c int
		if c, value, err = m.ordinal(value); err == nil && m.there {
			m.add(c, m.given[c])
		}
	}
	m.there = true
	return value, err
}

// add adds to a column, unless the sum is not a number where there must be one.
func (m *merging) add(c int, v model.Value) {
	if sum := m.row[c].Add(v); !sum.IsNull() || !m.l.columns[c].NotNull {
		m.row[c] = sum
	}
}

// ordinal reads the ordinal of a cell and returns the position of its column.
func (m *merging) ordinal(value []byte) (int, []byte, error) {
	n, value, err := uvarint(value)
	if err == nil && n >= uint64(len(m.l.rest)) {
		err = fmt.Errorf("the row has no cell %d", n)
	}
	if err != nil {
		return 0, nil, err
	}
	return m.l.rest[n], value, nil
}

func uvarint(b []byte) (uint64, []byte, error) {
	n, w := binary.Uvarint(b)
	if w <= 0 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return n, b[w:], nil
}
