package plan

import "rumbench/internal/text/strictyaml"

// readBinaries reads the program of a target, or several of which each runs a block of trials in turn:
// builds that differ in nothing but the layout of their code.
func (t *bound) readBinaries(b *binder) {
	n, key := t.fields.Value(programKey.Name), programKey.Name
	accept := func(string) error { return nil }
	if n == nil || n.Kind != strictyaml.List {
		t.Config.Server.Binary = b.paths.read(t.fields, key, accept)
		return
	}
	t.fields.Words(key, "as in binary: [bin/one, bin/two]", nil)
	for _, item := range n.Items {
		if item.Kind == strictyaml.Scalar && item.Text != "" {
			t.Binaries = append(t.Binaries, b.paths.take(t.fields.In, item, key, accept))
		}
	}
	if len(t.Binaries) > 0 {
		t.Config.Server.Binary = t.Binaries[0]
	}
}

// Programs returns the programs that the plan names for a target.
func (t *Target) Programs() []string {
	if len(t.Binaries) > 0 {
		return t.Binaries
	}
	return []string{t.Config.Server.Binary}
}
