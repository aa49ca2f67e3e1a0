package main

import (
	"context"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/dgraph-io/badger/v4"
	bolt "go.etcd.io/bbolt"

	"rumbench/engine/native"
)

// Plain loops over a library's own calls, for engines without a benchmark of their own
// here: C programs for libraries in C, and functions for those in Go.

//go:embed plain
var plainSources embed.FS

var (
	plainLMDB = plainC("lmdb", "", nil, true, func(ctx context.Context) ([]string, error) {
		// The version that rumbench has: its sources come with the module.
		const module = "github.com/PowerDNS/lmdb-go"
		out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		dir := filepath.Join(strings.TrimSpace(string(out)), "lmdb")
		return []string{"-I" + dir, filepath.Join(dir, "mdb.c"), filepath.Join(dir, "midl.c"), "-pthread"}, err
	})
	plainWiredTiger = plainC("wiredtiger", "/usr/include/wiredtiger.h", map[string]any{"library": "3.2.1"}, false,
		func(context.Context) ([]string, error) { return []string{"-lwiredtiger"}, nil })
	plainSQLite = plainC("sqlite", "/usr/include/sqlite3.h", nil, false,
		func(context.Context) ([]string, error) { return []string{"-lsqlite3"}, nil })
)

// plainC returns the rival that is a C program.
func plainC(name, header string, options map[string]any, mapped bool,
	flags func(context.Context) ([]string, error)) rival {
	return rival{
		name: "plain-" + name, engine: name, options: options, mapped: mapped,
		missing: func() (err error) {
			if header != "" {
				_, err = os.Stat(header)
			}
			if name != "sqlite" && !native.Built {
				err = native.Missing(name)
			}
			return err
		},
		command: func(ctx context.Context, dir string, e embedded) (*exec.Cmd, error) {
			exe := filepath.Join(dir, name)
			if _, err := os.Stat(exe); err != nil {
				if err := compile(ctx, exe, name, flags); err != nil {
					return nil, err
				}
			}
			return exec.Command(exe, e.Test, e.Dir, fmt.Sprint(e.Ops), fmt.Sprint(e.keys())), nil
		},
	}
}

// compile builds a plain program of the embedded sources.
func compile(ctx context.Context, exe, name string, flags func(context.Context) ([]string, error)) error {
	for _, file := range []string{name + ".c", "plain.h"} {
		text, err := plainSources.ReadFile("plain/" + file)
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(exe), file), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	extra, err := flags(ctx)
	if err != nil {
		return err
	}
	args := append([]string{"-O2", "-o", exe, exe + ".c"}, extra...)
	out, err := exec.CommandContext(ctx, "gcc", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("compile %s.c: %w\n%s", exe, err, out)
	}
	return nil
}

// plainGo returns the rival that is a loop in this program.
func plainGo(name string, mapped bool) rival {
	return rival{
		name: "plain-" + name, engine: name, mapped: mapped,
		command: func(_ context.Context, _ string, e embedded) (*exec.Cmd, error) {
			self, err := os.Executable()
			if err != nil {
				return nil, err
			}
			text, err := json.Marshal(e)
			return exec.Command(self, "-plain", string(text)), err
		},
	}
}

// puts and gets on a library in Go.
type plainStore struct {
	put  func(key, value []byte) error
	get  func(key []byte) error
	shut func() error
}

var plainStores = map[string]func(dir string) (plainStore, error){
	"pebble": func(dir string) (s plainStore, err error) {
		cache := pebble.NewCache(benchCache)
		o := &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Cache: cache}
		for i := range o.Levels {
			o.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
		}
		db, err := pebble.Open(dir, o)
		if err != nil {
			return s, err
		}
		return plainStore{
			// With NoSync a commit would not wait for the log to be written. In memory a sync is a call that does nothing.
			put: func(key, value []byte) error { return db.Set(key, value, pebble.Sync) },
			get: func(key []byte) error {
				_, c, err := db.Get(key)
				if err == nil {
					return c.Close()
				}
				return unless(err, pebble.ErrNotFound)
			},
			shut: db.Close,
		}, nil
	},
	"badger": func(dir string) (s plainStore, err error) {
		o := badger.DefaultOptions(dir).WithLogger(nil).WithSyncWrites(false).WithCompression(0)
		o.IndexCacheSize = benchCache / 4
		o.BlockCacheSize = benchCache - o.IndexCacheSize
		db, err := badger.Open(o)
		if err != nil {
			return s, err
		}
		return plainStore{
			put: func(key, value []byte) error {
				return db.Update(func(t *badger.Txn) error { return t.Set(clone(key), clone(value)) })
			},
			get: func(key []byte) error {
				return db.View(func(t *badger.Txn) error {
					item, err := t.Get(key)
					if err == nil {
						return item.Value(func([]byte) error { return nil })
					}
					return unless(err, badger.ErrKeyNotFound)
				})
			},
			shut: db.Close,
		}, nil
	},
	"bbolt": func(dir string) (s plainStore, err error) {
		db, err := bolt.Open(filepath.Join(dir, "plain.db"), 0o644, &bolt.Options{NoSync: true})
		if err != nil {
			return s, err
		}
		name := []byte("t")
		return plainStore{
			put: func(key, value []byte) error {
				return db.Update(func(t *bolt.Tx) error {
					b, err := t.CreateBucketIfNotExists(name)
					if err != nil {
						return err
					}
					return b.Put(key, value)
				})
			},
			get: func(key []byte) error {
				return db.View(func(t *bolt.Tx) error { t.Bucket(name).Get(key); return nil })
			},
			shut: db.Close,
		}, nil
	},
}

func clone(b []byte) []byte { return append([]byte(nil), b...) }

func unless(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// runPlain runs a test in a plain loop, and prints its line.
func runPlain(text string) (err error) {
	var e embedded
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	s, err := plainStores[e.Engine](e.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.shut()) }()
	random := rand.New(rand.NewPCG(1, uint64(e.Ops)))
	values := make([]byte, 1<<20)
	for i := range values {
		values[i] = byte(random.Uint32())
	}
	key, position := make([]byte, 8), 0
	start := time.Now()
	last, longest := start, time.Duration(0)
	for i := range uint64(e.Ops) {
		if e.Test != "fillseq" {
			i = random.Uint64N(uint64(e.keys()))
		}
		binary.BigEndian.PutUint64(key, i)
		if e.fills() {
			if position += benchValue + 1; position+benchValue+1 > len(values) {
				position = 0
			}
			err = s.put(key, values[position:position+benchValue+1])
		} else {
			err = s.get(key)
		}
		if err != nil {
			return err
		}
		now := time.Now() // each operation is timed, as by db_bench
		longest, last = max(longest, now.Sub(last)), now
	}
	fmt.Printf("%s : %.6f seconds %d operations, the longest %v\n", e.Test, last.Sub(start).Seconds(), e.Ops, longest)
	return nil
}
