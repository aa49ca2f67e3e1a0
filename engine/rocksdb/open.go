//go:build native && cgo && linux

package rocksdb

/*
#include <stdlib.h>
#include "binding.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/model"
)

func open(c engine.Config, set settings) (engine.DB, error) {
	s, err := openStore(c, set)
	if err != nil {
		return nil, fmt.Errorf("open rocksdb in %s: %w", c.Dir, err)
	}
	return set.switches.Open(s, c)
}

func openStore(c engine.Config, set settings) (_ *store, err error) {
	if err := load(set.path); err != nil {
		return nil, err
	}
	toDisk := set.durability == model.DurabilityOS
	native.SetSyncs(toDisk)
	s := &store{dir: c.Dir, settings: set}
	s.c = C.store_new(C.int(set.families), C.int(slices.Index(transactions, set.transactions)), flag(toDisk))
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	// A database that was made with a different value of families would look empty: in an
	// existing database RocksDB refuses missing families.
	_, missing := os.Stat(filepath.Join(c.Dir, "CURRENT"))
	knobs := fmt.Sprintf("%s;create_missing_column_families=%v", set.knobs, missing != nil)
	for _, o := range []struct{ knob, text string }{{"compression", knobs}, {"options.rocksdb", set.users}} {
		if err := s.with(o.text, func(text *C.char) *C.char { return C.store_set(s.c, text) }); err != nil {
			return nil, engine.Refuse(o.knob, o.text, "library %s: %v", set.library, err)
		}
	}
	if set.switches.Merges() {
		if err := s.mergeRows(c.Schema); err != nil {
			return nil, err
		}
	}
	if err := s.with(c.Dir, func(dir *C.char) *C.char { return C.store_open(s.c, dir) }); err != nil {
		return nil, err
	}
	s.pool.New = func() any { return &tx{store: s, room: make([]byte, 512)} }
	if s.effective, err = s.readBack(); err != nil {
		return nil, err
	}
	s.recall()
	return s, nil
}

// Structure returns the structure of the tree according to the options.
func (s *store) Structure() (engine.Structure, error) { return s.structure, nil }

// recall reads from the options the structure, and whether reads bypass the page cache.
func (s *store) recall() {
	option := func(name string) string {
		for _, o := range s.effective {
			if strings.HasSuffix(o.Name, "."+name) {
				return o.Value
			}
		}
		return ""
	}
	is := func(name string, values ...string) bool { return slices.Contains(values, option(name)) }
	size := func(name string) int64 {
		n, _ := strconv.ParseInt(option(name), 10, 64) // as RocksDB wrote it
		return n
	}
	plain := is("compression", "kNoCompression") && is("compression_per_level", "") &&
		is("bottommost_compression", "kDisableCompressionOption", "kNoCompression")
	s.compression = []string{option("compression"), option("bottommost_compression")}
	filtered := !is("filter_policy", "nullptr") && is("whole_key_filtering", "true")
	if is("compaction_style", "kCompactionStyleLevel") {
		s.structure = engine.Structure{Shape: engine.Leveled, Memtable: size("write_buffer_size")}
		s.structure.Filters = filtered && !s.settings.switches.Merges() // a row that is merged is not looked up
		if plain {
			s.structure.Block = size("block_size")
		}
	}
	s.direct = option("use_direct_reads") == "true"
}

// library is RocksDB's.
var library native.Library

func load(path string) error {
	return library.Load(path, func(l unsafe.Pointer) *byte { return (*byte)(unsafe.Pointer(C.load(l))) })
}

func (s *store) mergeRows(schema model.Schema) error {
	o, err := kvkit.NewOperator(schema)
	if err != nil {
		return err
	}
	spaces, width := 0, 0
	for space, format := range o.Formats() {
		spaces, width = max(spaces, int(space)+1), max(width, len(format)+1)
	}
	table := make([]byte, spaces*width)
	for space, format := range o.Formats() {
		copy(table[int(space)*width:], format)
	}
	return s.with(o.Name(), func(name *C.char) *C.char {
		C.store_merge(s.c, name, chars(table), C.size_t(spaces), C.size_t(width))
		return nil
	})
}

// readBack returns the options with which RocksDB runs.
func (s *store) readBack() ([]engine.Setting, error) {
	out := []engine.Setting{
		{Name: "library", Value: s.settings.path, Source: engine.AsSet},
		{Name: "transactions", Value: s.settings.transactions, Source: engine.AsSet},
		{Name: "cache", Value: fmt.Sprint(s.number(0, "rocksdb.block-cache-capacity")),
			Source: engine.ReadBack},
	}
	if asserts(s.settings.path) {
		out = append(out, engine.Setting{Name: "warning", Source: engine.ReadBack,
			Value: "the library was built with assertions: operations take up to twice the CPU of a release, and a failed " +
				"write of the log ends the process"})
	}
	options, err := kvkit.ReadOptions(s.dir)
	for _, o := range options { // all families have the same
		if !strings.HasPrefix(o.Name, "CFOptions") && !strings.HasPrefix(o.Name, "TableOptions") ||
			strings.Contains(o.Name, `"default"`) {
			o.Aside = strings.HasSuffix(o.Name, ".create_missing_column_families") // only while it is made
			out = append(out, o)
		}
	}
	return out, err
}
