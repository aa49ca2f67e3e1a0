package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// mariadb is MariaDB's server.
var mariadb = kind{
	user: "mysql", superuser: "root", aptPackage: "mariadb-server", socket: "s", stop: syscall.SIGTERM, guarded: true,
	paths:     []string{"/usr/sbin/mysqld", "/usr/local/sbin/mariadbd", "/usr/libexec/mariadbd", "/usr/sbin/mariadbd"},
	arguments: defaultsFile, version: mariadbVersion, create: createMariaDB,
	variables: func(ctx context.Context, p Program) ([]string, error) {
		return mysqlVariables(ctx, p, "--no-defaults", "--plugin-load-add=ha_rocksdb.so")
	},
	configure: func(s *Server) error {
		guard, err := guardPort(s)
		if err != nil {
			return err
		}
		return writeConfig(s, guard)
	},
}

// guardPort returns settings that give the superuser a password at the port, which freshly created system
// tables leave open, and make a superuser for other machines.
func guardPort(s *Server) ([]Setting, error) {
	path := filepath.Join(s.runDir(), "init.sql")
	var text string
	newer := s.Kind == MySQL && !old(s.Program.Version) // it has no superuser at the port
	if !newer {
		text = fmt.Sprintf("SET PASSWORD FOR 'root'@'127.0.0.1' = PASSWORD('%s');\n", s.endpoint.Password)
	}
	switch guest := "'root'@'%'"; { // the file has one statement in each line
	case s.Listen == ThisMachine:
	case newer:
		text += fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO %s WITH GRANT OPTION;\n",
			guest, s.endpoint.Password, guest)
	default:
		text += fmt.Sprintf("GRANT ALL ON *.* TO %s IDENTIFIED BY '%s' WITH GRANT OPTION;\n", guest, s.endpoint.Password)
	}
	if text == "" {
		return nil, nil
	}
	if err := replaceFile(path, text); err != nil {
		return nil, err
	}
	return []Setting{{"init-file", s.seen(path)}}, s.owner.own(path)
}

var verPattern = regexp.MustCompile(`Ver (\S+)`)

func mariadbVersion(text string) (string, bool) {
	m := verPattern.FindStringSubmatch(text)
	if m == nil || !strings.Contains(m[1], "MariaDB") {
		return "", false
	}
	version, _, _ := strings.Cut(m[1], "-MariaDB")
	return version, true
}

// createMariaDB returns the program that creates the system tables, with an empty
// password of root; guardPort sets one for the port.
func createMariaDB(s *Server) ([]string, error) {
	path, err := s.Program.companion("mariadb-install-db", "mysql_install_db")
	if err != nil {
		return nil, err
	}
	command := append([]string{path}, defaultsFile(s)...)
	if strings.HasSuffix(path, "mysql_install_db") { // MariaDB before 10.4
		command = append(command, "--force")
	} else {
		command = append(command, "--skip-test-db", "--auth-root-authentication-method=normal")
	}
	if s.Program.base() != "/usr" {
		command = append(command, "--basedir="+s.Program.base())
	}
	return command, nil
}

// MariaDB's plugin for MyRocks, and its Debian package.
const (
	MyRocksName    = "myrocks"
	MyRocksPackage = "mariadb-plugin-rocksdb"
)

// MyRocks returns the path of the MyRocks plugin of an installation of MariaDB,
// "" if there is none.
func MyRocks(p Program) string {
	for _, name := range myRocksPaths {
		if path := filepath.Join(p.base(), name); p.Path != "" && p.holds(path) {
			return path
		}
	}
	return ""
}

var myRocksPaths = []string{"lib/mysql/plugin/ha_rocksdb.so", "lib/x86_64-linux-gnu/mariadb/plugin/ha_rocksdb.so",
	"lib64/mysql/plugin/ha_rocksdb.so", "lib/plugin/ha_rocksdb.so"}

// run runs the command that creates the data, as the server's user.
func (s *Server) run(ctx context.Context, command []string) error {
	cmd, end, err := s.command(ctx, command[0], command[1:]...)
	if err != nil {
		return err
	}
	defer end()
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(&DiedError{What: filepath.Base(command[0]), How: err, Messages: relevant(string(out))}, s.keep(out))
}

