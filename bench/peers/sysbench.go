package main

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
)

// sysbench is sysbench on MariaDB, with prepared statements on its own table;
// rumbench uses a separate table on the same server.
type sysbench struct{ mariadb }

const sysbenchSchema = "sbtest"

func (*sysbench) facts() facts {
	return facts{"sysbench", oltp, 1000, atMost(1, 0.8)}
}

func (s *sysbench) start(ctx context.Context, dir string) (at target, err error) {
	if err := s.mariadb.start(ctx, dir, sysbenchLoad()); err != nil {
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

func (s *sysbench) sysbenchArguments(test string, more ...string) []string {
	return append([]string{"--db-driver=mysql", "--mysql-socket=" + s.server.Endpoint().Socket, "--mysql-user=root",
		"--mysql-db=" + sysbenchSchema,
		"--tables=1", "--table-size=" + strconv.Itoa(rows), "--rand-type=uniform", test}, more...)
}

func (s *sysbench) command(_ context.Context, test string, clients, each int) (*exec.Cmd, error) {
	args := s.sysbenchArguments(test, "--threads="+strconv.Itoa(clients), "--time=0",
		"--events="+strconv.Itoa(clients*each), "run")
	return exec.Command("sysbench", args...), nil
}

func (s *sysbench) job(test string, clients, each int) job {
	return sysbenchJob(s.at, test, clients, each)
}

var transactionsLine = regexp.MustCompile(`transactions:\s+(\d+)`)

func (*sysbench) transactions(output string, _ int) (int64, error) {
	return counted(transactionsLine, output)
}

func sysbenchLoad() job {
	return job{Workload: "sysbench", Params: map[string]any{"tests": []any{}, "table_size": rows}}
}

// sysbenchJob returns a test of rumbench's workload sysbench on existing tables.
func sysbenchJob(at target, test string, clients, each int) job {
	return job{at, "sysbench", map[string]any{"tests": []any{test}, "clients": []any{clients}, "table_size": rows,
		"events": each, "load": false, "check": "none"}}
}
