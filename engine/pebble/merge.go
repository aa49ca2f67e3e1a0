package pebble

import (
	"bytes"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"rumbench/engine/kvkit"
)

// newMerger returns the operator as Pebble calls it.
func newMerger(o *kvkit.Operator) *pebble.Merger {
	return &pebble.Merger{Name: o.Name(), Merge: func(key, value []byte) (pebble.ValueMerger, error) {
		return &merge{operator: o, key: bytes.Clone(key), values: [][]byte{bytes.Clone(value)}}, nil
	}}
}

// merge collects the values of a key. Pebble does not distinguish operands from the row
// below them; the operator does.
type merge struct {
	operator *kvkit.Operator
	key      []byte
	values   [][]byte
	older    bool // values are in reverse
}

func (m *merge) MergeNewer(value []byte) error {
	m.values = append(m.values, bytes.Clone(value))
	return nil
}

func (m *merge) MergeOlder(value []byte) error {
	m.older = true
	return m.MergeNewer(value)
}

func (m *merge) Finish(base bool) ([]byte, io.Closer, error) {
	value, _, closer, err := m.DeletableFinish(base)
	return value, closer, err
}

// DeletableFinish removes operands without a row.
func (m *merge) DeletableFinish(base bool) ([]byte, bool, io.Closer, error) {
	if m.older {
		slices.Reverse(m.values)
	}
	value, there, err := m.operator.Merge(nil, m.key, base, m.values...)
	return value, !there, nil, err
}
