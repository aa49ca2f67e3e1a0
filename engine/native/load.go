//go:build native && cgo && linux

package native

/*
#cgo LDFLAGS: -rdynamic -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include "sync.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"rumbench/engine"
)

// Built reports whether this binary has the native engines.
const Built = true

// Library is a library that has been loaded. It is never unloaded: threads of it
// may still run.
type Library struct{ handle unsafe.Pointer }

// Open loads a library with all of its functions bound, visible to nobody else.
func Open(path string) (Library, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	h := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if h == nil {
		return Library{}, fmt.Errorf("load library %s: %s", path, C.GoString(C.dlerror()))
	}
	return Library{h}, nil
}

// Handle returns what dlsym takes.
func (l Library) Handle() unsafe.Pointer { return l.handle }

// Symbol returns the address of a function or variable, nil if there is none.
func (l Library) Symbol(name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.dlsym(l.handle, s)
}

// SetSyncs switches the syncs of all C code in this process on or off: fsync,
// fdatasync, sync_file_range and msync. Off, they succeed at once. An engine calls
// it before it opens a database: at durability os they are on, below they are off.
func SetSyncs(on bool) {
	off := C.int(1)
	if on {
		off = 0
	}
	C.rumbench_syncs_off(off)
}

// Counters adds how many syncs C code in this process has made, and how long they
// took. It counts no sync that was left out.
func Counters(s *engine.Sample) {
	s.Counter("native.syncs", "count", float64(C.rumbench_syncs()))
	s.Counter("native.sync_ns", "ns", float64(C.rumbench_sync_ns()))
}
