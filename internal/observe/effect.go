package observe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"rumbench/engine"
)

// EffectsOf returns which effects of settings the kernel shows of processes: that of each is "yes" or "none". What
// cannot be read is left out.
func EffectsOf(procRoot string, pids []int) (out Facts) {
	add := func(e engine.Effect, seen func(dir string) (found, valid bool)) {
		value, known := "none", len(pids) > 0
		for _, pid := range pids {
			found, ok := seen(filepath.Join(procRoot, strconv.Itoa(pid)))
			if known = known && ok; found {
				value, known = "yes", true
				break
			}
		}
		if known {
			out = append(out, Fact{string(e), value})
		}
	}
	add(engine.HugePages, func(dir string) (bool, bool) {
		b, err := os.ReadFile(filepath.Join(dir, "smaps_rollup"))
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) > 1 && strings.HasSuffix(f[0], "_Hugetlb:") && f[1] != "0" {
				return true, true
			}
		}
		return false, err == nil
	})
	add(engine.DirectIO, func(dir string) (bool, bool) {
		return anyFile(filepath.Join(dir, "fdinfo"), func(path string) bool {
			b, _ := os.ReadFile(path)
			f := append(fieldsOf(string(b), "flags:"), "")
			flags, _ := strconv.ParseInt(f[0], 8, 64)
			return flags&unix.O_DIRECT != 0
		})
	})
	add(engine.AsyncIO, func(dir string) (bool, bool) {
		rings, known := anyFile(filepath.Join(dir, "fd"), func(path string) bool {
			target, _ := os.Readlink(path)
			return target == "anon_inode:[io_uring]"
		})
		maps, err := os.ReadFile(filepath.Join(dir, "maps"))
		return rings || strings.Contains(string(maps), "/[aio]"), known && err == nil
	})
	add(engine.Interleaving, func(dir string) (bool, bool) {
		b, err := os.ReadFile(filepath.Join(dir, "numa_maps"))
		return strings.Contains(string(b), " interleave"), err == nil
	})
	return out
}

// anyFile reports whether a file of a directory is of a kind, and whether that is known.
func anyFile(dir string, is func(path string) bool) (found, ok bool) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		found = found || is(filepath.Join(dir, e.Name()))
	}
	return found, err == nil
}
