package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// postgres is PostgreSQL's server.
type postgres struct{}

func (postgres) user() string               { return "postgres" }
func (postgres) superuser() string          { return "postgres" }
func (postgres) aptPackage() string         { return "postgresql" }
func (postgres) stopSignal() syscall.Signal { return syscall.SIGINT } // SIGTERM waits for clients
func (postgres) socket(port int) string     { return fmt.Sprintf(".s.PGSQL.%d", port) }

func (postgres) places() []string {
	return []string{"/usr/local/pgsql/bin/postgres", "/usr/lib/postgresql/*/bin/postgres"}
}

var postgresVersion = regexp.MustCompile(`^postgres \(PostgreSQL\) (\S+)`)

func (postgres) version(said string) (string, bool) {
	m := postgresVersion.FindStringSubmatch(said)
	if m == nil {
		return "", false
	}
	return m[1], true
}

func (postgres) configure(s *Server) error {
	dir := s.runDir()
	if len(s.endpoint.Socket) > longestSocket {
		dir = "../run"
	}
	settings := append([]Setting{}, s.Settings...)
	settings = append(settings,
		Setting{"listen_addresses", "127.0.0.1"},
		Setting{"port", fmt.Sprint(s.endpoint.Port)},
		Setting{"unix_socket_directories", dir},
		Setting{"logging_collector", "off"}, // the log is ours
	)
	quote := func(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" }
	return os.WriteFile(s.configFile(), []byte(lines(settings, quote)), 0o644)
}

func (postgres) makeData(ctx context.Context, s *Server) error {
	path, err := s.Program.companion("initdb")
	if err != nil {
		return err
	}
	return s.run(ctx, path, "-D", s.DataDir(), "-U", postgres{}.superuser(), "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+s.passwordFile(), "--no-locale", "-E", "UTF8")
}

func (postgres) command(s *Server) *exec.Cmd {
	cmd := exec.Command(s.Program.Path, "-D", s.DataDir(), "--config-file="+s.configFile())
	cmd.Env = environment(s)
	return cmd
}

// variables reads the server's own list; its first column is the name.
func (postgres) variables(ctx context.Context, p Program) (map[string]bool, error) {
	said, err := output(ctx, p.Path, "--describe-config")
	if err != nil {
		return nil, fmt.Errorf("ask %s for its variables: %w", p.Path, err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(said) {
		if name, _, ok := strings.Cut(line, "\t"); ok {
			known[name] = true
		}
	}
	return known, nil
}

// leftovers removes the file that says that a server runs. It is called when
// none does in the directory, yet the number in the file may be another
// process's by now, or one's that nobody has waited for, and the next server
// would refuse to start.
func (postgres) leftovers(s *Server) error {
	removeSharedMemory(s.DataDir())
	removeShared(s.Dir)
	err := os.Remove(filepath.Join(s.DataDir(), "postmaster.pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (postgres) answers(s *Server) { noteSharedMemory(s) }

// noteSharedMemory writes down which files of shared memory the server has, for
// the day that it is killed. They have names of chance, and would outlive it.
func noteSharedMemory(s *Server) {
	found := map[string]bool{}
	for _, pid := range append(descendants(s.PID()), s.PID()) {
		mapped, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
		for _, path := range sharedFile.FindAllString(string(mapped), -1) {
			found[path] = true
		}
	}
	_ = os.WriteFile(filepath.Join(s.Dir, sharedNote), []byte(strings.Join(slices.Sorted(maps.Keys(found)), "\n")), 0o600)
}

var sharedFile = regexp.MustCompile(`/dev/shm/PostgreSQL\.\d+`)

// sharedNote is the file that noteSharedMemory writes.
const sharedNote = "run/shared-memory"

// removeShared removes the files of shared memory of a server that is gone.
func removeShared(dir string) {
	b, err := os.ReadFile(filepath.Join(dir, sharedNote))
	if err != nil {
		return
	}
	for _, path := range sharedFile.FindAllString(string(b), -1) {
		_ = os.Remove(path)
	}
	_ = os.Remove(filepath.Join(dir, sharedNote))
}

// removeSharedMemory removes the segment that a killed server has left in the
// kernel: it guards the data directory, and would outlive it. Its number is the
// second on line 7 of the server's file.
func removeSharedMemory(dataDir string) {
	b, err := os.ReadFile(filepath.Join(dataDir, "postmaster.pid"))
	if err != nil {
		return
	}
	all := strings.Split(string(b), "\n")
	if len(all) < 7 {
		return
	}
	words := strings.Fields(all[6])
	creator, err := strconv.Atoi(strings.TrimSpace(all[0]))
	if err != nil || len(words) != 2 {
		return
	}
	id, err := strconv.Atoi(words[1])
	if err != nil {
		return
	}
	// After a restart of the machine the number may be another's.
	var about unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &about); err != nil || int(about.Cpid) != creator || about.Nattch > 0 {
		return
	}
	_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
}
