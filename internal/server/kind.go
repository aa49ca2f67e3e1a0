package server

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"syscall"
)

// kind holds the differences between kinds of servers.
type kind struct {
	user       string         // that the server runs as, if this process runs as root
	superuser  string         // of the database
	aptPackage string         // on Debian and Ubuntu; "": there is none
	paths      []string       // patterns of paths of the installed program, the best last
	socket     string         // the file name of the socket, with PORT for the port
	stop       syscall.Signal // requests a clean shutdown that does not wait for clients
	// version parses the program's --version; ok is false if it is another kind
	// of program.
	version func(text string) (version string, ok bool)
	// variables lists the names of the settings that the program knows.
	variables func(ctx context.Context, p Program) ([]string, error)
	cased     bool // those names differ by upper and lower case
	guarded   bool // the port has a password, at every address
	// configure writes the configuration file.
	configure func(s *Server) error
	// create returns the command that fills the data directory, or fills it itself;
	// nil: the server does so when it starts.
	create func(s *Server) (command []string, err error)
	// arguments returns the arguments of the command that starts the server.
	arguments func(s *Server) []string
	// leftovers removes the remains of a killed server that would prevent the
	// next start, or outlive its directory; nil: there are none.
	leftovers func(s *Server) error
}

// The kinds of servers.
const (
	MariaDB   = "mariadb"
	MySQL     = "mysql"
	Postgres  = "postgres"
	Tarantool = "tarantool"
	Mongod    = "mongod"
)

func kindOf(name string) (*kind, error) {
	if k := map[string]*kind{MariaDB: &mariadb, MySQL: &mysql, Postgres: &postgres, Tarantool: &tarantool,
		Mongod: &mongod}[name]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("unknown kind of server %q; the kinds are %s", name, strings.Join(Kinds(), ", "))
}

// Guarded reports whether the port of a kind of server has a password, so that it may be on any address.
func Guarded(kind string) bool {
	k, err := kindOf(kind)
	return err == nil && k.guarded
}

// versionIn returns a function that parses a version: the part that a pattern has in parentheses.
func versionIn(pattern *regexp.Regexp) func(text string) (version string, ok bool) {
	return func(text string) (string, bool) {
		if m := pattern.FindStringSubmatch(text); m != nil {
			return m[1], true
		}
		return "", false
	}
}

// Kinds lists the kinds of servers.
func Kinds() []string { return []string{MariaDB, MySQL, Postgres, Tarantool, Mongod} }
