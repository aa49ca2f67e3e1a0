package profile

import (
	"debug/elf"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// frames returns a stack, the leaf first; names with a slash are image/name.
func frames(text string) (out []Frame) {
	for part := range strings.SplitSeq(text, " ") {
		image, name, ok := strings.Cut(part, "/")
		if !ok {
			image, name = "", part
		}
		out = append(out, Frame{name, image})
	}
	return out
}

func shown(stack []Frame) string {
	var names []string
	for _, f := range stack {
		names = append(names, f.Name)
	}
	return strings.Join(names, ";")
}

func TestTidy(t *testing.T) {
	for _, c := range []struct{ leafFirst, want string }{
		{"f main __libc_start_call_main __libc_start_main _start", "_start;main;f"},
		{"f pool start_thread clone3", "start_thread;pool;f"},
		{"f pool libc.so.6/libc.so.6@89200 clone3", "start_thread;pool;f"},
		{"f pool libc.so.6/libc.so.6@89200 libc.so.6/libc.so.6@109c00", "libc.so.6@109c00;libc.so.6@89200;pool;f"},
		{"f pool libc.so.6/libc.so.6@89200", "start_thread;pool;f"},
		{"libc.so.6/libc.so.6@89200", "libc.so.6@89200"},
		{"kernel/x libc.so.6/libc.so.6@89200", "libc.so.6@89200;x"}, // broken off before a system call
		{"libc.so.6/malloc libc.so.6/libc.so.6@89200", "libc.so.6@89200;malloc"},
		{"f libz.so.1/libz.so.1@4970", "libz.so.1@4970;f"},
		{"kernel/finish_task_switch kernel/__schedule kernel/schedule f main _start", "_start;main;f;schedule;__schedule;[switching, interrupts]"},
		{"kernel/irqentry_exit_to_user_mode kernel/asm_sysvec_apic_timer_interrupt f _start", "_start;f;[switching, interrupts]"},
		{"kernel/_raw_spin_unlock_irqrestore kernel/try_to_wake_up kernel/ret_from_fork_asm", "ret_from_fork;try_to_wake_up;[switching, interrupts]"},
		{"kernel/finish_task_switch", "[switching, interrupts]"},
		{"kernel/copy kernel/finish_task_switch kernel/ret_from_fork kernel/ret_from_fork_asm", "ret_from_fork;finish_task_switch;copy"},
		{"finish_task_switch _start", "_start;finish_task_switch"}, // a user's function of that name
		{"runtime.goexit", "runtime.goexit"},
		{"start_thread clone3", "start_thread"},
	} {
		expect.Equal(t, shown(tidy(frames(c.leafFirst))), c.want, c.leafFirst)
	}
	if got := tidy(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
	for name, root := range map[string]bool{"start_thread": true, "_start": true, "runtime.goexit": true, "ret_from_fork": true, "main": false, "clone3": false, "": false} {
		expect.Equal(t, isRoot(Frame{Name: name}), root, name)
	}
}

func TestReadable(t *testing.T) {
	for _, c := range []struct {
		symbol, want string
		goCode       bool
	}{
		{"_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector::push_back", false},
		{"_Z3fooIiEvT_.constprop.0", "foo", false},
		{"_ZN3Foo3barEv.isra.0.cold", "Foo::bar", false},
		{"scan.part.0.isra.1", "scan", false},
		{"scan.cold", "scan", false},
		{"write@plt", "write", false},
		{"memcpy@@GLIBC_2.14", "memcpy", false},
		{"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo", false},
		{"slices.SortFunc[go.shape.[]int,go.shape.int]", "slices.SortFunc", true},
		{"main.(*T[go.shape.int]).Get", "main.(*T).Get", true},
		{"runtime.goexit.abi0", "runtime.goexit", true},
		{"main.cold", "main.cold", true}, // a name of Go, not an ending
		{"finish_task_switch.isra.0", "finish_task_switch", false},
	} {
		expect.Equal(t, readable(c.symbol, c.goCode), c.want, c.symbol)
	}
	for name, want := range map[string]string{"rocksdb:low0": "rocksdb:low", "jbd2/vda-8": "jbd2/vda", "kworker/0:1": "kworker", "mariadbd": "mariadbd", "17": "17", "": "?"} {
		expect.Equal(t, family(name), want, name)
	}
}

func TestFind(t *testing.T) {
	functions := inOrder([]function{
		{begin: 0x30, end: 0x40, name: "__b"}, {begin: 0x10, end: 0x20, name: "a"}, {begin: 0x30, end: 0x40, name: "b"}, {begin: 0x30, end: 0x40, name: "_b"},
	})
	expect.Must(t, len(functions) == 2, functions)
	for address, want := range map[uint64]string{0x0f: "", 0x10: "a", 0x1f: "a", 0x20: "", 0x2f: "", 0x30: "b", 0x3f: "b", 0x40: ""} {
		got := ""
		if f := find(functions, address); f != nil {
			got = f.name
		}
		expect.Equal(t, got, want, address)
	}
	expect.True(t, find(nil, 1) == nil, "found in nothing")
}

// TestWithoutSymbol: code without a symbol is not given to the exported function before it, whether its place
// is known or not.
func TestWithoutSymbol(t *testing.T) {
	exported := functionsOf([]elf.Symbol{
		{Name: "search", Info: byte(elf.STT_FUNC), Section: 1, Value: 0x10, Size: 0x10},
		{Name: "label", Info: byte(elf.STT_FUNC), Section: 1, Value: 0x50}, // of no size: where it ends is unknown
	})
	i := image{Image: Image{Name: "mariadbd"}, named: inOrder(exported),
		unnamed: inOrder([]function{{begin: 0x10, end: 0x20}, {begin: 0x20, end: 0x30}})}
	for address, want := range map[uint64]string{0x10: "search", 0x1f: "search", 0x20: "mariadbd@20",
		0x2f: "mariadbd@20", 0x30: "mariadbd@?", 0x50: "mariadbd@?", 0x51: "mariadbd@?"} {
		expect.Equal(t, i.frame(address), Frame{want, "mariadbd"}, address)
	}
	f := i.frame(0x20)
	expect.Equal(t, f.subsystem(), "", "what has no name is in no subsystem")
}

// TestGoFunctions: the table that a stripped Go program keeps names the functions of this program as
// the runtime does.
func TestGoFunctions(t *testing.T) {
	kept := inOrder(goFunctions(ownTable(t)))
	for _, f := range []any{tidy, readable, TestGoFunctions, runtime.GC} {
		pc := reflect.ValueOf(f).Pointer()
		want := runtime.FuncForPC(pc).Name()
		got := find(kept, uint64(pc))
		expect.True(t, got != nil && got.begin == uint64(pc) && got.name == want, pc, got, want)
	}
}

func TestKernelFunctions(t *testing.T) {
	path := t.TempDir() + "/kallsyms"
	write(t, path, "ffffffff81000000 T _text\nffffffff81000000 T startup_64\nffffffff81000100 t work\t[mod]\nffffffff81000080 D data\nbad\n0 T zero\nffffffff81000200 T end\n")
	got := kernelFunctions(path)
	want := []function{{begin: 0xffffffff81000000, end: 0xffffffff81000100, name: "startup_64"}, {begin: 0xffffffff81000100, end: 0xffffffff81000200, name: "work"}, {begin: 0xffffffff81000200, name: "end"}}
	expect.List(t, got, want)
	if got := kernelFunctions(path + "x"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
