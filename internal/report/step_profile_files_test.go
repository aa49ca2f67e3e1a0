package report

import (
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/page"
)

func TestFileTable(t *testing.T) {
	row := func(use, name string, op blockio.Op, kb float64, requests int64) blockio.Row {
		return blockio.Row{Class: blockio.Class{Use: use, Name: name}, Op: op, KB: kb, Requests: requests}
	}
	p := &Profile{Target: "innodb", Per: "query", InExtra: InExtra{Units: 10, Device: map[blockio.Op]float64{blockio.Read: 2, blockio.Write: 71},
		Files: &blockio.Files{Rows: []blockio.Row{
			row("", "", blockio.Flush, 0, 90), row(engine.UseData, "t1", blockio.Read, 20, 5), row(engine.UseData, "t1", blockio.Write, 300, 10),
			row(engine.UseData, "t2", blockio.Write, 100, 10), row(engine.UseLog, "", blockio.Write, 310, 40), row(engine.UseTemp, "", blockio.Discard, 800, 1),
		}},
		Asleep: &profile.Asleep{Window: time.Second, Looks: 20, Sleeps: []profile.Sleep{
			{Place: profile.Place{Thread: "log", Syscall: "fdatasync", Kernel: "submit_bio_wait", File: engine.UseLog}, Time: 500 * time.Millisecond},
			{Place: profile.Place{Thread: "other", Syscall: "futex", Kernel: "futex_do_wait"}, Time: time.Millisecond}}},
	}}
	var b strings.Builder
	expect.NoError(t, page.Text(&b, []page.Block{FileTable(p, 2), SleepTable(p, 1)}, page.TextStyle{}))
	expect.All(t, strings.Join(strings.Fields(b.String()), " "),
		"data: t1 2.00 30.0 0 1.50", "log 0 31.0 0 4.00", "other classes and tables 0 10.0 80.0 1.00", "in all 2.00 71.0 80.0 6.50", "own files 2.00 71.0 – –",
		"log 50,000 0.500 fdatasync submit_bio_wait log",
	)
	expect.Lacks(t, b.String(), "futex", "more rows than wanted")
}
