package cpuset

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

func TestText(t *testing.T) {
	for text, want := range map[string]Set{
		"0": {0}, "0-3,8": {0, 1, 2, 3, 8}, "1,3,5-6\n": {1, 3, 5, 6}, "1023": {1023},
	} {
		s, err := Parse(text)
		expect.True(t, err == nil && slices.Equal(s, want) && s.String() == strings.TrimSpace(text),
			text, []int(s), s, err)
	}
	for _, text := range []string{"", "x", "3-1", "-1", "0-", "0,,1", "1024", "0-99999999999"} {
		if s, err := Parse(text); err == nil {
			t.Errorf("%q: %v", text, s)
		}
	}
	expect.Equal(t, (Set{}).String(), "", "the empty set is")
}

func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Set(rapid.SliceOfNDistinct(rapid.IntRange(0, maxCPUs-1), 1, 40, rapid.ID[int]).Draw(t, "set"))
		slices.Sort(s)
		got, err := Parse(s.String())
		expect.True(t, err == nil && slices.Equal(got, s), s, got, err)
	})
}

// sysfs writes a copy of the kernel's files about the threads of each core.
func sysfs(t testing.TB, cores ...string) string {
	root := t.TempDir()
	for _, core := range cores {
		threads := expect.Value(Parse(core))(t)
		for _, cpu := range threads {
			dir := filepath.Join(root, "devices/system/cpu", fmt.Sprintf("cpu%d", cpu), "topology")
			expect.NoError(t, os.MkdirAll(dir, 0o755))
			expect.NoError(t, os.WriteFile(filepath.Join(dir, "thread_siblings_list"), []byte(core+"\n"), 0o644))
		}
	}
	return root
}

func TestHalve(t *testing.T) {
	for _, c := range []struct {
		name, allowed, first, second string
		shared                       bool
		cores                        []string
	}{
		{"no topology", "0-3", "0-1", "2-3", false, nil},
		{"two cores", "0-1", "0", "1", false, []string{"0", "1"}},
		{"one is left over", "0-2", "0", "1", false, []string{"0", "1", "2"}},
		{"one core of two threads", "0-1", "0", "1", true, []string{"0-1"}},
		{"threads are neighbours", "0-7", "0-3", "4-7", false, []string{"0-1", "2-3", "4-5", "6-7"}},
		{"threads are far apart", "0-7", "0-1,4-5", "2-3,6-7", false, []string{"0,4", "1,5", "2,6", "3,7"}},
		{"three cores of two threads", "0-5", "0,3", "1,4", false, []string{"0,3", "1,4", "2,5"}},
		{"only some are allowed", "1-2,5-6", "1,5", "2,6", false, []string{"0,4", "1,5", "2,6", "3,7"}},
		{"cores of two kinds", "0-7", "0-1,4-5", "2-3,6-7", false, []string{"0-1", "2-3", "4", "5", "6", "7"}},
		{"no two cores are alike", "0-2", "0", "2", false, []string{"0-1", "2"}},
		{"nonsense", "0-1", "0", "1", false, []string{"2-3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			allowed := expect.Value(Parse(c.allowed))(t)
			h, err := Halve(allowed, sysfs(t, c.cores...))
			expect.True(t, err == nil && h.First.String() == c.first && h.Second.String() == c.second && h.Shared == c.shared, h.First, h.Second, h.Shared, err)
		})
	}
	expect.Refused(Halve(Set{5}, "/sys"))(t, "", "one CPU was halved")
}

// On any machine the halves are disjoint, of equal size, and no core has threads
// in both.
func TestHalvesAreFair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var cores []string
		var all Set
		for range rapid.IntRange(1, 12).Draw(rt, "cores") {
			core := Set{len(all)}
			if rapid.Bool().Draw(rt, "threads") {
				core = append(core, len(all)+1)
			}
			all = append(all, core...)
			cores = append(cores, core.String())
		}
		var allowed Set
		for _, cpu := range all {
			if rapid.IntRange(0, 4).Draw(rt, "allowed") > 0 {
				allowed = append(allowed, cpu)
			}
		}
		if len(allowed) < 2 {
			return
		}
		sys := sysfs(t, cores...)
		h, err := Halve(allowed, sys)
		expect.Must(rt, err == nil && len(h.First) != 0 && len(h.First) == len(h.Second),
			allowed, "of", cores, h.First, "and", h.Second, err)
		for _, cpu := range h.First {
			expect.True(rt, slices.Contains(allowed, cpu), "is not allowed", cpu)
			for _, thread := range siblings(cpu, sys) {
				expect.True(rt, (!slices.Contains(h.Second, thread) || h.Shared) && !slices.Contains(h.Second, cpu),
					"core of is in both and", cpu, h.First, h.Second)
			}
		}
	})
}

// The program is bound, and this process is not.
func TestStart(t *testing.T) {
	allowed, err := Allowed()
	expect.Must(t, err == nil && len(allowed) != 0, allowed, err)
	for _, on := range []Set{nil, {allowed[0]}, {allowed[len(allowed)-1]}} {
		want := on
		if on == nil {
			want = allowed
		}
		cmd := exec.Command("sh", "-c", "sh -c 'grep Cpus_allowed_list /proc/self/status'")
		var out strings.Builder
		cmd.Stdout = &out
		expect.NoError(t, Start(cmd, on))
		expect.NoError(t, cmd.Wait())
		if got, err := Parse(strings.TrimSpace(strings.TrimPrefix(out.String(), "Cpus_allowed_list:"))); err != nil || !slices.Equal(got, want) {
			t.Errorf("on %v: %q, %v", on, out.String(), err)
		}
		if now, err := Allowed(); err != nil || !slices.Equal(now, allowed) {
			t.Errorf("after it: %v, %v", now, err)
		}
	}
	expect.Error(t, Start(exec.Command("true"), Set{1000}), "", "a missing CPU was used")
	expect.Error(t, Start(exec.Command("/nonexistent"), Set{allowed[0]}), "", "a missing program was started")
}
