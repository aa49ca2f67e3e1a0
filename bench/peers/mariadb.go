package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"rumbench/engine"
	"rumbench/internal/server"
)

// mariadb is a private MariaDB server with rumbench's tables.
type mariadb struct{ hosted }

func (m *mariadb) start(ctx context.Context, dir string, fill job) (err error) {
	return m.hosted.start(ctx, server.Config{Kind: server.MariaDB, Dir: dir, Ready: answers, Settings: []server.Setting{
		{Name: "innodb_buffer_pool_size", Value: "256M"}, {Name: "innodb_flush_log_at_trx_commit", Value: "2"},
	}}, func(e server.Endpoint) target { return target{Engine: "mysql", DSN: "root@unix(" + e.Socket + ")/"} }, fill)
}

// answers waits for the server's greeting.
func answers(ctx context.Context, e server.Endpoint) error {
	conn, err := server.Dial(ctx, e.Socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = io.ReadFull(conn, make([]byte, 5))
	return err
}

func (m *mariadb) arguments(more ...string) []string {
	return append([]string{"--no-defaults", "-uroot", "-S", m.server.Endpoint().Socket, "-N", "-B"}, more...)
}

func (m *mariadb) query(ctx context.Context, text string) (string, error) {
	out, err := exec.CommandContext(ctx, "mariadb", m.arguments("-e", text)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", text, err, out)
	}
	return string(out), nil
}

// counters returns the handler counters and those of InnoDB's log: bytes logged,
// and bytes written, which increase when fewer commits share a write.
func (m *mariadb) counters(ctx context.Context) (account, error) {
	out, err := m.query(ctx, `SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Handler\_%'
	OR Variable_name IN ('Innodb_lsn_current', 'Innodb_os_log_written', 'Innodb_log_writes')`)
	if err != nil {
		return nil, err
	}
	a := named(out)
	a[logKB], a["log KB written"] = a["Innodb_lsn_current"]/1024, a["Innodb_os_log_written"]/1024
	delete(a, "Innodb_lsn_current")
	delete(a, "Innodb_os_log_written")
	return a, nil
}

// rest makes InnoDB purge all old versions and write all dirty pages.
func (m *mariadb) rest(ctx context.Context) error {
	if _, err := m.query(ctx, "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0, innodb_max_dirty_pages_pct = 0, "+
		"innodb_io_capacity_max = 20000, innodb_io_capacity = 20000"); err != nil {
		return err
	}
	err := engine.AwaitRest(ctx, 100*time.Millisecond, 1, func() (bool, error) {
		out, err := m.query(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_buffer_pool_pages_dirty', "+
			"'Innodb_history_list_length')")
		left := named(out)
		return left["Innodb_buffer_pool_pages_dirty"] < 8 && left["Innodb_history_list_length"] < 8, err
	})
	_, restored := m.query(ctx, "SET GLOBAL innodb_max_dirty_pages_pct = 90, innodb_io_capacity = 200, "+
		"innodb_io_capacity_max = 2000")
	return errors.Join(err, restored)
}
