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
	// The command line is the configuration; the file records it.
	configure: func(s *Server) error {
		return os.WriteFile(s.configFile(), []byte(strings.Join(mongodArguments(s), "\n")+"\n"), 0o644)
	},
	version: versionIn(regexp.MustCompile(`^db version v([^\s,]+)`)),
	variables: func(ctx context.Context, p Program) (names []string, err error) {
		text, err := p.output(ctx, "--help")
		for _, m := range mongodOption.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		return names, err
	},
}

var mongodOption = regexp.MustCompile(`(?m)^ +(?:-\w \[ |)--(\w+)`)

// ServerParameter begins the name of a setting that is one of mongod's server
// parameters: setParameter.NAME.
const ServerParameter = "setParameter."

func mongodArguments(s *Server) []string {
	args := []string{"--dbpath=" + s.seen(s.DataDir()), "--directoryperdb", "--unixSocketPrefix=" + s.seen(s.runDir()),
		fmt.Sprintf("--port=%d", s.endpoint.Port)}
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
