package server

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// owner is the unprivileged user that a server runs as. nil is the user of
// this process, who is not root.
type owner struct {
	name     string
	uid, gid uint32
	groups   []uint32
	// pass: a directory above the data is closed to the owner. The server then
	// gets the capability to pass directories, and nothing else of root's.
	pass bool
}

// newOwner finds the user to run as: the one that the server's package has
// made, or else nobody. Only root can choose.
func newOwner(name string) (*owner, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, fmt.Errorf("find a user to run the server as: %w", err)
		}
	}
	o := &owner{name: u.Username}
	for _, id := range []struct {
		text string
		into *uint32
	}{{u.Uid, &o.uid}, {u.Gid, &o.gid}} {
		n, err := strconv.ParseUint(id.text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("user %s: %w", o.name, err)
		}
		*id.into = uint32(n)
	}
	o.groups = []uint32{o.gid}
	return o, nil
}

func (o *owner) attributes() *syscall.SysProcAttr {
	if o == nil {
		return &syscall.SysProcAttr{}
	}
	a := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid, Groups: o.groups}}
	if o.pass {
		a.AmbientCaps = []uintptr{unix.CAP_DAC_READ_SEARCH}
	}
	return a
}

// workDir is the working directory to start a program in. The capability to
// pass directories begins with the program itself: servers go on to their data alone.
func (o *owner) workDir(dir string) string {
	if o != nil && o.pass {
		return "/"
	}
	return dir
}

// makeDir makes a directory that belongs to the owner.
func (o *owner) makeDir(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return o.own(path)
}

func (o *owner) own(path string) error {
	if o == nil {
		return nil
	}
	return os.Lchown(path, int(o.uid), int(o.gid))
}

// UnreachableError says that the unprivileged user cannot get to a directory.
type UnreachableError struct{ Dir, Blocked, User string }

// Error is the message.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the server runs as user %s, who may not pass %s on the way to %s", e.User, e.Blocked, e.Dir)
}

// Hint says what can be done about it.
func (e *UnreachableError) Hint() string {
	return "choose another --out, such as one below /var/tmp, or let others pass: chmod o+x " + e.Blocked
}

// reaches sees to it that the owner may pass all directories down to dir:
// servers say of this only that permission is denied.
func (o *owner) reaches(dir string) error {
	if o == nil {
		return nil
	}
	err := o.walk(dir)
	var closed *UnreachableError
	if errors.As(err, &closed) && mayPass() {
		o.pass = true
		return nil
	}
	return err
}

// mayPass tells whether this process has the capability to pass directories.
func mayPass() bool {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	_, rest, found := strings.Cut(string(b), "\nCapEff:")
	if !found {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	caps, err := strconv.ParseUint(word, 16, 64)
	return err == nil && caps>>unix.CAP_DAC_READ_SEARCH&1 == 1
}

// walk looks at every directory down to dir.
func (o *owner) walk(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		var st syscall.Stat_t
		if err := syscall.Stat(at, &st); err != nil {
			return fmt.Errorf("look at %s: %w", at, err)
		}
		const pass = 1 // execute, of a directory
		shift := 0
		switch {
		case st.Uid == o.uid:
			shift = 6
		case slices.Contains(o.groups, st.Gid):
			shift = 3
		}
		if st.Mode>>shift&pass == 0 {
			return &UnreachableError{Dir: dir, Blocked: at, User: o.name}
		}
		if at == "/" || at == "." {
			return nil
		}
	}
}
