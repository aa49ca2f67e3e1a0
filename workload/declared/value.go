package declared

import (
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload/gen"
)

// env holds the inputs from which values are computed. Each client has one.
type env struct {
	src  gen.Source    // of the draws
	row  int64         // the row whose columns are computed
	vars []model.Value // drawn, and carried from earlier statements
	text []byte        // memory of texts
	err  error         // error of a value that does not fit its column
}

// wrong returns the error of a value that a column cannot hold.
func (e *env) wrong() error {
	if e.err == nil {
		return nil
	}
	return engine.Classify(engine.Fatal, e.err)
}

// value is a compiled value. One of the functions is set, by its type.
type value struct {
	typ  model.Type
	num  func(*env) int64   // Int and Time
	real func(*env) float64 // Float
	text func(*env) []byte  // String and Bytes: the text that it appended to env.text
	// fixed is whether the value is always the same.
	fixed bool
	// late is whether it depends on a value returned by an earlier statement.
	late bool
	// mean and limit are the mean and maximum bytes of a text, or the mean and maximum of
	// an Int; 0: unknown.
	mean  float64
	limit int64
	// chosen are the rows of which the value is the number of an existing one; nil: none.
	chosen *rowState
	// rowOf returns the row in which the column has this value, if known.
	rowOf func(int64) int64
	// proven is whether it is a text that begins with its checksum, json whether it is an
	// object, and escapes whether it may contain characters that JSON forbids in a text.
	proven, json, escapes bool
}

// get computes the value.
func (v *value) get(e *env) model.Value {
	switch v.typ {
	case model.Int:
		return model.IntValue(v.num(e))
	case model.Time:
		return model.MicrosValue(v.num(e))
	case model.Float:
		return model.FloatValue(v.real(e))
	}
	return model.BufValue(v.typ, v.text(e))
}

// size returns its mean size in bytes.
func (v *value) size() float64 {
	if v.typ.IsText() {
		return v.mean
	}
	return 8
}

// derived returns an Int that is computed from the value. Properties of the value do not
// carry over.
func (v value) derived(num func(*env) int64) value {
	return value{typ: model.Int, late: v.late, num: num}
}

func intOf(n int64) value {
	return value{typ: model.Int, fixed: true, mean: float64(n), limit: n, num: func(*env) int64 { return n }}
}

func floatOf(f float64) value {
	return value{typ: model.Float, fixed: true, real: func(*env) float64 { return f }}
}

func textOf(s string) value {
	b := []byte(s)
	return value{
		typ: model.String, fixed: true, mean: float64(len(b)), limit: int64(len(b)),
		escapes: slices.ContainsFunc(b, mustEscape),
		text:    func(*env) []byte { return b },
	}
}

// drawn returns the value of a distribution.
func drawn(d gen.Distribution) value {
	return value{typ: model.Int, num: func(e *env) int64 { return d.Draw(&e.src) }}
}

// float returns an Int or Float value as a Float.
func (v value) float() value {
	if v.typ == model.Int {
		n := v.num
		v.typ, v.num, v.real = model.Float, nil, func(e *env) float64 { return float64(n(e)) }
	}
	return v
}

// within returns the value as it is stored in a column. A number that does not fit the
// column is an error of the environment.
func (v value) within(dst *model.Column) value {
	name := dst.Name
	switch {
	case v.fixed:
	case dst.Type == model.Int && dst.Width == 4:
		subject := v.num
		v.num = func(e *env) int64 {
			n := subject(e)
			if n != int64(int32(n)) {
				e.err = hint.Errorf("give it type: int64", "column %s is an int32, and cannot hold %d", name, n)
			}
			return n
		}
	case dst.Type == model.Float:
		subject := v.real
		v.real = func(e *env) float64 {
			f := subject(e)
			if !quantity.Finite(f) {
				e.err = hint.Errorf("a quotient of something and 0 is none", "column %s holds finite numbers, and not %v", name, f)
			}
			return f
		}
	}
	return v
}

