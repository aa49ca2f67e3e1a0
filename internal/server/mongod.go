package server

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
)

// mongod is MongoDB's server. Debian has no package of it. Its port has no
// password: it listens on 127.0.0.1 only.
var mongod = kind{
	user: "mongodb", socket: "mongodb-PORT.sock", stop: syscall.SIGTERM, cased: true,
	paths:     []string{"/opt/mongodb*/bin/mongod", "/usr/local/bin/mongod", "/usr/bin/mongod"},
	arguments: mongodArguments,
	// The command line is the configuration; the file says what it was.
	configure: func(s *Server) error {
		return os.WriteFile(s.configFile(), []byte(strings.Join(mongodArguments(s), "\n")+"\n"), 0o644)
	},
	makeData: func(context.Context, *Server) error { return nil }, // the server does that itself
	version: func(text string) (string, bool) {
		m := mongodVersion.FindStringSubmatch(text)
		if m == nil {
			return "", false
		}
		return m[1], true
	},
	variables: func(ctx context.Context, p Program) (map[string]bool, error) {
		text, err := output(ctx, p.Path, "--help")
		if err != nil {
			return nil, fmt.Errorf("read the variables of %s: %w", p.Path, err)
		}
		known := map[string]bool{}
		for _, m := range mongodOption.FindAllStringSubmatch(text, -1) {
			known[m[1]] = true
		}
		return known, nil
	},
}

var (
	mongodVersion = regexp.MustCompile(`^db version v([^\s,]+)`)
	mongodOption  = regexp.MustCompile(`(?m)^ +(?:-\w \[ |)--(\w+)`)
)

// ServerParameter begins the name of a setting that is one of mongod's server
// parameters: setParameter.NAME.
const ServerParameter = "setParameter."

func mongodArguments(s *Server) []string {
	dir := s.runDir()
	if len(s.endpoint.Socket) > longestSocket {
		dir = "../run"
	}
	args := []string{"--dbpath=" + s.DataDir(), "--directoryperdb", "--unixSocketPrefix=" + dir, fmt.Sprintf("--port=%d", s.endpoint.Port)}
	if !s.sets("bind_ip") {
		args = append(args, "--bind_ip=127.0.0.1")
	}
	for _, set := range s.Settings {
		arg := "--" + set.Name
		if name, ok := strings.CutPrefix(set.Name, ServerParameter); ok {
			arg = "--setParameter=" + name
		}
		if set.Value != "" { // else it is a switch
			arg += "=" + set.Value
		}
		if set.Name != "port" {
			args = append(args, arg)
		}
	}
	return args
}
