package explain

import (
	"strings"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
)

// structures are short names of shapes.
var structures = map[engine.Shape]string{engine.InPlace: "B-tree", engine.CopyOnWrite: "copied B-tree",
	engine.Leveled: "LSM tree"}

// duties are what a structure must do in a subsystem, and for a part of the KB written, by shape.
var duties = map[string]map[engine.Shape]string{
	"index search": {engine.InPlace: "descend a tree, search in each page",
		engine.CopyOnWrite: "descend a tree, search in each page",
		engine.Leveled:     "search memtables and, unless filters spare them, a block of each run"},
	"merging": {engine.Leveled: "merge the runs of a range into one order"},
	"cache": {engine.InPlace: "find pages, read missing ones, make room",
		engine.CopyOnWrite: "find pages in mapped memory",
		engine.Leveled:     "find blocks, read missing ones, make room"},
	"page allocation": {engine.InPlace: "split full pages", engine.CopyOnWrite: "copy each changed page and its parents"},
	"row locks":       {engine.InPlace: "lock rows, or their gaps"},
	"log": {engine.InPlace: "log a change before its page is written",
		engine.Leveled: "append each write, whole"},
	"checksums": {engine.InPlace: "of pages read and written",
		engine.Leveled: "of blocks read and written, and of the log"},
	"compression": {engine.InPlace: "unpack and pack pages",
		engine.Leveled: "unpack each block read, pack each written, also in merges"},
	"flush": {engine.InPlace: "write changed pages where they are",
		engine.Leveled: "write memtables as sorted files"},
	"compaction": {engine.Leveled: "merge sorted files again, level by level"},
	"purge":      {engine.InPlace: "remove old versions of rows"},
	"kernel: page copy": {engine.CopyOnWrite: "page faults of mapped files",
		engine.Leveled: "copy blocks from the page cache, unless reads are direct"},

	string(account.PagesPart): {engine.InPlace: "write a changed page as a whole, however little changed",
		engine.CopyOnWrite: "write a copy of each changed page, from leaf to root"},
	string(account.DoublewritePart): {engine.InPlace: "write pages twice, so that none is torn"},
	string(account.FullPagesPart):   {engine.InPlace: "log pages whole, so that none is torn"},
}

// ShapesDiffer reports whether the structures of targets differ in kind.
func ShapesDiffer(s *compare.Step, targets []*compare.Target) bool {
	var shapes []engine.Shape
	for _, t := range targets {
		for _, r := range s.Runs[t] {
			shapes = compare.AppendNew(shapes, r.Step.Structure.Shape)
		}
	}
	return len(shapes) > 1
}

// Duty returns what the structures of targets must do during a step in a subsystem, or for a part of the KB written;
// "" if nothing particular.
func Duty(s *compare.Step, targets []*compare.Target, name string) string {
	var texts []string
	for _, t := range targets {
		for _, r := range s.Runs[t] {
			shape := r.Step.Structure.Shape
			if does := duties[name][shape]; does != "" {
				texts = compare.AppendNew(texts, structures[shape]+": "+does)
			}
		}
	}
	return strings.Join(texts, "; ")
}
