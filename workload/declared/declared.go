package declared

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
)

// Workload is a workload that a file declares.
type Workload struct {
	root *strictyaml.Node
	info workload.Info
	// wrong holds unusable parameters, which have been reported.
	wrong map[string]bool
}

// Read reads a workload from the content of a file. The error has the type hint.Problems.
func Read(file string, content []byte) (*Workload, error) {
	d := document()
	root := d.ReadFile(file, content)
	if root == nil || len(d.Problems) > 0 {
		return nil, d.Problems
	}
	return Of(root)
}

// Of returns the workload of a map in a file. It checks the map with the default
// parameters and with each preset, and refuses unused declarations.
func Of(root *strictyaml.Node) (*Workload, error) {
	w, err := compile(root)
	if err != nil {
		return nil, err
	}
	if ps := w.unused(); len(ps) > 0 {
		return nil, ps
	}
	return w, nil
}

func compile(root *strictyaml.Node) (*Workload, error) {
	w := &Workload{root: root, wrong: map[string]bool{}}
	d := document()
	w.readInfo(&d)
	for i, preset := range append([]workload.Preset{{}}, w.info.Presets...) {
		if i > 0 && len(d.Problems) > 0 {
			break // presets would repeat them
		}
		p, err := w.info.Resolve(preset.Name, nil)
		if err == nil {
			_, err = w.New(p)
		}
		if ps, ok := errors.AsType[hint.Problems](err); ok {
			for _, p := range ps {
				if i > 0 {
					p.Reason = "with preset " + preset.Name + ", " + p.Reason
				}
				d.Problems = append(d.Problems, p)
			}
		}
	}
	if len(d.Problems) > 0 {
		strictyaml.SortProblems(d.Problems)
		return nil, dedupe(d.Problems)
	}
	return w, nil
}

// Info implements workload.Workload.
func (w *Workload) Info() workload.Info { return w.info }

// New implements workload.Workload. The error about a file that does not fit its
// parameters has the type hint.Problems.
func (w *Workload) New(p workload.Params) (workload.Run, error) {
	r, err := w.run(p)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (w *Workload) run(p workload.Params) (*run, error) { return w.limited(p, 0) }

// limited returns a run whose loads insert at most limit rows; 0: no limit.
func (w *Workload) limited(p workload.Params, limit int64) (*run, error) {
	c := w.compiler(p)
	c.limit = limit
	r := c.run(w.root)
	if len(c.Problems) > 0 {
		strictyaml.SortProblems(c.Problems)
		return nil, dedupe(c.Problems)
	}
	return r, nil
}

func (w *Workload) compiler(p workload.Params) *compiler {
	return &compiler{Document: document(), info: w.info, params: p, wrong: w.wrong}
}

// dedupe removes repeated problems: a value may be compiled more than once.
func dedupe(ps hint.Problems) hint.Problems {
	return slices.CompactFunc(ps, func(a, b hint.Problem) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Reason == b.Reason
	})
}

// readInfo reads the properties that a plan needs.
func (w *Workload) readInfo(d *strictyaml.Document) {
	f := d.Fields(w.root, "the workload", fileKeys.Names())
	strictyaml.Bind(f, "name", strictyaml.OneLine, func(v string) { w.info.Name = v })
	strictyaml.Bind(f, "doc", strictyaml.Prose, func(v string) { w.info.Doc = v })
	for _, name := range []string{"name", "tables", "steps"} {
		if w.root.Get(name) == nil {
			d.At(w.root, "the workload has no "+name, "the least workload is: "+d.Least)
		}
	}
	if w.info.Doc == "" {
		w.info.Doc = "A workload from a file."
	}
	if n := f.Value("params"); n != nil &&
		d.Is(n, strictyaml.Mapping, "params is a map of names", "as in {rows: {default: 100k}}") {
		for _, e := range n.Entries {
			w.readParam(d, e)
		}
	}
	w.info.Params = append(w.info.Params, checkParam)
	for _, e := range entries(d, f.Value("presets"), "presets is a map of names", "as in {quick: {rows: 10k}}") {
		w.readPreset(d, e)
	}
	if len(w.info.Presets) == 0 {
		w.info.Presets = []workload.Preset{{Name: "default", Doc: "The parameters' defaults."}}
	}
}

