package trial

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/workload"
)

// On a real device: commits of one row with a sync each disturb nothing, though
// the device writes several times what the process does; a neighbour that
// writes and syncs beside them does.
func TestNeighbourOnDevice(t *testing.T) {
	need.Root(t, "read the I/O of all processes")
	dir := t.TempDir()
	if _, err := observe.FindDevice(dir); err != nil {
		t.Skip(err)
	}
	seen := false
	for attempt := range 6 { // on a busy machine the neighbour may get no turn in a step
		neighbour := attempt > 0
		if seen {
			break
		}
		s := script(t, workload.Group{Clients: 1}, committer(t, filepath.Join(dir, "log")))
		if attempt == 1 {
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
			st.Find("process_write_kb", "", "transaction"), st.Find("journal_kb", "", "transaction"), st.Warnings)
		seen = neighbour && device.Disturbed && has(metric.Texts(st.Warnings), "disturbed: other programs wrote")
		// Others may write on this machine, too: their own figure decides.
		own := others.Value <= 128
		expect.True(t, !own || !device.Disturbed, "others wrote KB, and it is disturbed", others.Value, st.Warnings)
	}
	expect.True(t, seen, "the neighbour was never seen")
}

// committer appends a row to a file and syncs it, as a commit does.
func committer(t *testing.T, path string) func(*workload.Outcome, int, int) error {
	f := expect.Value(os.Create(path))(t)
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
	expect.NoError(t, exec.Command("sh", "-c", loop, "sh", path).Run())
	return func() {
		expect.NoError(t, os.WriteFile(path+".stop", nil, 0o644))
		for range 2000 { // until the directory can be removed
			if _, err := os.Stat(path + ".over"); err == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Error("the neighbour does not end")
	}
}
