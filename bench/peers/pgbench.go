package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"rumbench/internal/server"
)

// pgbench is pgbench on PostgreSQL, with prepared statements on rumbench's tables.
// One thread serves all connections, which costs less than one thread per
// connection.
type pgbench struct {
	hosted
	dir string // of the scripts
}

const pgbenchSchema = "rumbench"

func (*pgbench) facts() facts {
	return facts{"pgbench", map[int]float64{1: 1, 8: 0.9},
		regexp.MustCompile(`number of transactions actually processed: (\d+)`)}
}

// scripts returns the transactions, with the same statements as rumbench's.
// pgbench has no random texts, so it always writes the same text.
func (*pgbench) scripts() map[string]string {
	id := fmt.Sprintf("\\set id random(1, %d)\n", rows)
	k := fmt.Sprintf("\\set k random(1, %d)\n", rows)
	c, pad := strings.Repeat("68487932199-", 10)[:119], strings.Repeat("22195207048-", 5)[:59]
	between := id + "\\set to :id + 99\nSELECT %s FROM sbtest1 WHERE id BETWEEN :id AND :to%s;\n"
	point := id + "SELECT c FROM sbtest1 WHERE id = :id;\n"
	updateK := id + "\\set one 1\nUPDATE sbtest1 SET k = k + :one WHERE id = :id;\n"
	reads := strings.Repeat(point, 10) + fmt.Sprintf(between, "c", "") + fmt.Sprintf(between, "SUM(k)", "") +
		fmt.Sprintf(between, "c", " ORDER BY c") + fmt.Sprintf(between, "DISTINCT c", " ORDER BY c")
	writes := updateK + id + fmt.Sprintf("UPDATE sbtest1 SET c = '%s' WHERE id = :id;\n", c) +
		id + k + fmt.Sprintf("DELETE FROM sbtest1 WHERE id = :id;\nINSERT INTO sbtest1 (id, k, c, pad) VALUES (:id, :k, "+
		"'%s', '%s');\n", c, pad)
	return map[string]string{
		"oltp_point_select": point,
		"oltp_read_only":    "BEGIN;\n" + reads + "COMMIT;\n",
		"oltp_update_index": updateK,
		"oltp_read_write":   "BEGIN;\n" + reads + writes + "COMMIT;\n",
		"oltp_insert":       k + fmt.Sprintf("INSERT INTO sbtest1 (k, c, pad) VALUES (:k, '%s', '%s');\n", c, pad),
	}
}

func (p *pgbench) start(ctx context.Context, dir string) (at target, err error) {
	p.dir = dir
	err = p.hosted.start(ctx, server.Config{Kind: server.Postgres, Dir: dir, Ready: p.ready, Settings: []server.Setting{
		{Name: "shared_buffers", Value: "256MB"}, {Name: "fsync", Value: "off"}, {Name: "autovacuum", Value: "off"},
		{Name: "max_wal_size", Value: "4GB"}, {Name: "checkpoint_timeout", Value: "1h"},
	}}, func(e server.Endpoint) target {
		return target{Engine: "postgres",
			DSN: fmt.Sprintf("host=%s port=%d user=%s dbname=postgres sslmode=disable", filepath.Dir(e.Socket), e.Port, e.User)}
	})
	if err != nil {
		return at, err
	}
	for test, script := range p.scripts() {
		if err := os.WriteFile(p.script(test), []byte(script), 0o644); err != nil {
			return at, errors.Join(err, p.stop())
		}
	}
	return p.at, nil
}

func (p *pgbench) script(test string) string { return filepath.Join(p.dir, test+".sql") }

// ready returns an error unless the server accepts connections.
func (*pgbench) ready(ctx context.Context, e server.Endpoint) error {
	_, err := run(ctx, exec.Command("pg_isready", "-h", filepath.Dir(e.Socket), "-p", strconv.Itoa(e.Port)), nil)
	return err
}

// counters returns the counters of the table, its indexes and the log.
func (p *pgbench) counters(ctx context.Context) (account, error) {
	const text = `SELECT '` + logKB + `', wal_bytes / 1024 FROM pg_stat_wal
UNION ALL SELECT 'log records', wal_records FROM pg_stat_wal
UNION ALL SELECT 'full pages logged', wal_fpi FROM pg_stat_wal
UNION ALL SELECT 'commits', xact_commit FROM pg_stat_database WHERE datname = current_database()
UNION ALL SELECT n.name, n.value FROM pg_stat_user_tables, LATERAL (VALUES ('index scans', idx_scan), ('sequential scans', seq_scan),
	('rows by index', idx_tup_fetch),
	('inserted', n_tup_ins), ('updated', n_tup_upd), ('updated in place', n_tup_hot_upd), ('deleted', n_tup_del)) n(name, value)
	WHERE relname = 'sbtest1'`
	out, err := p.query(ctx, text)
	return named(out), err
}

// rest vacuums, so that every run starts without dead rows, and then checkpoints.
func (p *pgbench) rest(ctx context.Context) error {
	_, err := p.query(ctx, "VACUUM "+pgbenchSchema+".sbtest1; CHECKPOINT")
	return err
}

func (p *pgbench) query(ctx context.Context, text string) (string, error) {
	args := []string{"-q", "-t", "-A", "-F", "\t"}
	for one := range strings.SplitSeq(text, ";") {
		args = append(args, "-c", one)
	}
	return run(ctx, exec.Command("psql", append(args, p.connection()...)...), nil)
}

func (p *pgbench) connection() []string {
	e := p.server.Endpoint()
	return []string{"-h", filepath.Dir(e.Socket), "-p", strconv.Itoa(e.Port), "-U", e.User, "postgres"}
}

func (p *pgbench) command(_ context.Context, test string, clients, each int) (*exec.Cmd, error) {
	args := []string{"-n", "-M", "prepared", "-f", p.script(test), "-c", strconv.Itoa(clients), "-j", "1", "-t",
		strconv.Itoa(each)}
	cmd := exec.Command("pgbench", append(args, p.connection()...)...)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path="+pgbenchSchema)
	return cmd, nil
}
