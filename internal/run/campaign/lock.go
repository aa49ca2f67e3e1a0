package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
)

// lock locks the file that all campaigns on a host share.
func lock(path, dir string) (*os.File, error) {
	return hold(path, dir, 0o666, func(who string) error { // another user's campaigns lock it too
		return Unfit("two benchmarks at a time measure each other; wait until it has ended", "%w%s", ErrBusy, who)
	})
}

// ErrBusy is the error of a campaign that does not begin because another runs.
var ErrBusy = errors.New("another benchmark runs on this host")

// lockDir locks the campaign's directory: campaigns with different locks of the host must not
// share it. Others can read the file, to see that the campaign runs.
func (l *launcher) lockDir() error {
	f, err := hold(filepath.Join(l.Dir, result.LockFile), l.Dir, 0o644, func(who string) error {
		return hint.Errorf("wait until it has ended", "campaign %s is running%s", l.Dir, who)
	})
	if err == nil {
		l.locked = append(l.locked, f)
	}
	return err
}

// hold opens and locks a file, and writes the campaign's directory to it. If it is locked
// already, the error is that of busy, which gets the holder as the end of a sentence. Trials
// inherit the lock: it is held as long as one lives, also when its campaign was killed.
func hold(path, dir string, mode fs.FileMode, busy func(who string) error) (*os.File, error) {
	// If the file exists O_CREATE must not be used: in /tmp the kernel refuses
	// it for another user's file. A pipe must not hold the campaign up.
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode); err == nil {
			err = f.Chmod(mode)
		}
		if errors.Is(err, fs.ErrExist) { // another campaign has made it since
			return hold(path, dir, mode, busy)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}
	who, err := holder(f)
	if err == nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		err = busy(who)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if ownFile(f) {
		_ = f.Truncate(0)
		abs, _ := filepath.Abs(dir)
		fmt.Fprintf(f, lockWords+"%d, campaign %s\n", os.Getpid(), abs)
	}
	return f, nil
}

// lockWords begin the content of the lock file.
const lockWords = "process "

// holder returns who wrote the file last, as the end of a sentence. A file that
// is no lock of rumbench is refused: it would be written to.
func holder(f *os.File) (string, error) {
	refused := hint.With(fmt.Errorf("%s is no lock of rumbench and is left alone", f.Name()),
		"name another file in RUMBENCH_LOCK, or remove it")
	if err := regular.Check(f); err != nil || statOf(f).Nlink != 1 {
		return "", refused
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1000))
	switch who := strings.TrimSpace(string(b)); {
	case err != nil:
		return "", fmt.Errorf("read the lock: %w", err)
	case len(b) == 0:
		return "", nil // another user's: its file stays empty, only the lock is taken
	case !strings.HasPrefix(who, lockWords):
		return "", refused
	default:
		var pid int
		_, _ = fmt.Sscanf(who, lockWords+"%d", &pid)
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			who += " (the process has ended, but its trial has not)"
		}
		return ": " + who, nil
	}
}

// ownFile reports whether a file belongs to this user. To another's nothing is
// written, whatever it seems to be.
func ownFile(f *os.File) bool { return statOf(f).Uid == uint32(os.Geteuid()) }

// statOf returns nothing for a file that cannot be looked at.
func statOf(f *os.File) syscall.Stat_t {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return syscall.Stat_t{Nlink: 0, Uid: ^uint32(0)}
	}
	return st
}

func unlock(f *os.File) {
	if ownFile(f) {
		_ = f.Truncate(0)
	}
	f.Close()
}

// Busy returns who holds a lock, in words; "": nobody does.
func Busy(path string) string {
	f, err := regular.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	who, err := holder(f)
	if err != nil {
		return err.Error()
	}
	if !result.Locked(path) {
		return ""
	}
	return strings.TrimPrefix(cmp.Or(who, "another user's"), ": ")
}
