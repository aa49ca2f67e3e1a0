package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"

	"rumbench/internal/server"
)

// sysbench measures MariaDB by prepared statements.
type sysbench struct {
	server *server.Server
	socket string
}

const sysbenchSchema = "sbtest"

func (*sysbench) name() string { return "sysbench" }

func (*sysbench) tests() []string {
	return []string{"oltp_point_select", "oltp_read_only", "oltp_update_index"}
}

// limit is what rumbench promises of point selects.
func (*sysbench) limit(test string, clients int) float64 {
	switch {
	case test != "oltp_point_select":
		return 0
	case clients == 1:
		return 1
	}
	return 1.1
}

func (s *sysbench) start(ctx context.Context, dir string) (at target, err error) {
	s.server, err = server.Start(ctx, server.Config{Kind: "mariadb", Dir: dir, Ready: answers, Settings: []server.Setting{
		{Name: "innodb_buffer_pool_size", Value: "256M"}, {Name: "innodb_flush_log_at_trx_commit", Value: "2"},
	}})
	if err != nil {
		return at, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	s.socket = s.server.Endpoint().Socket
	at = target{Engine: "mysql", DSN: "root@unix(" + s.socket + ")/", Schema: sysbenchSchema, PID: s.server.PID()}
	for _, cmd := range []*exec.Cmd{
		exec.CommandContext(ctx, "mariadb", "--no-defaults", "-uroot", "-S", s.socket, "-e", "CREATE DATABASE "+sysbenchSchema+" COLLATE latin1_bin"),
		exec.CommandContext(ctx, "sysbench", s.words("oltp_point_select", "prepare")...),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return at, fmt.Errorf("%v: %w\n%s", cmd, err, out)
		}
	}
	return at, nil
}

// answers waits for the greeting with which the server begins a connection.
func answers(ctx context.Context, e server.Endpoint) error {
	conn, err := server.Dial(ctx, e.Socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = io.ReadFull(conn, make([]byte, 5))
	return err
}

func (s *sysbench) stop() error { return s.server.Stop() }

func (s *sysbench) words(test string, more ...string) []string {
	return append([]string{"--db-driver=mysql", "--mysql-socket=" + s.socket, "--mysql-user=root", "--mysql-db=" + sysbenchSchema,
		"--tables=1", "--table-size=" + strconv.Itoa(rows), "--rand-type=uniform", test}, more...)
}

func (s *sysbench) command(test string, clients, seconds int) *exec.Cmd {
	words := s.words(test, "--threads="+strconv.Itoa(clients), "--time="+strconv.Itoa(seconds))
	if seconds == 0 {
		words = append(words, "--events="+strconv.Itoa(clients))
	}
	return exec.Command("sysbench", append(words, "run")...)
}

var transactionsLine = regexp.MustCompile(`transactions:\s+(\d+)`)

func (*sysbench) transactions(output string) (int64, error) {
	m := transactionsLine.FindStringSubmatch(output)
	if m == nil {
		return 0, fmt.Errorf("sysbench does not say how many transactions there were:\n%s", output)
	}
	return strconv.ParseInt(m[1], 10, 64)
}
