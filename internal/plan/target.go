package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
)

// targets reads the targets and checks that each can run the plan.
func (b *binder) targets(f strictyaml.Fields, p *Plan) {
	common := b.Fields(f.Of.Get("common"), "common", commonKeys.Names())
	all := Target{Config: engine.Config{Durability: model.DurabilityProcess}}
	commonKeys.Bind(common, &all)
	readMachine(b, common, &all.Machine)
	var bounds []*bound
	p.Leveled = f.Value("levels") != nil
	for _, n := range leveled(b, f, b.targetNodes(f)) {
		if t := b.target(n, common, all, p); t != nil {
			bounds = append(bounds, t)
		}
	}
	b.checkNames(bounds)
	b.checkData(bounds, p)
	excludeTargets(b, f, bounds, p)
	for _, t := range bounds {
		b.checkEngine(t, p)
		p.Targets = append(p.Targets, t.Target)
	}
}

func (b *binder) targetNodes(f strictyaml.Fields) []*strictyaml.Node {
	n := f.Of.Get("targets")
	switch {
	case n == nil:
		b.At(f.Of, "targets is missing", "a list of engines, as targets: ["+strings.Join(b.cat.EngineNames(), ", ")+"]")
	case n.IsNull():
		b.At(n, "targets has no value", "a list of engines, as targets: [ENGINE]")
	case !b.Is(n, strictyaml.List, "targets must be a list", "put it in brackets, as targets: [ENGINE]"):
	case len(n.Items) == 0:
		b.At(n, "targets is empty", hint.OneOf("", b.cat.EngineNames()))
	default:
		return n.Items
	}
	return nil
}

// target reads one target; it returns nil if its engine is not known.
func (b *binder) target(n *strictyaml.Node, common strictyaml.Fields, all Target, p *Plan) *bound {
	if n.Kind == strictyaml.Broken {
		return nil
	}
	if n.Kind == strictyaml.List || n.Kind == strictyaml.Scalar && n.Text == "" {
		b.At(n, "a target is an engine's name or a map", "as in targets: [ENGINE, {name: NAME, engine: ENGINE, cache: 1GiB}]")
		return nil
	}
	n = asMap(n)
	b.nameNull(n)
	t := &bound{Target: all, node: n, fields: b.Fields(n, "a target", targetKeys.Names()), common: common}
	if t.fields.Of.Get("engine") == nil {
		b.At(n, "engine is missing", hint.OneOf("", b.cat.EngineNames()))
	}
	targetKeys.Bind(t.fields, &t.Target)
	readMachine(b, t.fields, &t.Machine)
	t.readBinaries(b)
	t.Data = b.paths.read(t.fields, "data", checkDirectory)
	if t.fields.Of.Get("name") == nil {
		t.Name = t.Engine
	}
	t.Loader = b.loaders[n]
	dsns := b.dsns(t.fields)
	if len(dsns) > 0 {
		t.Config.Server.DSN, t.Config.Server.Gateways = dsns[0], dsns[1:]
	}
	t.Config.Server.Force = b.force
	t.Config.Options = options(t.fields)
	if t.override(b, p); p.Run != nil {
		t.Config.Schema = p.For(&t.Target).Run.Schema()
	}
	if t.Engine == "" {
		return nil
	}
	e, ok := b.cat.Engine(t.Engine)
	if !ok {
		b.At(t.fields.Value("engine"), fmt.Sprintf("there is no engine %q", t.Engine), engineMeant(b.cat, t.Engine))
		return nil
	}
	t.Knobs = printable(t.Config)
	maps.Copy(t.Knobs, t.Machine.knobs())
	if len(t.Binaries) > 0 {
		t.Knobs[programKey.Name] = strings.Join(t.Binaries, ", ")
	}
	if len(dsns) > 0 {
		show := func(dsn string) string { return engine.ShowDSN(e, dsn) }
		t.Knobs["dsn"] = strings.Join(quantity.Texts(dsns, show), ", ")
		b.attached = append(b.attached, t)
	}
	if info := engine.InfoOf(e, t.Config); len(dsns) > 1 && len(info.Servers) > 0 && !info.Joins {
		b.At(t.dsnNode(), t.Name+": rumbench uses one server of "+t.Engine, "write one dsn")
	}
	return t
}

