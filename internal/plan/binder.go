package plan

import (
	"cmp"
	"slices"

	"rumbench/engine"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// Catalog holds the engines and workloads that plans may name.
type Catalog interface {
	Engine(name string) (engine.Engine, bool)
	EngineNames() []string
	Workload(name string) (workload.Workload, bool)
	WorkloadNames() []string
	// ReadWorkload reads a workload from the content of a file, and WorkloadOf from a
	// map in a plan. Their errors are of type hint.Problems.
	ReadWorkload(file string, content []byte) (workload.Workload, error)
	WorkloadOf(n *strictyaml.Node) (workload.Workload, error)
}

// binder turns the nodes of a document into a plan.
type binder struct {
	strictyaml.Document
	places   []level // for hints at where an unknown key belongs
	cat      Catalog
	chosen   workload.Workload
	file     string // the plan's
	force    bool
	look     func(t *Target, kinds []string) bool // looks at the program of a server; nil: run nothing
	here     bool                                 // this is a machine of the plan's fleet
	cells    []*strictyaml.Node                   // of the fleet; nil: what is wrong with one is reported
	hostless bool                                 // a machine of the list was not understood, and is missing
	build    func(t *Target) error                // looks for the rumbench that runs a target's trials; nil: any will do
	attached []*bound                             // targets with a data source name
	paths    paths
	restart  *strictyaml.Node            // nil: the engines do not restart
	loaders  map[*strictyaml.Node]string // Target.Loader of targets at levels of the machine
}

// document returns an empty plan.
func document() strictyaml.Document {
	return strictyaml.Document{What: "plan", Least: "{workload: NAME, targets: [ENGINE]}"}
}

// section reads the map of a key, unless the key is absent or has something else; notMap are the reason and hint
// about that.
func section[T any](f strictyaml.Fields, key string, keys strictyaml.Table[T], dst *T,
	notMap ...string) (fields strictyaml.Fields, ok bool) {
	n := f.Value(key)
	if n == nil || len(notMap) > 0 && !f.In.Is(n, strictyaml.Mapping, notMap[0], notMap[1]) {
		return fields, false
	}
	fields = f.In.Fields(n, key, keys.Names())
	keys.Bind(fields, dst)
	return fields, n.Kind == strictyaml.Mapping
}

// exclusion is a combination of settings that cannot be run or compared: at which value it is reported, whether
// the plan has it, why it is refused, and what to do about it. One without a reason is reported elsewhere.
type exclusion struct {
	at           *strictyaml.Node
	holds        bool
	reason, help string
}

// refuse reports the first exclusion that holds, if one does.
func (b *binder) refuse(list ...exclusion) bool {
	i := slices.IndexFunc(list, func(x exclusion) bool { return x.holds })
	if i >= 0 && list[i].reason != "" {
		b.At(list[i].at, list[i].reason, list[i].help)
	}
	return i >= 0
}

// attached reports whether the target is a server that rumbench does not start.
func (t *bound) attached() bool { return t.Config.Server.DSN != "" }

// bound is a target with the nodes that its problems refer to.
type bound struct {
	Target
	node   *strictyaml.Node
	fields strictyaml.Fields
	common strictyaml.Fields
}

// dsnNode returns the node that names a running server.
func (t *bound) dsnNode() *strictyaml.Node {
	return cmp.Or(t.fields.Of.Get("dsn"), t.fields.Of.Get("dsn_file"), t.node)
}

// asMap turns a target given as a bare engine name into a map.
func asMap(n *strictyaml.Node) *strictyaml.Node {
	if n.Kind != strictyaml.Scalar {
		return n
	}
	key := *n
	key.Text = "engine"
	out := &strictyaml.Node{Kind: strictyaml.Mapping, Source: n.Source, Line: n.Line, Column: n.Column, Text: n.Text}
	out.Set(&key, n)
	return out
}

// level is a place in a plan with the keys that belong there.
type level struct {
	hint string // at where to write KEY
	keys []string
}
