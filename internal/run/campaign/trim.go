package campaign

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"rumbench/engine/fsize"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// trimDirs returns a directory in each file system that holds data of the campaign's targets.
func trimDirs(c Config) (dirs []string) {
	var devices []uint64
	for _, t := range c.Plan.Targets {
		dir := t.Data
		switch {
		case t.Config.Server.DSN != "":
			continue // wherever its server keeps them
		case dir == "":
			dir = fsize.Existing(c.Dir)
		}
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err == nil && slices.Contains(devices, st.Dev) {
			continue
		}
		dirs, devices = append(dirs, dir), append(devices, st.Dev)
	}
	return dirs
}

// checkTrim refuses a plan that trims file systems if one of them cannot: it tries with the first MiB.
func checkTrim(c Config) error {
	if !c.Plan.Between.Trim {
		return nil
	}
	dirs := trimDirs(c)
	if len(dirs) == 0 {
		return Unfit("remove trim", "between: trim: no target has data of its own here: the servers are attached")
	}
	for _, dir := range dirs {
		if _, err := trim(dir, 1<<20); err != nil {
			return Unfit(trimHint(err), "between: trim: the file system of %s cannot be trimmed: %w", dir, err)
		}
	}
	return nil
}

func trimHint(err error) string {
	switch {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		return "run rumbench as root, or remove trim"
	case errors.Is(err, unix.EOPNOTSUPP):
		return "its device discards nothing (lsblk --discard shows it): remove trim"
	}
	return "choose another --out, in ext4, XFS or Btrfs on a device that can discard, or remove trim"
}

// trim discards the free ones of the first bytes of a directory's file system on its device, and
// returns how many of them the kernel reports as trimmed.
func trim(dir string, length uint64) (int64, error) {
	const fitrim = 0xc0185879                    // FITRIM of linux/fs.h: _IOWR('X', 121, struct fstrim_range)
	if err := observe.SyncDir(dir); err != nil { // what was removed is free when that is written
		return 0, err
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }()
	span := struct{ start, length, smallest uint64 }{length: length} // struct fstrim_range
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), fitrim, uintptr(unsafe.Pointer(&span))); errno != 0 {
		return 0, errno
	}
	return int64(span.length), nil // which the kernel has set
}

// trimAll trims the file systems of the data before a trial, and records it.
func trimAll(r *runner, trial string) error {
	for _, dir := range trimDirs(r.Config) {
		t := result.Trim{Before: trial, Dir: dir, At: r.now()}
		n, err := trim(dir, math.MaxUint64)
		if err != nil {
			return fmt.Errorf("trim the file system of %s: %w", dir, err)
		}
		t.Bytes, t.Seconds = n, r.now().Sub(t.At).Seconds()
		r.state.Trims = append(r.state.Trims, t)
		r.Progress.Note(fmt.Sprintf("trimmed %s of %s in %.3g s", quantity.Bytes(n), dir, t.Seconds))
	}
	return r.save()
}

// betweenText says what happens between trials.
func betweenText(p plan.Between) (text string) {
	if p.Trim {
		text = "before each trial the free blocks of the data's file system are trimmed; the forecast is without that\n"
	}
	if p.Rest > 0 {
		text += fmt.Sprintf("between trials the machine rests for %v\n", p.Rest.Round(time.Millisecond))
	}
	return text
}