func (w *Workload) readParam(d *strictyaml.Document, e strictyaml.Entry) {
	f := d.Fields(e.Value, "parameter "+e.Key.Text, paramKeys.Names())
	p := workload.Param{Name: e.Key.Text, Type: workload.IntParam}
	w.wrong[p.Name] = true
	previous := len(d.Problems)
	defer func() {
		if len(d.Problems) == previous {
			delete(w.wrong, p.Name)
		}
	}()
	if e.Value.Kind != strictyaml.Mapping && !e.Value.IsNull() {
		return
	}
	strictyaml.Bind(f, "type", strictyaml.OneOf(paramTypes...), func(v string) { p.Type = workload.ParamType(v) })
	strictyaml.Bind(f, "doc", strictyaml.Prose, func(v string) { p.Doc = v })
	strictyaml.Bind(f, "unit", strictyaml.OneLine, func(v string) { p.Unit = strings.Replace(v, "seconds", "s", 1) })
	number := strictyaml.NewScalar(func(n *strictyaml.Node) (float64, error) {
		if v, ok := strictyaml.Number(n); ok {
			return v, nil
		}
		return 0, hint.Errorf("", "%q is not a number", n.Text)
	}, nil)
	strictyaml.Bind(f, "min", number, func(v float64) { p.Min = v })
	strictyaml.Bind(f, "max", number, func(v float64) { p.Max = v })
	p.Enum = f.Words("of", "the allowed texts", nil)
	documented := p.Doc != ""
	if !documented {
		p.Doc = "no description"
	}
	n := f.Value("default")
	if n == nil {
		d.At(e.Key, "parameter "+p.Name+" has no default", "as in {default: 100k, doc: rows before the run}")
		return
	}
	switch {
	case slices.Contains(reserved, p.Name):
		d.At(e.Key, p.Name+" cannot be the name of a parameter: it means something else", "choose another name")
	case !isName(p.Name):
		d.At(e.Key, fmt.Sprintf("%q cannot be the name of a parameter", p.Name), "letters, digits and _")
	}
	v, err := p.Parse(n.Plain(p.Type == workload.StringParam))
	switch {
	case len(d.Problems) > previous:
		return
	case err != nil && !documented && len(p.Enum) == 0:
		d.At(n, err.Error(), "")
		return
	case err != nil:
		d.At(n, err.Error(), hint.Of(err))
		return
	}
	p.Default = v
	w.info.Params = append(w.info.Params, p)
}

func (w *Workload) readPreset(d *strictyaml.Document, e strictyaml.Entry) {
	preset := workload.Preset{Name: e.Key.Text, Doc: "Preset " + e.Key.Text + ".", Values: map[string]any{}}
	known := append([]string{"doc"}, quantity.Texts(w.info.Params, func(p workload.Param) string { return p.Name })...)
	f := d.Fields(e.Value, "preset "+preset.Name, known)
	strictyaml.Bind(f, "doc", strictyaml.Prose, func(v string) { preset.Doc = v })
	for _, p := range w.info.Params {
		n := f.Value(p.Name)
		if n == nil {
			continue
		}
		v, err := p.Parse(n.Plain(p.Type == workload.StringParam))
		if err != nil {
			d.At(n, err.Error(), hint.Of(err))
			continue
		}
		preset.Values[p.Name] = v
	}
	w.info.Presets = append(w.info.Presets, preset)
}

// run compiles the file, and so checks it.
func (c *compiler) run(root *strictyaml.Node) *run {
	c.readNames(root.Get("tables"))
	c.readValues(root.Get("values"))
	survey{c}.loads(root.Get("steps"))
	survey{c}.operations(root.Get("operations"))
	for i, t := range c.tables {
		r := tableReader{c, t}
		r.read(root.Get("tables").Entries[i])
	}
	ops := c.readOperations(root.Get("operations"))
	r := &run{tables: c.tables, root: root, params: c.params, info: c.info, done: map[string]int64{}}
	r.all = c.readSteps(root.Get("steps"), ops)
	r.openers()
	checks := checkReader{c, ops}
	r.checks = checks.read(root.Get("checks"))
	for _, t := range c.tables {
		r.schema.Tables = append(r.schema.Tables, *t.Table)
	}
	ops = slices.DeleteFunc(ops, func(o *operation) bool { return !r.does(o.name) })
	r.speaks = speaks(ops)
	if slices.ContainsFunc(c.tables, func(t *tableDef) bool {
		return slices.ContainsFunc(t.Indexes, func(ix model.Index) bool { return ix.Unique })
	}) {
		r.needs = append(r.needs, model.CapUnique)
	}
	if slices.ContainsFunc(ops, func(o *operation) bool { return o.atomic }) {
		r.needs = append(r.needs, model.CapTransactions)
	}
	return r
}

// unused reports declarations that nothing in the file uses: most of them are mistakes.
func (w *Workload) unused() hint.Problems {
	p, _ := w.info.Resolve("", nil) // there always are defaults
	c := w.compiler(p)
	c.used = map[string]bool{}
	c.run(w.root)
	for _, section := range []struct{ section, reason, help string }{
		{"params", "nothing uses parameter ", "use it by its name, or remove it"},
		{"values", "nothing uses value ", "use it by its name, or remove it"},
		{"operations", "no group does operation ", "name it in a group's do, mix or sequence, or remove it"},
		{"tables", "nothing inserts rows into table ",
			"as in {load: TABLE, rows: 100k}; rows: 0 is possible where an earlier run has left rows"},
	} {
		if n := w.root.Get(section.section); n != nil {
			for _, e := range n.Entries {
				if !c.used[section.section+"."+e.Key.Text] {
					c.At(e.Key, section.reason+e.Key.Text, section.help)
				}
			}
		}
	}
	strictyaml.SortProblems(c.Problems)
	return c.Problems
}
