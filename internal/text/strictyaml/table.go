package strictyaml

// Key is a key of a map that becomes a T. Its name, its meaning and its accepted
// values are declared once, for reading files and for their JSON Schema.
type Key[T any] struct {
	Name, Doc string
	Shape     Shape
	Bind      func(f Fields, key string, dst *T) // nil: it is read elsewhere
}

// Valued returns a key with a scalar of type V, which set stores.
func Valued[T, V any](name, doc string, r ScalarOf[V], set func(*T, V)) Key[T] {
	return Key[T]{name, doc, r.Shape, func(f Fields, key string, dst *T) { Bind(f, key, r, func(v V) { set(dst, v) }) }}
}

// Part returns a key that separate code reads.
func Part[T any](name, doc string, shape Shape) Key[T] {
	return Key[T]{Name: name, Doc: doc, Shape: shape}
}

// Table holds the keys of a map, in the order of hints.
type Table[T any] []Key[T]

func (t Table[T]) Names() []string {
	names := make([]string, len(t))
	for i := range t {
		names[i] = t[i].Name
	}
	return names
}

// Bind reads the keys that are not read elsewhere.
func (t Table[T]) Bind(f Fields, dst *T) {
	for i := range t {
		if t[i].Bind != nil {
			t[i].Bind(f, t[i].Name, dst)
		}
	}
}

// Shape returns the shape of a map with these keys and no others.
func (t Table[T]) Shape(required ...string) Shape {
	properties := Shape{}
	for i := range t {
		properties[t[i].Name] = t[i].Shape.With("description", t[i].Doc)
	}
	s := Shape{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// Within returns the keys of a part of a T as keys of the whole.
func Within[T, P any](t Table[P], value func(*T) *P) Table[T] {
	out := make(Table[T], len(t))
	for i, k := range t {
		out[i] = Key[T]{Name: k.Name, Doc: k.Doc, Shape: k.Shape}
		if k.Bind != nil {
			out[i].Bind = func(f Fields, key string, dst *T) { k.Bind(f, key, value(dst)) }
		}
	}
	return out
}
