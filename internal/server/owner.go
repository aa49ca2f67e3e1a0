package server

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the unprivileged user that a server runs as; nil is the user of this
// process, if that is not root.
type owner struct {
	name     string
	uid, gid uint32
}

// newOwner returns the user to run as: the one that the server's package has
// created, or else the user nobody. It returns nil unless this process runs as root.
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
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("user %s: %w", u.Username, err)
	}
	return &owner{name: u.Username, uid: uint32(uid), gid: uint32(gid)}, nil
}

func (o *owner) attributes() *syscall.SysProcAttr {
	if o == nil {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: o.uid, Gid: o.gid, Groups: []uint32{o.gid}}}
}

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

// UnreachableError is a directory that the unprivileged user cannot reach.
type UnreachableError struct{ Dir, Blocked, User string }

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the server runs as user %s, who has no access to %s on the path to %s", e.User, e.Blocked, e.Dir)
}

func (e *UnreachableError) Hint() string {
	return "choose another --out, such as one below /var/tmp, or allow access: chmod o+x " + e.Blocked
}

// reaches checks that the owner can traverse all directories down to dir: servers
// report only that permission is denied, or that files are corrupt.
//
// The capability CAP_DAC_READ_SEARCH would not help: access(2), which MariaDB
// uses to find its files, ignores it.
func (o *owner) reaches(dir string) error {
	if o == nil {
		return nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		var st syscall.Stat_t
		if err := syscall.Stat(at, &st); err != nil {
			return fmt.Errorf("check access to %s: %w", at, err)
		}
		const traverse = 1 // the execute bit
		shift := 0
		switch {
		case st.Uid == o.uid:
			shift = 6
		case st.Gid == o.gid:
			shift = 3
		}
		if st.Mode>>shift&traverse == 0 {
			return &UnreachableError{Dir: dir, Blocked: at, User: o.name}
		}
		if at == "/" || at == "." {
			return nil
		}
	}
}
