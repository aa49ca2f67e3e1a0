package observe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mount is a line of /proc/self/mountinfo.
type mount struct {
	point   string // the directory
	fsType  string
	source  string // "/dev/vda", "tmpfs", "server:/export"…
	options string // as mounted there and of the filesystem, in the kernel's order
}

// findMount returns the mount that holds a directory. The directory's path has no
// symbolic links.
func findMount(procRoot, dir string) (mount, error) {
	data, err := os.ReadFile(filepath.Join(procRoot, "self", "mountinfo"))
	if err != nil {
		return mount{}, err
	}
	mounts, err := parseMounts(string(data))
	if err != nil {
		return mount{}, err
	}
	var best mount
	for _, m := range mounts {
		// The last mount on a mount point hides the others.
		if under(dir, m.point) && len(m.point) >= len(best.point) {
			best = m
		}
	}
	if best.point == "" {
		return mount{}, fmt.Errorf("no mount holds %s", dir)
	}
	return best, nil
}

func under(dir, point string) bool {
	return point == "/" || dir == point || strings.HasPrefix(dir, point+"/")
}

// parseMounts parses lines like
//
//	36 35 98:0 /root /data rw,noatime shared:1 - ext4 /dev/vda rw,discard
//
// with six fields and any number of optional ones before the dash.
func parseMounts(text string) ([]mount, error) {
	var mounts []mount
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		dash := 6
		for dash < len(fields) && fields[dash] != "-" {
			dash++
		}
		if dash+1 >= len(fields) {
			return nil, fmt.Errorf("parse mountinfo: unexpected line %q", line)
		}
		m := mount{point: unescape(fields[4]), fsType: fields[dash+1]}
		if dash+2 < len(fields) {
			m.source = unescape(fields[dash+2])
		}
		m.options = fields[5]
		if dash+3 < len(fields) {
			m.options = join(fields[5], fields[dash+3])
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// join adds to the mount's options those of the filesystem that it lacks.
func join(own, super string) string {
	all := strings.Split(own, ",")
	mounted := all
	for o := range strings.SplitSeq(super, ",") {
		// A read-only mount of a writable filesystem is read-only.
		if o != "rw" && !slices.Contains(mounted, o) {
			all = append(all, o)
		}
	}
	return strings.Join(all, ",")
}

// unescape undoes the kernel's octal escapes of separators.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace
