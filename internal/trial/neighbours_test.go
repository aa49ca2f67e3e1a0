package trial

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/workload"
)

// What the device did beyond the engine's processes is the journal's, unless
// other programs did it: only then it is disturbed.
func TestDisturbance(t *testing.T) {
	const mb = 1 << 20
	known := func(written float64, closed ...string) neighbours {
		return neighbours{known: true, Traffic: observe.Traffic{Written: written * mb, Processes: 9, Closed: closed}}
	}
	for _, c := range []struct {
		name            string
		process, device float64 // MB
		others          neighbours
		disturbed       bool
		journal         float64 // MB; -1: unknown
		warning         string
	}{
		{"the journal of a sync per commit", 6.4, 24.9, known(0), false, 18.5, ""},
		{"and a program that logs a little", 6.4, 24.9, known(0.1), false, 18.4, ""},
		{"a neighbour", 6.4, 24.9, known(9), true, 9.5, "disturbed: other programs wrote up to 9.0 MB of the 24.9 MB that the device wrote"},
		{"a neighbour on another device", 20, 20.5, known(900), false, 0, ""},
		{"neighbours that the engine hides", 500, 100, known(50), true, -1, "up to 50.0 MB of the 100.0 MB"},
		{"one that is closed", 6.4, 24.9, known(0, "initd"), false, 18.5, "the rest is the file system's journal, or of initd, whose I/O may not be read"},
		{"a neighbour and one that is closed", 6.4, 24.9, known(9, "initd"), true, 9.5, "disturbed: other programs wrote up to 9.0 MB"},
		{"unknown", 6.4, 24.9, neighbours{why: errors.New("not seen")}, false, -1, "or of other programs: not seen"},
		{"unknown, nothing to explain", 20, 24.9, neighbours{why: errors.New("not seen")}, false, -1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ends := func(process, device float64) observe.Snapshot {
				return snap(from("process", "process.write_bytes", process*mb), from("device", "device.write_bytes", device*mb))
			}
			w := &window{before: ends(0, 0), after: ends(0, 0), drained: ends(c.process, c.device), length: time.Second, others: c.others}
			r := newRows(queryStep(), queryResult(), w)
			addCosts(r)
			for _, name := range []string{"write_kb", "write_amplification"} {
				if n := row(t, r.out, "", "", name); n.Disturbed != c.disturbed || has(metric.Texts(n.Warnings), "disturbed: ") != c.disturbed {
					t.Errorf("%s: disturbed %v, %q", name, n.Disturbed, n.Warnings)
				}
			}
			if got := strings.Join(metric.Texts(r.out.Warnings), "; "); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
				t.Errorf("warnings %q", got)
			}
			j := r.out.Find("journal_kb", "", "insert row")
			if (j == nil) != (c.journal < 0) {
				t.Fatalf("journal %+v", j)
			}
			if j != nil && (j.Value < (c.journal-0.01)*kb/200 || j.Value > (c.journal+0.01)*kb/200 || j.N != 200 || !strings.Contains(j.Source, "estimate")) {
				t.Errorf("journal %+v, want %v KB", j, c.journal*kb/200)
			}
		})
	}
}

// The same for what was read.
func TestReadDisturbance(t *testing.T) {
	for others, want := range map[float64]bool{0: false, 40 << 10: true} {
		end := snap(from("process", "process.read_bytes", 10.0*(1<<20)), from("device", "device.reads", 9.0, "device.read_bytes", 100.0*(1<<20)))
		w := &window{before: snap(from("process", "process.read_bytes", 0.0), from("device", "device.reads", 0.0, "device.read_bytes", 0.0)), after: end, drained: end}
		w.others = neighbours{known: true, Traffic: observe.Traffic{Read: others * kb}}
		r := newRows(queryStep(), queryResult(), w)
		addCosts(r)
		for _, name := range []string{"read_kb", "device_reads"} {
			if got := row(t, r.out, "", "", name).Disturbed; got != want {
				t.Errorf("others read %v KB: %s disturbed %v", others, name, got)
			}
		}
	}
}

// On a real device: commits of one row with a sync each disturb nobody, though
// the device writes several times what the process does; a neighbour that writes
// and syncs beside them does.
func TestNeighbourOnDevice(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may read the I/O of all processes")
	}
	dir := t.TempDir()
	if _, err := observe.FindDevice(dir); err != nil {
		t.Skip(err)
	}
	for _, neighbour := range []bool{false, true} {
		s := script(t, workload.Group{Clients: 1}, committer(t, filepath.Join(dir, "log")))
		if neighbour {
			stop := disturb(t, filepath.Join(dir, "other"))
			defer stop()
		}
		st := step(t, run(t, s, result.Complete), "s")
		others := st.Find("others_write_kb", "", "")
		if others == nil {
			t.Skip("other processes cannot be seen here: ", st.Warnings)
		}
		device := st.Find("write_kb", "", "transaction")
		t.Logf("neighbour %v: %v KB by others, %v KB per commit of the device, %v of the process, %v of the journal; %q", neighbour, others.Value, device.Value,
			st.Find("process_write_kb", "", "transaction").Value, st.Find("journal_kb", "", "transaction"), st.Warnings)
		if neighbour && (!device.Disturbed || !has(metric.Texts(st.Warnings), "disturbed: other programs wrote")) {
			t.Errorf("the neighbour is not seen: %q", st.Warnings)
		}
		// Others may write on this machine, too: their own figure decides.
		if own := others.Value <= littleIO; own && device.Disturbed {
			t.Errorf("others wrote %v KB, and it is disturbed: %q", others.Value, st.Warnings)
		}
	}
}

// committer appends a row to a file and syncs it, as a commit does.
func committer(t *testing.T, path string) func(*workload.Outcome, int, int) error {
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func(*workload.Outcome, int, int) error {
		if _, err := f.WriteString(strings.Repeat("x", 100)); err != nil {
			return err
		}
		return f.Sync()
	}
}

// disturb writes and syncs in another process until it is stopped. It is not of
// this process's family: its shell ends at once.
func disturb(t *testing.T, path string) (stop func()) {
	t.Helper()
	const loop = `(i=0; while [ ! -e "$1.stop" ] && [ $i -lt 2000 ]; do i=$((i+1)); dd if=/dev/zero of="$1" bs=1M count=4 conv=fsync; done; : >"$1.over") >/dev/null 2>&1 &`
	if err := exec.Command("sh", "-c", loop, "sh", path).Run(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.WriteFile(path+".stop", nil, 0o644); err != nil {
			t.Error(err)
		}
		for range 2000 { // until the directory can be removed
			if _, err := os.Stat(path + ".over"); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error("the neighbour does not end")
	}
}
