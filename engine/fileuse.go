package engine

import (
	"path"
	"strings"
)

// FileUses are the uses of an engine's files, by the ends of their paths. The first
// pattern that matches counts.
type FileUses []FileUse

// FileUse is the use of files. It is finer than a FileClass, and needs no open database.
type FileUse struct {
	// Pattern matches the last elements of the path, the same number as in the
	// pattern: "*.sst", "#rocksdb/*.log"; see path.Match.
	Pattern string
	Use     string // in a word: "data", "log"
	// Named: each holds one object, whose name is the file's without extension.
	Named bool
	// From and To are the range of bytes that it describes; 0, 0: the others.
	From, To int64

	Name string // of the object, in results of FileUses.Of
}

// The uses of files that engines have in common.
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

// Of returns the uses of a file: those of its parts, if it has some, then that of the rest.
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

// LSMFiles are the files of RocksDB and its descendants.
var LSMFiles = FileUses{{Pattern: "*.sst", Use: UseData}, {Pattern: "*.blob", Use: UseData},
	{Pattern: "*.log", Use: UseLog}}

// WiredTigerFiles are the files of WiredTiger, which has one for a table or index.
var WiredTigerFiles = FileUses{
	{Pattern: "WiredTigerLog.*", Use: UseLog}, {Pattern: "WiredTigerHS.wt", Use: UseUndo},
	{Pattern: "WiredTiger.wt", Use: UseSystem},
	{Pattern: "*.wt", Use: UseData, Named: true}, {Pattern: "*.lsm", Use: UseData},
}
