package profile

import (
	"slices"
	"strings"
)

// The threads of an embedded engine in Go, which have no names themselves.
const (
	Foreground = "foreground" // operations of clients
	Background = "background" // the engine's own goroutines: compaction, flush
)

// Embedded returns the profile of a process that holds the clients and an engine: the
// engine's samples move to the side Server, and the Go runtime's own work (garbage
// collector, scheduler) to the side Runtime. A goroutine belongs to the owner of its
// first function outside the runtime and the standard libraries. One of rumbench's
// belongs to the engine while it is in a function of rumbench/engine, without what this
// calls back of rumbench/workload. Threads of engines in C keep their names.
func (p *Profile) Embedded() *Profile {
	program := ""
	for _, f := range p.Frames {
		if f.Image != "" && strings.HasPrefix(f.Name, "runtime.") { // that of a root is not known
			program = f.Image
		}
	}
	owners := make([]owning, len(p.Frames))
	for i, f := range p.Frames {
		owners[i] = owningOf(f, program)
	}
	out := p.Only(func(*Sample) bool { return true })
	out.embedded = true
	for i := range out.Samples {
		s := &out.Samples[i]
		if s.Side != Client {
			continue
		}
		stack := []owning{nobodys} // without those of nobody in between
		for _, f := range s.Stack {
			if owners[f] != nobodys {
				stack = append(stack, owners[f])
			}
		}
		first, last := stack[min(1, len(stack)-1)], stack[len(stack)-1]
		ownThread := first == library && (s.Thread != s.Process || p.Frames[s.Stack[0]].Name == startThread)
		switch {
		case first == nobodys:
			s.Side, s.Thread = Runtime, Runtime.String()
		case last == loader: // an engine has called it back
		case ownThread:
			s.Side = Server
		case first == adapter || first == module:
			s.Side, s.Thread = Server, Background
		case first == bridge || first == library || slices.Contains(stack, adapter) || slices.Contains(stack, bridge):
			s.Side, s.Thread = Server, Foreground
		}
	}
	return out
}

// owning is the owner of a function.
type owning uint8

const (
	nobodys owning = iota // of the runtime, a standard library or the kernel: it works for its callers
	client                // of rumbench
	loader                // of rumbench/workload
	adapter               // of rumbench/engine
	module                // of another Go module
	library               // in C
	bridge                // calls from Go to C
)

// owningOf returns the owner of a function in a process that runs a program in
// Go.
func owningOf(f Frame, program string) owning {
	base, _, _ := strings.Cut(f.Name, ".") // compilers of C add .constprop.0
	switch {
	case f.Name == "runtime.cgocall" || f.Name == "runtime.asmcgocall":
		return bridge
	case f.Image != program:
		if slices.ContainsFunc(nobodysImages, func(begin string) bool { return strings.HasPrefix(f.Image, begin) }) ||
			f.Image == "" {
			return nobodys
		}
		return library
	// a library in C that the program holds: packages of Go have no such names
	case strings.Contains(base, "_") && !strings.Contains(f.Name, "/") &&
		Frame{Image: f.Image, Name: base}.subsystem() != "":
		return library
	case strings.HasPrefix(f.Name, "rumbench/engine"):
		return adapter
	case strings.HasPrefix(f.Name, "rumbench/workload"):
		return loader
	case strings.HasPrefix(f.Name, "rumbench/") || strings.HasPrefix(f.Name, "main."):
		return client
	}
	// A module's path begins with a host, a package of the standard library has none.
	if host, _, path := strings.Cut(f.Name, "/"); path && strings.Contains(host, ".") {
		return module
	}
	return nobodys
}

// nobodysImages are prefixes of the names of files that all programs use.
var nobodysImages = []string{KernelImage, "[", "libc.", "libm.", "libpthread.", "ld-linux"}