// nameNull turns a word that means no value in YAML, such as null, into a name
// if an engine has that name.
func (b *binder) nameNull(target *strictyaml.Node) {
	for _, key := range []string{"engine", "name"} {
		if n := target.Get(key); n != nil && n.IsNull() {
			if _, is := b.cat.Engine(n.Text); is {
				n.Value = n.Text
			}
		}
	}
}

func options(f strictyaml.Fields) map[string]any {
	n := f.Of.Get("options")
	if n == nil || n.IsNull() || !f.In.Is(n, strictyaml.Mapping, "options must be a map of keys",
		"write {option: value, …}") {
		return nil
	}
	out := map[string]any{}
	for _, e := range n.Entries {
		v := (strictyaml.Fields{In: f.In, Of: n}).Value(e.Key.Text)
		if v == nil {
			continue
		}
		if text, ok := v.Value.(string); ok && strictyaml.HasControl(text) || strictyaml.HasControl(e.Key.Text) {
			f.In.At(e.Key, fmt.Sprintf("option %q holds a line end or another control character", e.Key.Text),
				"an option is one line of the server's configuration")
			continue
		}
		out[e.Key.Text] = v.Plain(false)
	}
	return out
}

// settings returns pointers to the settings of a configuration, by their keys.
func settings(c *engine.Config) map[string]any {
	return map[string]any{
		"cache": &c.Cache, "compression": &c.Compression, "page": &c.Page, "direct_io": &c.DirectIO,
		"isolation": &c.Isolation, "protocol": &c.Protocol, "durability": &c.Durability, "storage": &c.Storage,
		"server": &c.Server.Kind, "binary": &c.Server.Binary, "image": &c.Server.Image, "schema": &c.Server.Schema,
	}
}

// printable returns the settings in a configuration that are set, and the options.
func printable(c engine.Config) map[string]string {
	out := map[string]string{}
	for key, at := range settings(&c) {
		switch v := reflect.ValueOf(at).Elem(); {
		case v.IsZero():
		case v.Kind() == reflect.Int64:
			out[key] = quantity.FormatSize(v.Int())
		default:
			out[key] = fmt.Sprint(reflect.Indirect(v))
		}
	}
	for k, v := range c.Options {
		text, ok := v.(string)
		if !ok {
			j, _ := json.Marshal(v) // never fails for plain values
			text = string(j)
		}
		out["options."+k] = text
	}
	return out
}

// checkDirectory refuses a path that is no directory.
func checkDirectory(path string) error {
	const help = "an existing data directory, relative to the plan; leave data out for a private new one"
	switch info, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		return hint.Errorf(help, "there is no directory %q", path)
	case err != nil:
		return hint.With(err, help)
	case !info.IsDir():
		return hint.Errorf(help, "%q is not a directory", path)
	}
	return nil
}

func (b *binder) checkNames(targets []*bound) {
	seen := map[string]bool{}
	for _, t := range targets {
		if t.Name == "" || !seen[t.Name] {
			seen[t.Name] = true
			continue
		}
		b.At(cmp.Or(t.fields.Of.Get("name"), t.node), fmt.Sprintf("two targets are called %q", t.Name),
			fmt.Sprintf("give it a name, as {name: %s-2, engine: %s}", t.Name, t.Engine))
	}
}

func (b *binder) checkData(targets []*bound, p *Plan) {
	var used []os.FileInfo
	for _, t := range targets {
		if t.Data == "" {
			continue
		}
		at := t.fields.Of.Get("data")
		if t.Config.Server.DSN != "" {
			b.At(at, "data is a directory, and a target with a dsn has its data where the server keeps it", "remove data")
			continue
		}
		if p.Trials > 1 && !p.Start.Any() {
			b.At(at, fmt.Sprintf("data cannot be used in %d trials: each would change the data that the next begins with",
				p.Trials), "set trials: 1, or start: {copy: data}, or remove data")
		}
		info, err := os.Stat(t.Data)
		if err != nil {
			continue // it existed a moment ago; the trial reports it
		}
		if !p.Start.Any() && slices.ContainsFunc(used, func(u os.FileInfo) bool { return os.SameFile(u, info) }) {
			b.At(at, "two targets use the same data", "give each target its own copy")
		}
		used = append(used, info)
	}
}

