package explain

import (
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/text/quantity"
)

// Item is one of the things that a number is split into: a user of the processors, a role
// of sessions (engine.Role), a state of their threads (account.ThreadCPU and others), a part
// of writes (account.Part), or one of these. The table of items describes each.
type Item string

// The items of times, of throughput as a product, and of costs.
const (
	Server, Serving, Behind, Client Item = "server", "sessions' CPU", "background CPU", "clients"
	Kernel, Others, Steal, Idle     Item = "kernel threads", "other programs", "steal", "idle"
	InCalls, Stalled, Between       Item = "in the engine", "write stalls", "between operations"
	Writers                         Item = "waiting for the only writer"
	Clients, Flushes, NoFlush       Item = "number of clients", "device flushes", "no flush"

	Can, Used, Needs Item = "what the device can do", "share of it that is used", "what a unit needs of it"

	Padding, Uncounted                     Item = "not counted by the engine", "pages and what is not counted"
	Journal, Rest                          Item = "journal", "rest"
	TextLog, BinaryLog, TempWrites         Item = "text log", "binary log", "writes to temporary files"
	CommitPages                            Item = "pages of each commit"
	Data, LogFiles, SystemFiles, TempFiles Item = "data", "log files", "system files", "temporary files"
	Lookups, Misses, PerMiss               Item = "lookups per unit", "share of misses", "device reads per miss"
	MissKB, Reads, PerRead                 Item = "KB per miss", "reads per unit", "KB per read"
)

// kind groups items that rules treat together.
type kind string

const (
	// slack is no cause: the remainder, and the CPU that other programs use, which is a rate
	// in time: per unit it grows because fewer units are done.
	slack  kind = "slack"
	served kind = "served" // CPU of the engine for its sessions
	behind kind = "behind" // other CPU that work causes
	inside kind = "inside" // time in statements or operations, whatever the activity
	commit kind = "commit"
	latch  kind = "latch"
	pages  kind = "pages" // that are written
)

type facts struct {
	kind   kind
	says   string               // how a sentence puts its change; "": “sessions wait %s for ITEM”
	format func(float64) string // of its values; nil: as its ledger's
	file   engine.FileClass     // of a class of files, their space
}

// items is the table of items. Items missing from it have no facts.
var items = map[Item]facts{
	Server:  {kind: served},                                                // CPU of the engine, not its client
	Serving: {kind: served, says: "its sessions need %s of CPU"},           // of Server, threads of sessions, if counted
	Behind:  {kind: behind, says: "its background threads need %s of CPU"}, // of Server, all other threads
	Client:  {},                                                            // CPU of the clients; a role is called client
	Kernel:  {says: "kernel threads need %s of CPU"},                       // for write-back, the journal and the like
	Others:  {kind: slack},                                                 // CPU of programs outside the test
	Steal:   {kind: slack},                                                 // CPU that the hypervisor gave to others
	Idle:    {kind: slack},                                                 // processors without work
	InCalls: {kind: inside, says: "operations take %s"},                    // of an embedded engine, without Stalled
	Stalled: {},                                                            // time in which the engine held up writes
	// of InCalls, if only one may write at a time
	Writers: {says: "writers wait %s for each other: one writes at a time"},
	Between: {},                                         // time of clients without an operation
	Clients: {format: quantity.Thousandths},             // in closed loops, if the runs differ in it
	Flushes: {},                                         // time in which the device made writes durable
	NoFlush: {kind: slack},                              // the rest of the window
	Can:     {format: quantity.Thousandths},             // flushes, requests or KB per second
	Used:    {kind: slack, format: quantity.RoughShare}, // of Can
	Needs:   {format: quantity.Thousandths},             // flushes, requests or KB per unit

	Item(engine.RoleExecuting): {kind: inside, says: "statements take %s"},
	Item(engine.RoleCPU):       {kind: inside, says: "statements take %s"},
	Item(engine.RoleCommit):    {kind: commit, says: "commits wait %s for the log"},
	Item(engine.RoleLog):       {kind: commit, says: "commits wait %s for the log"},
	Item(engine.RoleMetadata):  {kind: latch}, Item(engine.RoleSnapshot): {kind: latch},
	Item(engine.RoleIndex): {kind: latch}, Item(engine.RoleBuffer): {kind: latch},
	Item(engine.RoleOther):     {kind: slack},
	Item(account.ThreadCPU):    {says: "sessions run for %s"},
	Item(account.ThreadAsleep): {kind: slack}, Item(account.ThreadAsleepOrIO): {kind: slack},

	Item(account.PagesPart): {kind: pages}, Item(account.DoublewritePart): {kind: pages},

	TextLog: {}, BinaryLog: {}, // growth of the server's messages, and of the log for replicas
	// CommitPages are those of a tree that copies pages, besides the pages of data
	CommitPages: {},
	TempWrites:  {},            // to temporary files of sorts and hash tables
	Padding:     {},            // bytes that the engine's processes write beyond those counted
	Uncounted:   {},            // the same if it counts nothing but its log: its pages are in it
	Journal:     {},            // written by the file system for itself
	Rest:        {kind: slack}, // the part of a sum that no item accounts for

	Data:        {file: engine.DataFile}, // files of tables and indexes
	LogFiles:    {file: engine.LogFile},
	SystemFiles: {file: engine.SystemFile}, // undo, old row versions, the server's own
	TempFiles:   {file: engine.TempFile},

	Lookups: {},           // pages or blocks looked for in the cache
	Misses:  {},           // of the lookups
	PerMiss: {},           // less than 1 if the page cache has some
	MissKB:  {format: kb}, // read per miss, if others disturbed the device
	Reads:   {},           // of an engine that does not count misses
	PerRead: {format: kb}, // of the device
}

func (i Item) is(kinds ...kind) bool { return slices.Contains(kinds, items[i].kind) }

// kin returns all items of these kinds.
func kin(kinds ...kind) (out []Item) {
	for i := range items {
		if i.is(kinds...) {
			out = append(out, i)
		}
	}
	return out
}

// space returns the item of the files of a class; "" if it has none.
func space(class engine.FileClass) (out Item) {
	for i, f := range items {
		if class != "" && f.file == class {
			out = i
		}
	}
	return out
}

func bytes(v float64) string { return quantity.BytesAs(v, quantity.Digits) }

func kb(v float64) string { return quantity.Thousandths(v) + " KB" }

func instead(format func(float64) string, base, other float64) string {
	return format(other) + " instead of " + format(base)
}
