package server

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
)

// kind is what differs from one kind of server to another.
type kind interface {
	// user is the user that the server runs as, if this process is root's.
	user() string
	// paths are patterns of paths of the installed program, the best last.
	paths() []string
	// aptPackage is its package on Debian and Ubuntu.
	aptPackage() string
	// version parses the program's --version; ok is false if it is another kind
	// of program.
	version(text string) (version string, ok bool)
	// variables lists the names of the settings that the program knows.
	variables(ctx context.Context, p Program) (map[string]bool, error)
	// configure writes the configuration file.
	configure(s *Server) error
	// makeData initialises the data directory.
	makeData(ctx context.Context, s *Server) error
	// command is the command that starts the server.
	command(s *Server) *exec.Cmd
	// stopSignal requests a clean shutdown that does not wait for clients.
	stopSignal() syscall.Signal
	// socket is the file name of the socket.
	socket(port int) string
	// superuser is the database superuser.
	superuser() string
	// leftovers removes what a killed server has left and what would prevent the
	// next start, or outlive its directory.
	leftovers(s *Server) error
}

// The kinds of servers.
const (
	MariaDB  = "mariadb"
	MySQL    = "mysql"
	Postgres = "postgres"
)

func kindOf(name string) (kind, error) {
	switch name {
	case MariaDB:
		return mariadb{}, nil
	case MySQL:
		return mysql{}, nil
	case Postgres:
		return postgres{}, nil
	}
	return nil, fmt.Errorf("unknown kind of server %q; the kinds are %s", name, strings.Join(Kinds(), ", "))
}

// Kinds lists the kinds of servers.
func Kinds() []string { return []string{MariaDB, MySQL, Postgres} }
