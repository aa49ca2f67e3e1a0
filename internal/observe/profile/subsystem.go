package profile

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Subsystem is a part of a database that all engines have in some form, or of the
// kernel or a runtime under them.
type Subsystem string

// Unknown is the subsystem of stacks without a known function.
const Unknown Subsystem = "unknown"

// catalogue maps functions to subsystems; its format is described in the file.
//
//go:embed subsystem.txt
var catalogue string

// rule is an entry of the catalogue.
type rule struct {
	image     string // the prefix of the name of their file; "" for any
	name      string // the prefix if the entry ended with *
	prefix    bool
	subsystem Subsystem
}

// rules returns the catalogue, longer names first, whole names before their
// begins: the first rule that matches is the most special.
var rules = sync.OnceValue(func() []rule {
	var out []rule
	var images []string
	for line := range strings.Lines(catalogue) {
		line = strings.TrimSpace(line)
		if section, ok := strings.CutPrefix(line, "["); ok {
			images = strings.Fields(strings.TrimSuffix(section, "]"))
			continue
		}
		at := strings.LastIndex(line, ": ") // a subsystem may have a colon
		if strings.HasPrefix(line, "#") || at < 0 {
			continue
		}
		for _, image := range images {
			for name := range strings.FieldsSeq(line[at+1:]) {
				name, prefix := strings.CutSuffix(name, "*")
				out = append(out, rule{strings.TrimPrefix(image, "*"), name, prefix, Subsystem(line[:at])})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b rule) int {
		if a.name == b.name && a.prefix != b.prefix && b.prefix {
			return -1
		}
		return len(b.name) - len(a.name)
	})
	return out
})

// found are the subsystems of functions that were asked for.
var found sync.Map

// subsystem returns the subsystem of a function, "" if the catalogue lacks it.
func (f Frame) subsystem() Subsystem {
	if s, ok := found.Load(f); ok {
		return s.(Subsystem)
	}
	var s Subsystem
	all := rules()
	if i := slices.IndexFunc(all, func(r rule) bool { return r.matches(f) }); i >= 0 {
		s = all[i].subsystem
	}
	found.Store(f, s)
	return s
}

func (r rule) matches(f Frame) bool {
	return (f.Name == r.name || r.prefix && strings.HasPrefix(f.Name, r.name)) && strings.HasPrefix(f.Image, r.image)
}

// Clients is what clients in the process of an engine are counted as, beside its subsystems.
const Clients Subsystem = "clients"

// SubsystemCPU is the CPU time of a subsystem, and the number of samples that it is known by.
type SubsystemCPU struct {
	Subsystem
	CPU     time.Duration
	Samples int
}

// Subsystems returns the CPU time of the processes with the engine by subsystem, the most first.
func (p *Profile) Subsystems() (out []SubsystemCPU) {
	engine := p.Engine()
	for i := range engine.Samples {
		s := &engine.Samples[i]
		name := Clients
		if s.Side != Client {
			name = p.SubsystemOf(s)
		}
		k := slices.IndexFunc(out, func(c SubsystemCPU) bool { return c.Subsystem == name })
		if k < 0 {
			k = len(out)
			out = append(out, SubsystemCPU{Subsystem: name})
		}
		out[k].CPU += s.CPU()
	}
	for i := range out {
		out[i].Samples = int(math.Round(float64(out[i].CPU) / float64(p.Period)))
	}
	slices.SortFunc(out, func(a, b SubsystemCPU) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(a.Subsystem, b.Subsystem))
	})
	return out
}

// SubsystemOf returns the subsystem of a sample: that of the function closest to
// the leaf that the catalogue knows.
func (p *Profile) SubsystemOf(s *Sample) Subsystem {
	for _, f := range slices.Backward(s.Stack) {
		if known := p.Frames[f].subsystem(); known != "" {
			return known
		}
	}
	return Unknown
}
