package explain

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/observe/profile"
	"rumbench/internal/text/quantity"
)

// Item is one of the things that a number is split into: a user of the processors, a subsystem that runs on them, a
// wait of sessions (engine.Role), a part of writes (account.Part), or one of these. The table of items describes each.
type Item string

// The items of times, and of costs.
const (
	Running, Client, Kernel Item = "CPU", "clients", "kernel threads"
	Others, Steal, Idle     Item = "other programs", "steal", "idle"
	Queue                   Item = account.ThreadQueue
	Stalled, Between        Item = "write stalls", "between operations"
	Writers, Flushes, Reads Item = "waiting for the only writer", "device flushes", "device reads"
	Uncovered, Clients      Item = "waits that are not counted", "number of clients"

	Padding, Uncounted                     Item = "not counted by the engine", "pages and what is not counted"
	Journal, Rest                          Item = "journal", "rest"
	TextLog, BinaryLog, TempWrites         Item = "text log", "binary log", "writes to temporary files"
	CommitPages                            Item = "pages of each commit"
	Data, LogFiles, SystemFiles, TempFiles Item = "data", "log files", "system files", "temporary files"
	Lookups, Misses, PerMiss               Item = "lookups per unit", "share of misses", "device reads per miss"
	MissKB, ReadCount, PerRead             Item = "KB per miss", "reads per unit", "KB per read"
)

// ofCPU begins the items of Running: its subsystems.
const ofCPU = "CPU in "

// in is the item of a subsystem.
func in(s profile.Subsystem) Item { return ofCPU + Item(s) }

// Subsystem returns the subsystem of an item of CPU time.
func (i Item) Subsystem() (s profile.Subsystem, ok bool) {
	name, ok := strings.CutPrefix(string(i), ofCPU)
	return profile.Subsystem(name), ok
}

type facts struct {
	slack bool // it is no cause: the remainder, and what others do, which is a rate in time
	// counted: it is an amount, and no time, and by itself a reason of the sum that it is part of
	counted bool
	rule    Rule
	says    string               // how a sentence puts its change
	format  func(float64) string // of its values; nil: as its ledger's
	file    engine.FileClass     // of a class of files, their space
	aspects []engine.Aspect      // of settings that change it
}

// blocks are aspects of what a cache holds and a read fetches. Knobs of these affect the same
// numbers.
var blocks = []engine.Aspect{engine.AspectCompression, engine.AspectPageSize, engine.AspectCache}

var (
	logSync  = []engine.Aspect{engine.AspectLogSync}
	pageLogs = []engine.Aspect{engine.AspectCheckpoint}
	logPack  = []engine.Aspect{engine.AspectCompression, engine.AspectLogCompression, engine.AspectPageSize}
)

