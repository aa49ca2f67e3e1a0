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
	"runtime"
	"sync"
	"time"
	"unsafe"

	"rumbench/engine"
)

// Built reports whether this binary has the native engines.
const Built = true

// Library is a database's library. A process loads one version of it: two of them
// would share C++ data that is meant to be unique, or one table of functions.
type Library struct {
	mu   sync.Mutex
	path string // that was loaded
}

// Load loads the library with all of its functions bound, invisible to other
// libraries, and has bind look up its functions: bind returns the name of a missing
// one, NULL for none. It does nothing if the path has been loaded. A library is
// never unloaded: its threads may still run.
func (l *Library) Load(path string, bind func(library unsafe.Pointer) (missing *byte)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.path {
	case path:
		return nil
	case "":
	default:
		return fmt.Errorf("load %s: this process has loaded %s, and can hold only one version", path, l.path)
	}
	loaded := make(chan error, 1)
	go func() { loaded <- load(path, bind) }()
	select {
	case err := <-loaded:
		if err == nil {
			l.path = path
		}
		return err
	case <-time.After(loadTime):
		return fmt.Errorf("load library %s: its own code has not ended after %v", path, loadTime)
	}
}

// loadTime is how long a library may take that runs code when it is loaded.
const loadTime = time.Minute

func load(path string, bind func(library unsafe.Pointer) (missing *byte)) error {
	runtime.LockOSThread() // errors belong to threads
	defer runtime.UnlockOSThread()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	h := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if h == nil {
		return fmt.Errorf("load library %s: %s", path, C.GoString(C.dlerror()))
	}
	if missing := bind(h); missing != nil {
		return fmt.Errorf("load %s: it has no function %s", path, C.GoString((*C.char)(unsafe.Pointer(missing))))
	}
	return nil
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
