package model

import "cmp"

// Comparison is how a condition compares a column with its argument.
type Comparison uint8

// The comparisons.
const (
	Equals      Comparison = iota
	AtLeast                // the argument or more; not of Bytes, which not every database orders byte by byte
	AtMost                 // the argument or less; not of Bytes either
	ShorterThan            // a String or Bytes column of fewer bytes than the argument, an Int
)

// Condition compares a column of a row with an argument, which has the column's
// type unless the comparison requires a different one. NULL meets no condition.
type Condition struct {
	Column string
	Is     Comparison
}

// Holds reports whether a value of the column meets the condition.
func (c Condition) Holds(v, arg Value) bool {
	if v.IsNull() || arg.IsNull() {
		return false
	}
	switch c.Is {
	case AtLeast:
		return v.Compare(arg) >= 0
	case AtMost:
		return v.Compare(arg) <= 0
	case ShorterThan:
		return int64(len(v.buf)) < arg.num
	}
	return v.Compare(arg) == 0
}

func (c Condition) validate(t *Table) error {
	positions, err := t.Positions([]string{c.Column})
	if err != nil {
		return err
	}
	typ := t.Columns[positions[0]].Type
	return cmp.Or(
		refuse(c.Is > ShorterThan, "unknown comparison %d", c.Is),
		refuse(c.Is == ShorterThan && typ != String && typ != Bytes, "column %s of type %s has no length", c.Column, typ),
		refuse((c.Is == AtLeast || c.Is == AtMost) && typ == Bytes, "column %s of type %s has no order", c.Column, typ))
}