// fits returns why a column cannot hold the value, with a hint; nil: it can, or this is
// unknown.
func (v value) fits(dst *model.Column) error {
	switch {
	case dst.Type == model.Int && dst.Width == 4 && (v.limit > math.MaxInt32 || v.fixed && v.num(nil) < math.MinInt32):
		return hint.Errorf("give the column type: int64", "a value may be %d, and column %s is an int32", v.limit, dst.Name)
	case dst.Type.IsText() && v.limit > int64(dst.Width):
		return hint.Errorf("raise the column's max", "a value has up to %d bytes, and column %s at most %d", v.limit,
			dst.Name, dst.Width)
	}
	return nil
}

func isNumber(t model.Type) bool { return t == model.Int || t == model.Float }

// cut truncates a number. On every processor, numbers that are too large become the
// largest one, and NaN becomes 0.
func cut(f float64) int64 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// as converts the value to another type; ok is whether that is possible.
func (v value) as(t model.Type) (_ value, ok bool) {
	switch {
	case v.typ == t:
	case v.typ == model.Int && t == model.Float:
		return v.float(), true
	case v.typ == model.Float && t == model.Int && v.fixed:
		return intOf(cut(v.real(nil))), true
	case v.typ == model.Float && t == model.Int:
		f := v.real
		v.typ, v.real, v.num = t, nil, func(e *env) int64 { return cut(f(e)) }
	case v.typ == model.String && t == model.Bytes, v.typ == model.Int && t == model.Time:
		v.typ = t
	default:
		return v, false
	}
	return v, true
}

// slot is a name that values may use.
type slot struct {
	at    int // position in env.vars
	typ   model.Type
	late  bool
	limit int64
	// chosen are the rows of which the name is the number of an existing one; nil: none.
	chosen *rowState
	proven bool // it is a text that begins with its checksum
}

// value returns the value in the slot.
func (s slot) value() value {
	index := s.at
	v := value{typ: s.typ, late: s.late, limit: s.limit, chosen: s.chosen, proven: s.proven, escapes: true}
	switch s.typ {
	case model.Float:
		v.real = func(e *env) float64 { return e.vars[index].Float() }
	case model.String, model.Bytes, model.UUID:
		v.text = func(e *env) []byte { return e.vars[index].Buf() }
	default:
		v.num = func(e *env) int64 { return e.vars[index].Int() }
	}
	return v
}

// mustEscape reports whether JSON forbids a character in a text unless it is escaped.
func mustEscape(c byte) bool { return c < ' ' || c == '"' || c == '\\' }

// append appends a text to the environment's, if computing it has not.
func (v *value) append(e *env) {
	position := len(e.text)
	if text := v.text(e); len(e.text) == position {
		e.text = append(e.text, text...)
	}
}

// known reports whether the greatest value is known.
func known(v value) bool { return v.fixed || v.limit != 0 }

// columnType is a type in files.
type columnType struct {
	name    string
	subject model.Type
	width   int
}

// types are the columns' types in files.
var types = []columnType{
	{"int32", model.Int, 4}, {"int64", model.Int, 0}, {"float", model.Float, 0},
	{"timestamp", model.Time, 0}, {"text", model.String, 0}, {"bytes", model.Bytes, 0},
	{"uuid", model.UUID, 0},
}

func typeNames() []string { return quantity.Texts(types, func(t columnType) string { return t.name }) }

// typeName returns the type of a column, as files name it.
func typeName(c *model.Column) string {
	i := slices.IndexFunc(types, func(t columnType) bool {
		return t.subject == c.Type && (t.width == 0 || t.width == c.Width)
	})
	if i < 0 {
		return c.Type.String()
	}
	return types[i].name
}

// nameOf returns a type as files name it.
func nameOf(t model.Type) string { return typeName(&model.Column{Type: t}) }
