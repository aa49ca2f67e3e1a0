package server

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// mysql is Oracle's MySQL server, of any release. Debian has no package of it.
var mysql = kind{
	user: "mysql", superuser: "root", socket: "s", stop: syscall.SIGTERM, guarded: true,
	paths: []string{"/usr/sbin/mysqld", "/usr/libexec/mysqld", "/opt/mysql/bin/mysqld", "/opt/mysql-*/bin/mysqld",
		"/opt/rumbench/mysql-*/bin/mysqld", "/usr/local/mysql/bin/mysqld"},
	arguments: defaultsFile, configure: configureMySQL, create: createMySQL,
	version: func(text string) (string, bool) {
		m := verPattern.FindStringSubmatch(text)
		if m == nil || strings.Contains(text, "MariaDB") {
			return "", false
		}
		return m[1], true
	},
	variables: func(ctx context.Context, p Program) ([]string, error) {
		args := []string{"--no-defaults"}
		if share := filepath.Join(p.base(), "share"); p.base() != "/usr" && p.holds(share) {
			args = append(args, "--lc-messages-dir="+share)
		}
		return mysqlVariables(ctx, p, args...)
	},
}

func configureMySQL(s *Server) error {
	more := []Setting{{"loose-mysqlx", "OFF"}} // 8.0 and later would listen on another port
	base := s.Program.base()
	if share := filepath.Join(base, "share"); base != "/usr" && s.Program.holds(share) {
		more = append(more, Setting{"lc_messages_dir", share})
	}
	guard, err := guardPort(s)
	if err != nil {
		return err
	}
	return writeConfig(s, append(more, guard...))
}

// old reports whether a release cannot create its system tables itself.
func old(version string) bool {
	return strings.HasPrefix(version, "5.5.") || strings.HasPrefix(version, "5.6.")
}

// createMySQL has the server create its system tables. Archives of releases before
// 5.7 contain them in directory data.
func createMySQL(s *Server) ([]string, error) {
	template := filepath.Join(s.Program.base(), "data")
	switch {
	case !s.Program.holds(filepath.Join(template, "mysql")):
	case s.Program.Image != nil:
		return []string{"/bin/sh", "-c", `for d in mysql performance_schema; do [ ! -d "$0/$d" ] || cp -R "$0/$d" .; done`,
			template}, nil
	default:
		return nil, s.copyData(template)
	}
	if old(s.Program.Version) {
		return nil, fmt.Errorf("release %s cannot create its system tables: %s, which its archive contains, is missing",
			s.Program.Version, template)
	}
	return append(append([]string{s.Program.Path}, defaultsFile(s)...), "--initialize-insecure"), nil
}

// copyData copies system tables; other directories would become databases.
func (s *Server) copyData(template string) error {
	for _, name := range []string{"mysql", "performance_schema"} {
		if source := filepath.Join(template, name); isDir(source) {
			if err := os.CopyFS(filepath.Join(s.DataDir(), name), os.DirFS(source)); err != nil {
				return err
			}
		}
	}
	return filepath.WalkDir(s.DataDir(), func(path string, _ os.DirEntry, err error) error {
		return cmp.Or(err, s.owner.own(path))
	})
}
