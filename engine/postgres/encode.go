package postgres

import (
	sqldriver "database/sql/driver"
	"encoding/binary"
	"fmt"
	"math"
)

// The types that the engine's columns and aggregates have, by their numbers in
// the server's catalog.
const (
	oidBytes     = 17
	oidInt8      = 20
	oidInt4      = 23
	oidText      = 25
	oidFloat8    = 701
	oidTimestamp = 1114
	oidNumeric   = 1700
)

// The formats of values on the wire.
const (
	textFormat   = 0
	binaryFormat = 1
)

// formatOf is how a column is returned. What is not known here comes as text,
// and so do sums of integers, which are of any length.
func formatOf(oid uint32) int16 {
	switch oid {
	case oidBytes, oidInt8, oidInt4, oidText, oidFloat8, oidTimestamp:
		return binaryFormat
	}
	return textFormat
}

// epoch is the server's, 2000-01-01, in microseconds since 1970.
const epoch = 946_684_800_000_000

// appendArgument appends an argument as the type of its placeholder is written.
func appendArgument(b []byte, oid uint32, v sqldriver.Value) ([]byte, error) {
	switch x := v.(type) {
	case int64:
		return appendInt(b, oid, x)
	case float64:
		return appendFloat(b, oid, x)
	case string:
		if oid == oidText || oid == oidBytes {
			return append(b, x...), nil
		}
	case []byte:
		if oid == oidText || oid == oidBytes {
			return append(b, x...), nil
		}
	}
	return nil, fmt.Errorf("a %T cannot be given for a column of type %d", v, oid)
}

// appendInt writes an integer, or microseconds since 1970 for a time.
func appendInt(b []byte, oid uint32, n int64) ([]byte, error) {
	switch oid {
	case oidInt8:
		return binary.BigEndian.AppendUint64(b, uint64(n)), nil
	case oidInt4:
		if int64(int32(n)) != n {
			return nil, fmt.Errorf("%d does not fit into a column of 4 bytes", n)
		}
		return binary.BigEndian.AppendUint32(b, uint32(n)), nil
	case oidTimestamp:
		if n < math.MinInt64+epoch {
			return nil, fmt.Errorf("the time %d µs before 1970 is out of range", -n)
		}
		return binary.BigEndian.AppendUint64(b, uint64(n-epoch)), nil
	}
	return nil, fmt.Errorf("a number cannot be given for a column of type %d", oid)
}

func appendFloat(b []byte, oid uint32, f float64) ([]byte, error) {
	if oid != oidFloat8 {
		return nil, fmt.Errorf("a float cannot be given for a column of type %d", oid)
	}
	return binary.BigEndian.AppendUint64(b, math.Float64bits(f)), nil
}

// decode reads a value. Text and bytes share the memory of what was read.
func decode(b []byte, oid uint32) (sqldriver.Value, error) {
	if b == nil {
		return nil, nil
	}
	switch oid {
	case oidInt8, oidFloat8, oidTimestamp:
		if len(b) != 8 {
			return nil, fmt.Errorf("%d bytes for a value of 8", len(b))
		}
		n := binary.BigEndian.Uint64(b)
		switch oid {
		case oidFloat8:
			return math.Float64frombits(n), nil
		case oidTimestamp:
			return int64(n) + epoch, nil
		}
		return int64(n), nil
	case oidInt4:
		if len(b) != 4 {
			return nil, fmt.Errorf("%d bytes for a value of 4", len(b))
		}
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	}
	return b, nil
}
