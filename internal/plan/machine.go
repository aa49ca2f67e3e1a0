package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"rumbench/internal/observe/cpuset"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
)

// Machine is what a target's engine and clients may use of the machine. Its zero value limits
// nothing.
type Machine struct {
	CPUs       CPUs  // of the engine
	ClientCPUs CPUs  // of the client of a server
	Memory     int64 // bytes of the engine, with the page cache of its files; 0: any
}

// CPUs are those of a list, or as many as a number says, or all.
type CPUs struct {
	Set    cpuset.Set
	Number int
}

func (c CPUs) String() string {
	if c.Number > 0 {
		return strconv.Itoa(c.Number)
	}
	if len(c.Set) > 0 {
		return "[" + c.Set.String() + "]"
	}
	return ""
}

// Limited reports whether anything is limited.
func (m *Machine) Limited() bool { return len(m.knobs()) > 0 }

// knobs returns what the plan asks for as texts, by the names of the keys.
func (m *Machine) knobs() map[string]string {
	out := map[string]string{"cpus": m.CPUs.String(), "client_cpus": m.ClientCPUs.String()}
	if m.Memory > 0 {
		out["memory"] = quantity.FormatSize(m.Memory)
	}
	maps.DeleteFunc(out, func(_, v string) bool { return v == "" })
	return out
}

// Choose returns the CPUs of the engine and of the client of a server among those that this process may
// use; nil: not limited.
func (m *Machine) Choose() (engine, client cpuset.Set, err error) {
	if client, err = cpuset.Choose(m.ClientCPUs.Set, m.ClientCPUs.Number, m.CPUs.Set); err != nil {
		return nil, nil, fmt.Errorf("client_cpus: %w", err)
	}
	if engine, err = cpuset.Choose(m.CPUs.Set, m.CPUs.Number, client); err != nil {
		return nil, nil, fmt.Errorf("cpus: %w", err)
	}
	return engine, client, nil
}

const leastMemory = 16 << 20 // bytes: with less no engine starts

// MachineKnobs returns the names of the keys of a machine.
func MachineKnobs() []string { return machineKeys.Names() }

const cpusHint = "a number, as cpus: 2, or a list of CPUs, as cpus: [0, 1]"

var machineKeys = strictyaml.Table[Machine]{
	strictyaml.Part[Machine]("cpus", "The CPUs that the engine may use: how many, or a list of them. "+
		"An embedded engine shares them with its client.", cpusShape),
	strictyaml.Part[Machine]("client_cpus", "The CPUs that the client of a server may use.", cpusShape),
	strictyaml.Valued("memory", "The memory that the engine may use, with the page cache of its files, such as 1GiB.",
		strictyaml.Size, func(m *Machine, v int64) { m.Memory = v }),
}

var cpusShape = strictyaml.Either(strictyaml.Integer(1, maxCPUs).Shape,
	strictyaml.Shape{"type": "array", "items": strictyaml.Integer(0, maxCPUs).Shape, "minItems": 1})

const maxCPUs = 1023

// readMachine reads the CPUs among the fields of a target, or of all.
func readMachine(b *binder, f strictyaml.Fields, m *Machine) {
	for key, dst := range map[string]*CPUs{"cpus": &m.CPUs, "client_cpus": &m.ClientCPUs} {
		if n := f.Value(key); n != nil {
			*dst = readCPUs(b, n, key)
		}
	}
	if n := f.Value("memory"); n != nil && m.Memory > 0 && m.Memory < leastMemory {
		b.At(n, fmt.Sprintf("memory: %s is too little for any engine", n.Text),
			"at least "+quantity.Bytes(int64(leastMemory)))
	}
}

func readCPUs(b *binder, n *strictyaml.Node, key string) (c CPUs) {
	if n.Kind != strictyaml.List {
		number, err := strictyaml.Integer(1, maxCPUs).Read(n)
		if err != nil {
			b.At(n, key+": "+err.Error(), cpusHint)
		}
		return CPUs{Number: number}
	}
	for _, item := range n.Items {
		cpu, err := strictyaml.Integer(0, maxCPUs).Read(item)
		switch {
		case err != nil:
			b.At(item, key+": "+err.Error(), cpusHint)
		case slices.Contains(c.Set, cpu):
			b.At(item, fmt.Sprintf("%s: CPU %d is given twice", key, cpu), "remove one")
		default:
			c.Set = append(c.Set, cpu)
		}
	}
	if len(n.Items) == 0 {
		b.At(n, key+" is empty", cpusHint)
	}
	slices.Sort(c.Set)
	return c
}
