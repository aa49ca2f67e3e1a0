package engine

import (
	"path"
	"strings"
)

// FileUses say what the files of an engine are for, by the ends of their paths. The
// first pattern that matches counts.
type FileUses []FileUse

// FileUse is what files are for. It is finer than a FileClass, and needs no database
// that is open.
type FileUse struct {
	// Pattern is of the last elements of the path, as many as it has itself:
	// "*.sst", "#rocksdb/*.log"; see path.Match.
	Pattern string
	Use     string // in a word: "data", "log"
	// Named: each holds one object, whose name is the file's without extension.
	Named bool
	// From and To are the bytes of the file that it is about; 0, 0: the others.
	From, To int64

	Name string // of the object, in what FileUses.Of returns
}

// What files are for, where engines have the same.
const (
	UseData   = "data"        // tables and indexes
	UseLog    = "log"         // redo or write-ahead log
	UseDouble = "doublewrite" // pages before they are written in their places
	UseUndo   = "undo"        // old versions of rows
	UseBinlog = "binlog"
	UseTemp   = "temp"
	UseSystem = "system" // the engine's own tables, states and settings; files that match no pattern

	UseOther = "other files" // outside of the engine's directories, other programs' too
)

// Of returns what a file is for: its parts, if it has some, then the rest.
func (u FileUses) Of(file string) (out []FileUse) {
	for _, one := range u {
		end := file
		for slash, n := len(file), strings.Count(one.Pattern, "/")+1; n > 0 && slash >= 0; n-- {
			slash = strings.LastIndexByte(file[:slash], '/')
			end = file[slash+1:]
		}
		if ok, _ := path.Match(one.Pattern, end); !ok {
			continue
		}
		if one.Named {
			base := path.Base(file)
			one.Name = strings.TrimSuffix(base, path.Ext(base))
		}
		out = append(out, one)
		if one.To == 0 {
			return out
		}
	}
	return append(out, FileUse{Use: UseSystem})
}

// LSMFiles are the files of RocksDB and what descends from it.
var LSMFiles = FileUses{{Pattern: "*.sst", Use: UseData}, {Pattern: "*.blob", Use: UseData},
	{Pattern: "*.log", Use: UseLog}}

// WiredTigerFiles are the files of WiredTiger, which has one for a table or index.
var WiredTigerFiles = FileUses{
	{Pattern: "WiredTigerLog.*", Use: UseLog}, {Pattern: "WiredTigerHS.wt", Use: UseUndo},
	{Pattern: "WiredTiger.wt", Use: UseSystem},
	{Pattern: "*.wt", Use: UseData, Named: true}, {Pattern: "*.lsm", Use: UseData},
}