// items is the table of items. Items missing from it have no facts.
var items = map[Item]facts{
	Running: {rule: RuleCPU}, // of the engine, not of its client, while sessions do their operations
	Client:  {rule: RuleClient, says: "the client needs %s of CPU"},
	Kernel:  {rule: RuleCPU, says: "kernel threads need %s of CPU"}, // for write-back, the journal and the like
	Others:  {slack: true}, Steal: {slack: true}, Idle: {slack: true},
	Queue: {rule: RuleQueue, says: "sessions wait %s for a processor",
		aspects: []engine.Aspect{engine.AspectProcessors}},
	Stalled: {rule: RuleStalls, says: "the engine held up writes for %s"},
	Between: {rule: RulePauses, says: "clients take %s between operations"},
	Writers: {rule: RuleWriters, says: "writers wait %s for each other: one writes at a time"},
	Flushes: {rule: RuleCommits, says: "device flushes take %s", aspects: logSync},
	Reads: {rule: RuleReads, says: "reads of the device take %s",
		aspects: append([]engine.Aspect{engine.AspectDevice}, blocks...)},
	Clients:   {rule: RuleClients, counted: true, says: "the number of clients is %s", format: quantity.Thousandths},
	Uncovered: {slack: true},

	Item(engine.RoleClient): {rule: RuleClient, says: "sessions wait %s for their clients",
		aspects: []engine.Aspect{engine.AspectProtocol, engine.AspectConnection}},
	Item(engine.RoleNetwork):  {rule: RuleProtocol, says: "sessions spend %s on sending"},
	Item(engine.RoleCommit):   {rule: RuleCommits, says: "commits wait %s for the log", aspects: logSync},
	Item(engine.RoleRow):      {rule: RuleRowLocks, says: "sessions wait %s for row locks"},
	Item(engine.RoleMetadata): {rule: RuleLatches, says: "sessions wait %s for the metadata lock"},
	Item(engine.RoleSnapshot): {rule: RuleLatches, says: "sessions wait %s for the list of transactions"},
	Item(engine.RoleIndex):    {rule: RuleLatches, says: "sessions wait %s for the index tree"},
	Item(engine.RoleBuffer):   {rule: RuleLatches, says: "sessions wait %s for pages in the cache"},
	Item(engine.RoleIO): {rule: RuleReads, says: "sessions wait %s for reads and writes of tables and indexes",
		aspects: blocks},
	Item(engine.RoleOther): {slack: true},

	Item(account.PagesPart): {counted: true, rule: RulePageWrites, says: "pages take %s",
		aspects: []engine.Aspect{engine.AspectPageSize, engine.AspectCompression, engine.AspectCheckpoint}},
	Item(account.DoublewritePart): {counted: true, rule: RuleDoublewrite, says: "the doublewrite buffer takes %s",
		aspects: []engine.Aspect{engine.AspectDoublewrite}},
	Item(account.FullPagesPart): {counted: true, rule: RuleWholePages, says: "whole pages in the log take %s",
		aspects: append(slices.Clone(pageLogs), engine.AspectLogCompression)},
	Item(account.LogPart):        {counted: true, rule: RuleLogVolume, says: "the log takes %s", aspects: logPack},
	Item(account.FlushPart):      {counted: true, rule: RuleCompaction, says: "flushes write %s"},
	Item(account.CompactionPart): {counted: true, rule: RuleCompaction, says: "compactions write %s"},
	TextLog: {counted: true, rule: RuleTextLog, says: "the server’s text log takes %s",
		aspects: []engine.Aspect{engine.AspectTextLog}},
	BinaryLog: {counted: true, rule: RuleBinlog, says: "the binary log takes %s",
		aspects: []engine.Aspect{engine.AspectBinlog}},
	TempWrites: {counted: true, rule: RuleSpills, says: "temporary files of sorts and hash tables take %s",
		aspects: []engine.Aspect{engine.AspectSort}},
	CommitPages: {counted: true, rule: RuleCommitPages,
		says: "each commit’s own pages, such as the list of free pages, take %s"},
	// bytes that the engine's processes write beyond those counted; Uncounted if it counts nothing but its log
	Padding:   {says: "writes that the engine’s counters do not cover: %s", aspects: logSync},
	Uncounted: {says: "pages, and what else the engine’s counters do not cover: %s", aspects: blocks[:2]},
	Journal:   {rule: RuleJournal, counted: true, says: "the file system’s journal takes %s", aspects: logSync},
	Rest:      {slack: true}, // the part of a sum that no item accounts for

	Data: {counted: true, rule: RuleData, says: "tables and indexes take %s the live data", file: engine.DataFile,
		aspects: []engine.Aspect{engine.AspectCompression, engine.AspectEncryption}},
	LogFiles: {counted: true, rule: RuleData, says: "log files take %s the live data", file: engine.LogFile,
		aspects: pageLogs},
	SystemFiles: {counted: true, rule: RuleData, file: engine.SystemFile,
		says: "undo, old row versions and the server’s own files take %s the live data"},
	TempFiles: {counted: true, rule: RuleSpills, says: "temporary files take %s the live data", file: engine.TempFile},

	Lookups: {counted: true, rule: RuleLookups, says: "it looks up %s pages or blocks"},
	Misses: {counted: true, rule: RuleReads, says: "the cache misses %s of its lookups", format: quantity.RoughShare,
		aspects: blocks},
	PerMiss: {counted: true, rule: RulePageCache, says: "the device does %s reads per cache miss"},
	// read per miss, if others disturbed the device
	MissKB:    {counted: true, rule: RuleReads, says: "a miss fetches %s from the device", format: kb, aspects: blocks},
	ReadCount: {counted: true, rule: RuleReads, says: "it does %s reads", aspects: blocks},
	PerRead:   {counted: true, rule: RulePageSize, says: "a read fetches %s", format: kb, aspects: blocks[:2]},
}

// slack reports whether the item is no cause.
func (i Item) slack() bool { return items[i].slack || i == in(profile.Unknown) }

// space returns the item of the files of a class; "" if it has none.
func space(class engine.FileClass) (out Item) {
	for i, f := range items {
		if class != "" && f.file == class {
			out = i
		}
	}
	return out
}

// says puts an item's change into words.
func (s *Step) says(c *Cause) string {
	if sub, ok := c.Item.Subsystem(); ok {
		return ofCPU + strings.Replace(string(sub), "kernel: ", "the kernel’s ", 1) + " " + c.change()
	}
	switch f := items[c.Item]; {
	case c.Item == Running && s.New.embedded():
		return name(&s.New) + " needs " + c.change() + " of CPU"
	case c.Item == Running:
		return name(&s.New) + " needs " + c.change() + " of server CPU"
	case f.says != "":
		return fmt.Sprintf(f.says, c.change())
	}
	return fmt.Sprintf("%s: %s", c.Item, c.change())
}

func bytes(v float64) string { return quantity.BytesAs(v, quantity.Digits) }

func kb(v float64) string { return quantity.Thousandths(v) + " KB" }

func instead(format func(float64) string, base, other float64) string {
	return format(other) + " instead of " + format(base)
}
