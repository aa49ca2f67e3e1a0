package plan

// key is a key of a map that becomes a T. Its name, its meaning and what it accepts
// are declared once, for reading plans and for their JSON Schema.
type key[T any] struct {
	name, doc string
	shape     schema
	bind      func(f fields, key string, to *T) // nil: it is read elsewhere
}

// valued returns a key with a scalar of type V, and how that is set.
func valued[T, V any](name, doc string, r scalarOf[V], set func(*T, V)) key[T] {
	return key[T]{name, doc, r.shape, func(f fields, key string, to *T) {
		bind(f, key, r, func(v V) { set(to, v) })
	}}
}

// part returns a key that is read by code of its own.
func part[T any](name, doc string, shape schema) key[T] {
	return key[T]{name: name, doc: doc, shape: shape}
}

// table holds the keys of a map, in the order in which hints list them.
type table[T any] []key[T]

func (t table[T]) names() []string {
	names := make([]string, len(t))
	for i := range t {
		names[i] = t[i].name
	}
	return names
}

// bind reads the keys that are not read elsewhere.
func (t table[T]) bind(f fields, to *T) {
	for i := range t {
		if t[i].bind != nil {
			t[i].bind(f, t[i].name, to)
		}
	}
}

// shape returns the shape of a map with these keys and no others.
func (t table[T]) shape(required ...string) schema {
	properties := schema{}
	for i := range t {
		properties[t[i].name] = t[i].shape.with("description", t[i].doc)
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// within returns the keys of a part of a T as keys of the whole.
func within[T, P any](t table[P], of func(*T) *P) table[T] {
	out := make(table[T], len(t))
	for i, k := range t {
		out[i] = key[T]{k.name, k.doc, k.shape, func(f fields, key string, to *T) { k.bind(f, key, of(to)) }}
	}
	return out
}
