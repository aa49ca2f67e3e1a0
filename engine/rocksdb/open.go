//go:build native && cgo && linux

package rocksdb

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/model"
)

func open(c engine.Config) (engine.DB, error) {
	set, err := newSettings(c)
	if err != nil {
		return nil, err
	}
	path, err := set.find()
	if err != nil {
		return nil, err
	}
	s, err := openStore(c, set, path)
	if err != nil {
		return nil, fmt.Errorf("open rocksdb in %s: %w", c.Dir, err)
	}
	return set.switches.Open(s, c.Schema)
}

func openStore(c engine.Config, set settings, path string) (_ *store, err error) {
	s := &store{dir: c.Dir, settings: set}
	if s.c, err = set.load(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			C.store_close(s.c)
		}
	}()
	if err := set.refuseOtherFamilies(c.Dir); err != nil {
		return nil, err
	}
	native.SetSyncs(set.durability == model.DurabilityOS)
	if set.switches.Merges() {
		if err := s.setOperator(c.Schema); err != nil {
			return nil, err
		}
	}
	name := C.CString(c.Dir)
	defer C.free(unsafe.Pointer(name))
	kind := C.int(slices.Index(transactions, set.transactions))
	if err := s.fail(C.store_open(s.c, name, C.int(set.families), kind, flag(set.durability == model.DurabilityOS))); err != nil {
		return nil, err
	}
	s.pool.New = func() any { return &tx{store: s} }
	if s.effective, err = s.readBack(path); err != nil {
		return nil, err
	}
	return s, nil
}

// loaded is the library of this process. Two versions in one process share C++
// data that is meant to be unique, and crash.
var loaded struct {
	sync.Mutex
	path string
}

func openLibrary(path string) (native.Library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.path != "" && loaded.path != path {
		return native.Library{}, fmt.Errorf("load %s: this process has loaded %s, and RocksDB can be in it only once", path, loaded.path)
	}
	lib, err := native.Open(path)
	if err == nil {
		loaded.path = path
	}
	return lib, err
}

// setOperator has the library merge rows.
func (s *store) setOperator(schema model.Schema) error {
	o, err := kvkit.NewOperator(schema)
	if err != nil {
		return err
	}
	formats := o.Formats()
	c := C.new_operator(C.CString(o.Name()), C.size_t(slices.Max(slices.Collect(maps.Keys(formats)))+1))
	for space, format := range formats {
		C.set_format(c, C.size_t(space), C.CString(format))
	}
	C.set_operator(s.c, c)
	return nil
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// load loads the library and sets its options.
func (s *settings) load(path string) (*C.store, error) {
	lib, err := openLibrary(path)
	if err != nil {
		return nil, err
	}
	c := (*C.store)(C.calloc(1, C.sizeof_store))
	if missing := C.load(c, lib.Handle()); missing != nil {
		C.free(unsafe.Pointer(c))
		return nil, engine.Refuse("options.library", s.library, "it lacks %s: RocksDB 6.29 or newer is needed", C.GoString(missing))
	}
	for _, o := range []struct{ knob, text string }{{"compression", s.knobs}, {"options.rocksdb", s.users}} {
		text := C.CString(o.text)
		failed := C.set_options(c, text)
		C.free(unsafe.Pointer(text))
		if failed != nil {
			reason := C.GoString(failed)
			C.release(c, failed)
			C.store_close(c)
			return nil, engine.Refuse(o.knob, o.text, "RocksDB %s: %s", s.library, reason)
		}
	}
	return c, nil
}

// refuseOtherFamilies refuses a database whose rows are in other families: it
// would look empty.
func (s *settings) refuseOtherFamilies(dir string) error {
	before, err := readOptions(dir)
	if err != nil || len(before) == 0 { // there is no database
		return err
	}
	has := slices.ContainsFunc(before, func(o engine.Setting) bool { return strings.HasPrefix(o.Name, `CFOptions "1".`) })
	return engine.RefuseIf(has != (s.families > 1), "options.families", s.families > 1, "the database was made with the other value")
}

// readBack returns the options that RocksDB runs with.
func (s *store) readBack(path string) ([]engine.Setting, error) {
	out := []engine.Setting{
		{Name: "library", Value: path, Source: engine.AsSet},
		{Name: "transactions", Value: s.settings.transactions, Source: engine.AsSet},
		{Name: "block_cache_capacity", Value: fmt.Sprint(s.number(0, "rocksdb.block-cache-capacity")), Source: engine.ReadBack},
	}
	slow, err := asserts(path)
	if err != nil {
		return nil, err
	}
	if slow {
		out = append(out, engine.Setting{Name: "warning", Source: engine.ReadBack,
			Value: "the library was built with assertions: operations take up to twice the CPU of a release, and a failed write of the log ends the process"})
	}
	options, err := readOptions(s.dir)
	if err == nil && len(options) == 0 {
		err = fmt.Errorf("read back options: %s has no OPTIONS file", s.dir)
	}
	for _, o := range options { // all families have the same
		if !strings.HasPrefix(o.Name, "CFOptions") && !strings.HasPrefix(o.Name, "TableOptions") || strings.Contains(o.Name, `"default"`) {
			out = append(out, o)
		}
	}
	return out, err
}

// readOptions reads the newest OPTIONS file of a directory, if there is one.
func readOptions(dir string) ([]engine.Setting, error) {
	files, err := filepath.Glob(filepath.Join(dir, "OPTIONS-*[0-9]"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	f, err := os.Open(slices.Max(files))
	if err != nil {
		return nil, fmt.Errorf("read back options: %w", err)
	}
	defer f.Close()
	var out []engine.Setting
	section := ""
	in := bufio.NewScanner(f)
	for in.Scan() {
		line := strings.TrimSpace(in.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
		} else if name, value, ok := strings.Cut(line, "="); ok {
			out = append(out, engine.Setting{Name: section + "." + name, Value: value, Source: engine.ReadBack})
		}
	}
	return out, in.Err()
}