// keep appends the output of a program to the server's log, which is not open yet.
func (s *Server) keep(said []byte) error {
	if err := s.openLog(); err != nil {
		return err
	}
	_, err := s.log.Write(said)
	return errors.Join(err, s.log.Close())
}

// environment returns the environment of a server's programs. Old releases
// contain their own libraries.
//
// Padding has the random length that the trial's has.
func environment(s *Server) []string {
	env := []string{"TMPDIR=" + s.seen(s.tempDir()), "LANG=C", marker + s.Dir,
		Padding + os.Getenv(strings.TrimSuffix(Padding, "="))}
	if libs := filepath.Join(s.Program.base(), "libs"); s.Program.base() != "/usr" && s.Program.holds(libs) {
		env = append(env, "LD_LIBRARY_PATH="+libs)
	}
	return env
}

// Padding begins the environment variable whose only use is its length.
const Padding = "RUMBENCH_PAD="

// defaultsFile must be first, and excludes files in /etc.
func defaultsFile(s *Server) []string { return []string{"--defaults-file=" + s.seen(s.configFile())} }

// writeConfig writes the configuration of MariaDB or MySQL. An engine's settings
// override the common ones before them, but not the paths after them.
func writeConfig(s *Server, extra []Setting) error {
	settings := []Setting{{"skip-log-bin", ""}, {"skip-name-resolve", ""}}
	if s.Program.base() != "/usr" {
		settings = append(settings, Setting{"basedir", s.Program.base()})
	}
	settings = append(append(settings, extra...), s.Settings...)
	settings = append(settings,
		Setting{"datadir", s.seen(s.DataDir())},
		Setting{"tmpdir", s.seen(s.tempDir())},
		Setting{"socket", s.seen(s.endpoint.Socket)},
		Setting{"pid-file", s.seen(filepath.Join(s.runDir(), "pid"))},
		Setting{"port", fmt.Sprint(s.endpoint.Port)},
	)
	if !s.sets("bind_address") {
		settings = append(settings, Setting{"bind-address", s.Listen})
	}
	return os.WriteFile(s.configFile(), []byte("[mysqld]\n"+lines(settings, quoteOption)), 0o644)
}

// quoteOption quotes characters that are special in an option file.
func quoteOption(v string) string {
	if strings.ContainsAny(v, "#;'\" \\\n") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v) + `"`
	}
	return v
}

// mysqlVariables reads the table of variables at the end of the program's help.
// It uses a temporary directory, because some releases access, or even fill, the
// data directory.
func mysqlVariables(ctx context.Context, p Program, args ...string) (names []string, err error) {
	dir := "/tmp" // a container has its own
	if p.Image == nil {
		if dir, err = os.MkdirTemp("", "rumbench-variables-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
	}
	args = append(args, "--datadir="+dir, "--tmpdir="+dir)
	if os.Getuid() == 0 && p.Image == nil {
		args = append(args, "--user=root") // it only prints; the directory is root's
	}
	text, err := p.output(ctx, append(args, "--verbose", "--help")...)
	_, table, found := strings.Cut(text, "\n-----")
	if !found {
		if err == nil {
			err = errors.New("its help has no table of variables")
		}
		return nil, err
	}
	for line := range strings.Lines(table) {
		if name, _, ok := strings.Cut(line, " "); ok && name != "" && !strings.HasPrefix(name, "-") {
			names = append(names, canonical(name))
		}
	}
	return names, nil
}

// canonical returns the name of a variable with underscores: the servers accept
// dashes as well.
func canonical(name string) string { return strings.ReplaceAll(name, "-", "_") }

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
	extra := []Setting{{"loose-mysqlx", "OFF"}} // 8.0 and later would listen on another port
	base := s.Program.base()
	if share := filepath.Join(base, "share"); base != "/usr" && s.Program.holds(share) {
		extra = append(extra, Setting{"lc_messages_dir", share})
	}
	guard, err := guardPort(s)
	if err != nil {
		return err
	}
	return writeConfig(s, append(extra, guard...))
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
		source := filepath.Join(template, name)
		if info, err := os.Stat(source); err == nil && info.IsDir() {
			if err := os.CopyFS(filepath.Join(s.DataDir(), name), os.DirFS(source)); err != nil {
				return err
			}
		}
	}
	return filepath.WalkDir(s.DataDir(), func(path string, _ os.DirEntry, err error) error {
		return cmp.Or(err, s.owner.own(path))
	})
}
