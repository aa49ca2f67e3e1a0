package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"rumbench/internal/host"
)

// programs tells which servers can be used on this machine.
func programs(_ context.Context) []host.Program {
	return []host.Program{
		{Name: "mariadb", Package: "mariadb-server", Found: firstOf("mariadbd", "/usr/sbin/mariadbd")},
		{Name: "myrocks", Package: "mariadb-plugin-rocksdb", Found: firstOf("", "/usr/lib/mysql/plugin/ha_rocksdb.so")},
		{Name: "postgres", Package: "postgresql", Found: firstOf("postgres", "/usr/lib/postgresql/*/bin/postgres")},
	}
}

// firstOf finds a program by its name in PATH, or else where its package puts it.
func firstOf(name, pattern string) string {
	if name != "" {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		return ""
	}
	path := found[len(found)-1] // of several versions the newest, as far as names tell
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return ""
	}
	return path
}
