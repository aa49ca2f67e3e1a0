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
	// user is who the server runs as, when this process is root's.
	user() string
	// places are patterns of paths where the program is installed, the best last.
	places() []string
	// aptPackage is what installs it on Debian and Ubuntu.
	aptPackage() string
	// version reads what the program says to --version; ok is false if it is
	// another kind of program.
	version(said string) (version string, ok bool)
	// variables lists the names of the settings that the program knows.
	variables(ctx context.Context, p Program) (map[string]bool, error)
	// configure writes the configuration file.
	configure(s *Server) error
	// makeData makes the data directory's content.
	makeData(ctx context.Context, s *Server) error
	// command is how the server is started.
	command(s *Server) *exec.Cmd
	// stopSignal asks it to end in good order, without waiting for clients.
	stopSignal() syscall.Signal
	// socket is the name of the socket's file below the directory for it.
	socket(port int) string
	// superuser is who may do everything.
	superuser() string
	// leftovers removes what a server that was killed has left and that would
	// be in the way of the next, or outlive its directory.
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
	return nil, fmt.Errorf("there is no kind of server %q; there are %s", name, strings.Join(Kinds(), ", "))
}

// Kinds lists the kinds of servers.
func Kinds() []string { return []string{MariaDB, MySQL, Postgres} }
