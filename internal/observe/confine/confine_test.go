package confine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/observe/confine"
	"rumbench/internal/observe/cpuset"
)

// A process that is bound and limited has its later children and threads bound and limited; its page
// cache is inside the limit; the group vanishes with it.
func TestConfined(t *testing.T) {
	const limit = 64 << 20
	name := confine.NameOf(t.TempDir())
	g, err := confine.NewGroup(name, limit)
	if err != nil {
		t.Skip(err) // not root, and nothing delegated
	}
	defer g.Remove()
	expect.Equal(t, expect.Value(g.Limit())(t), limit)
	all, _ := cpuset.Allowed()
	file := filepath.Join(t.TempDir(), "data")
	// Files are charged to the group of who brings them into the page cache.
	cmd := exec.Command("sh", "-c", "read go; head -c 256M /dev/zero > "+file+"; cat "+file+" > /dev/null; echo $$; read end")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	expect.NoError(t, cmd.Start())
	pid := cmd.Process.Pid
	expect.NoError(t, cpuset.Bind(pid, all[:1]))
	if err := g.Add(pid); err != nil || !g.Holds(pid) || g.Holds(os.Getpid()) {
		t.Fatalf("%v, %v", err, g.Holds(pid))
	}
	if on, err := cpuset.Of(pid); err != nil || !slices.Equal(on, all[:1]) {
		t.Errorf("%v, %v", on, err)
	}
	expect.True(t, confine.Left(name) != nil && g.Remove() != nil, "a group with a process was removed")
	in.Write([]byte("go\n"))
	buffer := make([]byte, 20)
	out.Read(buffer)
	var s engine.Sample
	expect.NoError(t, g.Collect(t.Context(), &s))
	values := map[string]float64{}
	for _, p := range s.Points {
		values[p.Name] = p.Value
	}
	if peak, ok := values["group.memory_peak_bytes"]; ok && (peak > limit || peak < limit/2) {
		t.Errorf("the peak is %.0f bytes, of %d", peak, limit)
	}
	used := values["group.memory_bytes"]
	expect.True(t, used > 0 && used <= limit, "bytes are in use, of", used, limit)
	if _, ok := values["group.refaults"]; !ok || g.Killed() {
		t.Errorf("%v", values)
	}
	in.Write([]byte("end\n"))
	cmd.Wait()
	if err := g.Remove(); err != nil || confine.Left(name) != nil {
		t.Errorf("%v: the group is left", err)
	}
}