// checkEngine checks that the engine supports the target's workload and
// settings. After each refused knob it checks again without it, so that all are
// reported.
func (b *binder) checkEngine(t *bound, p *Plan) {
	e, _ := b.cat.Engine(t.Engine)
	info := e.Info()
	hosted, own := len(info.Servers) > 0, engine.InfoOf(e, t.Config)
	excludeMachine(b, t, hosted, p)
	excludeFleet(b, t, hosted, own.Joins, p)
	if !excludeImage(b, t) {
		return
	}
	excludeStart(b, t, own, p)
	excludeRestart(b, t, own, p)
	if b.refuse(exclusion{t.fields.Value(programKey.Name), hosted && len(t.Binaries) > 0,
		"binary: several programs are only for engines in rumbench's process", "name one, or make a target of each"}) {
		return
	}
	excludeWorkload(b, t, own, p)
	if b.build != nil {
		if err := b.build(&t.Target); err != nil {
			n, _ := t.blame("binary", info)
			b.At(n, err.Error(), hint.Of(err))
			return
		}
	}
	if hosted && !t.attached() &&
		(b.look == nil || p.Fleet.Any() || b.look(&t.Target, t.Config.Server.Kinds(info.Servers))) {
		return
	}
	c := t.Config
	c.Options = maps.Clone(c.Options)
	for {
		err := e.Check(c)
		if err == nil {
			return
		}
		var knob *engine.KnobError
		if !errors.As(err, &knob) {
			b.At(t.node, t.Engine+": "+err.Error(), "")
			return
		}
		if len(knob.Known) > 0 {
			info.Options = knob.Known // more precise
		}
		n, help := t.blame(knob.Knob, info)
		if h := hint.Of(err); h != "" {
			help = h
		}
		b.At(n, t.Engine+": "+knob.Error(), help)
		aboutServer := hosted && slices.Contains(append(serverKeys.Names(), programKey.Name), knob.Knob)
		if aboutServer || !drop(&c, knob.Knob) {
			return // further refusals depend on it
		}
	}
}

// blame returns the node that set a knob, and a hint.
func (t *bound) blame(knob string, info engine.Info) (at *strictyaml.Node, help string) {
	if option, ok := strings.CutPrefix(knob, "options."); ok {
		return t.blameOption(option, info)
	}
	if knob == "dsn" {
		return t.dsnNode(), ""
	}
	if n := t.fields.Of.Get(knob); n != nil {
		return n, ""
	}
	if n := t.common.Of.Get(knob); n != nil {
		if t.Config.Server.DSN != "" { // it cannot have its own either
			return n, fmt.Sprintf("remove %s from common, and give it to the targets without a dsn", knob)
		}
		return n, fmt.Sprintf("set %s for the other targets, not in common, or give those of %s another", knob, t.Engine)
	}
	if knob == "durability" {
		return t.node, "process is the default: set durability in the target, or in common for all"
	}
	return t.node, ""
}

func (t *bound) blameOption(name string, info engine.Info) (at *strictyaml.Node, help string) {
	options := t.fields.Of.Get("options")
	if options == nil || options.Get(name) == nil {
		return t.node, ""
	}
	if len(info.Options) == 0 {
		return options.Key(name), t.Engine + " has no options"
	}
	var names []string
	for _, o := range info.Options {
		if o.Name == name {
			return options.Get(name), fmt.Sprintf("%s (%s): %s", o.Name, o.Type, o.Doc)
		}
		names = append(names, o.Name)
	}
	return options.Key(name), hint.OneOf(name, names)
}

