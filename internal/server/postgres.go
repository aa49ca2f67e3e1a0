package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/text/quantity"
)

// postgres is PostgreSQL's server.
var postgres = kind{
	// SIGTERM waits for clients
	user: "postgres", superuser: "postgres", aptPackage: "postgresql", socket: ".s.PGSQL.PORT", stop: syscall.SIGINT,
	guarded: true,
	paths:   []string{"/usr/local/bin/postgres", "/usr/local/pgsql/bin/postgres", "/usr/lib/postgresql/*/bin/postgres"},
	arguments: func(s *Server) []string {
		return []string{"-D", s.seen(s.DataDir()), "--config-file=" + s.seen(s.configFile())}
	},
	configure: configurePostgres, create: createPostgres, variables: postgresVariables, leftovers: postgresLeftovers,
	version: versionIn(regexp.MustCompile(`^postgres \(PostgreSQL\) (\S+)`)),
}

func configurePostgres(s *Server) error {
	settings := slices.DeleteFunc(slices.Clone(s.Settings), func(v Setting) bool { return v.Name == DataChecksums })
	if !s.sets("listen_addresses") {
		settings = append(settings, Setting{"listen_addresses", s.Listen})
	}
	if s.Listen != ThisMachine {
		path := filepath.Join(s.runDir(), "hba.conf")
		const text = "local all all trust\nhost all all all scram-sha-256\n"
		if err := errors.Join(replaceFile(path, text), s.owner.own(path)); err != nil {
			return err
		}
		settings = append(settings, Setting{"hba_file", s.seen(path)})
	}
	settings = append(settings,
		Setting{"port", fmt.Sprint(s.endpoint.Port)},
		Setting{"unix_socket_directories", s.seen(s.runDir())},
		Setting{"logging_collector", "off"}, // standard error is the log
		// The default, POSIX shared memory, has random names in /dev/shm, which all
		// servers of the host use: it would outlive a killed server, and could not
		// be removed without risk to a running one.
		Setting{"dynamic_shared_memory_type", "mmap"},
	)
	quote := func(v string) string { return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(v) + "'" }
	return os.WriteFile(s.configFile(), []byte(lines(settings, quote)), 0o644)
}

func createPostgres(s *Server) ([]string, error) {
	path, err := s.Program.companion("initdb")
	if err != nil {
		return nil, err
	}
	command := []string{path, "-D", s.seen(s.DataDir()), "-U", s.kind.superuser, "--auth-local=trust",
		"--auth-host=scram-sha-256", "--pwfile=" + s.seen(s.passwordFile()), "--no-locale", "-E", "UTF8"}
	for _, v := range s.Settings {
		switch {
		case v.Name == DataChecksums && v.Value == "on":
			command = append(command, "--data-checksums")
		case v.Name == DataChecksums && quantity.Natural(s.Program.Version, "18") >= 0: // earlier it was the default
			command = append(command, "--no-data-checksums")
		}
	}
	return command, nil
}

// DataChecksums is the setting of PostgreSQL that is chosen when its data directory is made.
const DataChecksums = "data_checksums"

// postgresVariables reads the names in the first column of --describe-config.
func postgresVariables(ctx context.Context, p Program) (names []string, err error) {
	text, err := p.output(ctx, "--describe-config")
	for line := range strings.Lines(text) {
		if name, _, ok := strings.Cut(line, "\t"); ok {
			names = append(names, name)
		}
	}
	return names, err
}

// postgresLeftovers removes the PID file. It is called when no server runs in the
// directory; but the PID may belong to another process by now, or to a zombie,
// and then the next server would refuse to start.
func postgresLeftovers(s *Server) error {
	removeSharedMemory(s.DataDir())
	return removeIfThere(filepath.Join(s.DataDir(), "postmaster.pid"))
}

// removeSharedMemory removes the System V segment of a killed server, which
// guards the data directory and would outlive it.
func removeSharedMemory(dataDir string) {
	b, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return
	}
	lock, ok := parseLockFile(string(b))
	if !ok || lock.dir != dataDir {
		return
	}
	for deadline := time.Now().Add(detachTimeout); lock.detaching() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if lock.left() {
		_, _ = unix.SysvShmCtl(lock.id, unix.IPC_RMID, nil)
	}
}

// detachTimeout is how long the killed processes of a server are given to detach
// from its segment: the kernel forgets their command lines first.
const detachTimeout = 2 * time.Second

// segment is a server's shared memory according to its postmaster.pid.
type segment struct {
	dir         string // the data directory that it guards
	creator, id int
	key         uint64 // the inode of the directory, which the kernel truncates
}

// parseLockFile parses a postmaster.pid: the PID, negative for a standalone
// backend; the directory; and on line 7 the key and the ID of the segment.
func parseLockFile(text string) (s segment, ok bool) {
	lines := strings.Split(text, "\n")
	if len(lines) < 7 {
		return s, false
	}
	s.dir = strings.TrimSpace(lines[1])
	_, err1 := fmt.Sscan(lines[0], &s.creator)
	_, err2 := fmt.Sscan(lines[6], &s.key, &s.id)
	s.creator = max(s.creator, -s.creator)
	return s, err1 == nil && err2 == nil
}

// left reports whether the segment is the server's and unused: after a reboot its
// ID may belong to a different segment, and a copy of a data directory names the
// segment of the original.
func (s segment) left() bool {
	attached, ok := s.attached()
	return ok && attached == 0
}

// detaching reports whether the server has died, but processes of it are still
// attached to the segment.
func (s segment) detaching() bool {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.creator))
	attached, ok := s.attached()
	return ok && attached > 0 && (err != nil || len(command) == 0)
}

// attached returns how many processes are attached to the segment, if it is the
// server's.
func (s segment) attached() (n uint64, ok bool) {
	var desc unix.SysvShmDesc
	_, err := unix.SysvShmCtl(s.id, unix.IPC_STAT, &desc)
	return desc.Nattch, err == nil && int(desc.Cpid) == s.creator && desc.Perm.Key == int32(s.key)
}
