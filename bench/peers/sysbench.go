package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"rumbench/engine"
	"rumbench/internal/server"
)

// sysbench is sysbench on MariaDB, with prepared statements on its own table;
// rumbench uses a separate table on the same server.
type sysbench struct{ hosted }

const sysbenchSchema = "sbtest"

func (*sysbench) facts() facts {
	return facts{"sysbench", map[int]float64{1: 1, 8: 0.8}, regexp.MustCompile(`transactions:\s+(\d+)`)}
}

func (s *sysbench) start(ctx context.Context, dir string) (at target, err error) {
	err = s.hosted.start(ctx, server.Config{Kind: server.MariaDB, Dir: dir, Ready: answers, Settings: []server.Setting{
		{Name: "innodb_buffer_pool_size", Value: "256M"}, {Name: "innodb_flush_log_at_trx_commit", Value: "2"},
	}}, func(e server.Endpoint) target { return target{Engine: "mysql", DSN: "root@unix(" + e.Socket + ")/"} })
	if err != nil {
		return at, err
	}
	if _, err = s.query(ctx, "CREATE DATABASE "+sysbenchSchema+" COLLATE latin1_bin"); err == nil {
		_, err = run(ctx, exec.Command("sysbench", s.sysbenchArguments("oltp_point_select", "prepare")...), nil)
	}
	if err != nil {
		err = errors.Join(err, s.stop())
	}
	return s.at, err
}

func (s *sysbench) sysbenchArguments(test string, extra ...string) []string {
	return append([]string{"--db-driver=mysql", "--mysql-socket=" + s.server.Endpoint().Socket, "--mysql-user=root",
		"--mysql-db=" + sysbenchSchema,
		"--tables=1", "--table-size=" + strconv.Itoa(rows), "--rand-type=uniform", test}, extra...)
}

func (s *sysbench) command(_ context.Context, test string, clients, each int) (*exec.Cmd, error) {
	args := s.sysbenchArguments(test, "--threads="+strconv.Itoa(clients), "--time=0",
		"--events="+strconv.Itoa(clients*each), "run")
	return exec.Command("sysbench", args...), nil
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

func (s *sysbench) query(ctx context.Context, text string) (string, error) {
	return run(ctx, exec.Command("mariadb", "--no-defaults", "-uroot", "-S", s.server.Endpoint().Socket, "-N", "-B",
		"-e", text), nil)
}

// counters returns the handler counters and those of InnoDB's log: bytes logged,
// and bytes written, which increase when fewer commits share a write.
func (s *sysbench) counters(ctx context.Context) (account, error) {
	out, err := s.query(ctx, `SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Handler\_%'
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
func (s *sysbench) rest(ctx context.Context) error {
	if _, err := s.query(ctx, "SET GLOBAL innodb_max_dirty_pages_pct_lwm = 0, innodb_max_dirty_pages_pct = 0, "+
		"innodb_io_capacity_max = 20000, innodb_io_capacity = 20000"); err != nil {
		return err
	}
	err := engine.AwaitRest(ctx, 100*time.Millisecond, 1, func() (bool, error) {
		out, err := s.query(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_buffer_pool_pages_dirty', "+
			"'Innodb_history_list_length')")
		left := named(out)
		return left["Innodb_buffer_pool_pages_dirty"] < 8 && left["Innodb_history_list_length"] < 8, err
	})
	_, restored := s.query(ctx, "SET GLOBAL innodb_max_dirty_pages_pct = 90, innodb_io_capacity = 200, "+
		"innodb_io_capacity_max = 2000")
	return errors.Join(err, restored)
}
