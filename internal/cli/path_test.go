package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/engine/all"
	"rumbench/engine/native"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/server"
)

// ferretDB answers MongoDB's protocol; scripts/ferretdb.sh builds it.
const ferretDB = "/opt/rumbench/ferretdb/ferretdb"

// Every engine runs below the ugliest path, and what it has measured is read there.
func TestUgliestPath(t *testing.T) {
	t.Parallel()
	t.Run("of each kind", func(t *testing.T) {
		t.Parallel()
		runUgly(t, "sqlite", "lmdb", "postgres", "tarantool")
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		need.Long(t)
		var names []string
		for _, e := range all.Engines() {
			if name := e.Info().Name; name != "null" && name != "memory" { // they have no files
				names = append(names, name)
			}
		}
		runUgly(t, names...)
	})
}

func runUgly(t *testing.T, engines ...string) {
	t.Helper()
	h := newHost(t)
	programs := map[string]string{"mysql": server.MariaDB, "postgres": server.Postgres, "tarantool": server.Tarantool}
	binaries := map[string]string{"mongodb": ferretDB}
	if !native.Built {
		binaries["rocksdb"], binaries["wiredtiger"], binaries["lmdb"] = nativeProgram, nativeProgram, nativeProgram
	}
	var plan strings.Builder
	plan.WriteString("workload: sysbench\nparams: {tests: [oltp_point_select], table_size: 100, read_seconds: 0.2, settle_floor: 0s}\n" +
		"calibrate: false\nkeep: true\ncommon: {durability: os}\ntargets:\n")
	for _, name := range engines {
		var err error
		binary := binaries[name]
		if kind := programs[name]; kind != "" {
			_, err = server.Find(t.Context(), kind, server.Source{})
		} else if binary != "" {
			_, err = os.Stat(binary)
			binary = ", binary: " + binary
		}
		if programs[name] == "" && binary == "" || need.Found(t, err) {
			fmt.Fprintf(&plan, "  - {engine: %s%s}\n", name, binary)
		}
	}
	h.write("plan.yaml", plan.String())
	h.run(0, "run", "plan.yaml", "--no-preflight", "--out", need.UgliestName)
	c := expect.Value(result.ReadCampaign(h.path(need.UgliestName)))(t)
	for _, e := range c.Trials {
		tr := h.trial(filepath.Join(need.UgliestName, result.TrialsDir, e.Dir))
		expect.Equal(t, tr.Status, result.Complete, e.Dir, tr.Reason)
	}
	out, _ := h.run(0, "show", "--", need.UgliestName)
	h.contains("show", out, "sqlite.1: complete")
	h.run(0, "report", "--out", "page", "--", need.UgliestName)
	h.run(0, "run", "--resume", need.UgliestName)
}