// drop unsets a knob and reports whether that changed anything.
func drop(c *engine.Config, knob string) bool {
	before := printable(*c)
	switch knob {
	case "durability": // there always is one
	case "server", "binary", "image", "dsn": // of an engine that has none
		c.Server.Kind, c.Server.Binary, c.Server.Image, c.Server.DSN = "", "", "", ""
	default:
		if at := settings(c)[knob]; at != nil {
			reflect.ValueOf(at).Elem().SetZero()
		} else {
			delete(c.Options, strings.TrimPrefix(knob, "options."))
		}
	}
	return !maps.Equal(before, printable(*c))
}

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

const levelsHint = "as in levels: {memory: [256MiB, 1GiB]}"

// leveled returns the targets at all levels of a knob: each target once for each level, under its name
// and the level's.
func leveled(b *binder, f strictyaml.Fields, targets []*strictyaml.Node) []*strictyaml.Node {
	n, previous := f.Value("levels"), len(b.Problems)
	if n == nil || !b.Is(n, strictyaml.Mapping, "levels is a map of one knob", levelsHint) {
		return targets
	}
	knob, values := readLevels(b, n)
	if values == nil {
		return targets
	}
	const help = "remove one of the two"
	common := f.Of.Get("common").Get(knob.Text)
	b.refuse(exclusion{common, common != nil, knob.Text + " is set here and by levels", help})
	wrong := len(b.Problems) > previous
	b.loaders = map[*strictyaml.Node]string{}
	var out []*strictyaml.Node
	for _, t := range targets {
		if t = asMap(t); t.Kind != strictyaml.Mapping {
			out = append(out, t) // that is reported
			continue
		}
		own := t.Get(knob.Text)
		b.refuse(exclusion{own, own != nil, knob.Text + " is set here and by levels", help})
		for _, v := range values {
			level := atLevel(t, knob, v)
			if slices.Contains(machineKeys.Names(), knob.Text) {
				b.loaders[level] = cmp.Or(t.Get("name"), t.Get("engine"), t).Text
			}
			out = append(out, level)
		}
	}
	if wrong {
		return targets
	}
	return out
}

// readLevels reads a knob and its values; none if they are no levels.
func readLevels(b *binder, n *strictyaml.Node) (knob *strictyaml.Node, values []*strictyaml.Node) {
	if len(n.Entries) != 1 {
		b.At(n, fmt.Sprintf("levels has %d knobs, not one", len(n.Entries)), levelsHint)
		return nil, nil
	}
	knob, list := n.Entries[0].Key, n.Entries[0].Value
	read, found := levelKnobs[knob.Text]
	if b.refuse(
		exclusion{knob, !found, "levels takes no " + knob.Text, hint.OneOf(knob.Text, levelKeys.Names())},
		exclusion{holds: list.Kind == strictyaml.Broken},
		exclusion{list, list.Kind != strictyaml.List, "the levels of " + knob.Text + " are a list", levelsHint},
		exclusion{list, len(list.Items) < 2, "one level is none: there is nothing to compare",
			"give several, or set " + knob.Text + " in common"},
	) {
		return nil, nil
	}
	seen := map[int64]bool{}
	for _, v := range list.Items {
		value, err := read.Read(v)
		switch {
		case v.Kind != strictyaml.Scalar:
			b.At(v, "a level of "+knob.Text+" is one value", levelsHint)
			continue
		case err != nil:
			b.At(v, "levels: "+knob.Text+": "+err.Error(), hint.Of(err))
		case seen[value]:
			b.At(v, "the level "+v.Text+" is there twice", "remove one of the two")
		}
		seen[value] = true
	}
	return knob, list.Items
}

// atLevel returns a target with a knob's value, under its own name.
func atLevel(t, knob, value *strictyaml.Node) *strictyaml.Node {
	out := *t
	out.Entries = slices.Clone(t.Entries)
	out.Set(knob, value)
	if called := cmp.Or(t.Get("name"), t.Get("engine")); called != nil && called.Kind == strictyaml.Scalar {
		key, name := *knob, *called
		key.Text = "name"
		name.Text = called.Text + "-" + strings.ReplaceAll(value.Text, " ", "")
		name.Value = name.Text
		out.Set(&key, &name)
	}
	return &out
}
