package servertest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/server"
)

// Tests start servers on a copy of what a command has created, its password included, as
// long as no setting differs that the data could depend on.
func TestPrepared(t *testing.T) {
	usual := preparedDir
	t.Cleanup(func() { preparedDir = usual })
	preparedDir = filepath.Join(t.TempDir(), "prepared")
	for k, another := range map[string]server.Setting{
		server.Postgres: {Name: server.DataChecksums, Value: "on"}, server.MariaDB: {Name: "innodb_page_size", Value: "8192"},
	} {
		t.Run(k, func(t *testing.T) {
			if k == server.MariaDB {
				need.Long(t)
			}
			_, err := server.Find(t.Context(), k, server.Source{})
			need.Installed(t, err)
			first, again := start(t, k), start(t, k, server.Setting{Name: "max_connections", Value: "50"})
			other, password := start(t, k, another), first.Endpoint().Password
			expect.True(t, again.Endpoint().Password == password && other.Endpoint().Password != password,
				"what is a copy is not what should be")
			expect.True(t, again.Created() && again.Endpoint().Port != first.Endpoint().Port,
				"made", again.Created(), "ports", again.Endpoint().Port, "and", first.Endpoint().Port)
		})
	}
}

func start(t *testing.T, kind string, settings ...server.Setting) *server.Server {
	t.Helper()
	s, err := server.Start(t.Context(), server.Config{Kind: kind, Dir: need.TempDir(t), Settings: settings, Ready: listens})
	expect.NoError(t, err)
	t.Cleanup(s.Kill)
	return s
}

func listens(ctx context.Context, e server.Endpoint) error {
	c, err := server.Dial(ctx, e.Socket)
	if err != nil {
		return err
	}
	return c.Close()
}

// TestPrune: what was used lately stays.
func TestPrune(t *testing.T) {
	dir, long := t.TempDir(), time.Now().Add(-72*time.Hour)
	for name, at := range map[string]time.Time{"used": time.Now(), "unused": long, "new-1": long, "old-killed": long} {
		path := filepath.Join(dir, name)
		expect.NoError(t, errors.Join(os.MkdirAll(filepath.Join(path, "data"), 0o755), os.Chtimes(path, at, at)))
	}
	expect.NoError(t, prune(dir))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "used" {
		t.Errorf("%v is left, %v", left, err)
	}
}
