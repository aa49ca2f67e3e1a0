package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/postgres"
	"rumbench/internal/server"
	"rumbench/model"
	sysbenchload "rumbench/workload/sysbench"
)

// pgbench measures PostgreSQL by prepared statements. One of its threads serves
// all connections, which costs less than a thread for each.
type pgbench struct {
	server *server.Server
	dir    string    // of the scripts
	db     engine.DB // rumbench's, which removes its table when it is closed
}

const pgbenchSchema = "rumbench"

func (*pgbench) name() string { return "pgbench" }

func (*pgbench) tests() []string {
	return []string{"oltp_point_select", "oltp_read_only", "oltp_update_index"}
}

// limit is what rumbench promises of point selects.
func (*pgbench) limit(test string, clients int) float64 {
	if test == "oltp_point_select" && clients == 8 {
		return 1.2
	}
	return 0
}

// scripts are the transactions, statement by statement as rumbench sends them.
func (*pgbench) scripts() map[string]string {
	id := fmt.Sprintf("\\set id random(1, %d)\n", rows)
	between := id + "\\set to :id + 99\nSELECT %s FROM sbtest1 WHERE id BETWEEN :id AND :to%s;\n"
	point := id + "SELECT c FROM sbtest1 WHERE id = :id;\n"
	return map[string]string{
		"oltp_point_select": point,
		"oltp_read_only": "BEGIN;\n" + strings.Repeat(point, 10) +
			fmt.Sprintf(between, "c", "") + fmt.Sprintf(between, "SUM(k)", "") +
			fmt.Sprintf(between, "c", " ORDER BY c") + fmt.Sprintf(between, "DISTINCT c", " ORDER BY c") + "COMMIT;\n",
		"oltp_update_index": id + "\\set one 1\nUPDATE sbtest1 SET k = k + :one WHERE id = :id;\n",
	}
}

func (p *pgbench) start(ctx context.Context, dir string) (at target, err error) {
	p.server, err = server.Start(ctx, server.Config{Kind: server.Postgres, Dir: dir, Ready: p.ready, Settings: []server.Setting{
		{Name: "shared_buffers", Value: "256MB"}, {Name: "fsync", Value: "off"},
	}})
	if err != nil {
		return at, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.stop())
		}
	}()
	p.dir = dir
	for test, script := range p.scripts() {
		if err := os.WriteFile(p.script(test), []byte(script), 0o644); err != nil {
			return at, err
		}
	}
	e := p.server.Endpoint()
	at = target{Engine: "postgres", Schema: pgbenchSchema, PID: p.server.PID(),
		DSN: fmt.Sprintf("host=%s port=%d user=%s dbname=postgres sslmode=disable", filepath.Dir(e.Socket), e.Port, e.User)}
	return at, p.fill(ctx, at)
}

func (p *pgbench) script(test string) string { return filepath.Join(p.dir, test+".sql") }

// ready tells whether the server takes connections.
func (*pgbench) ready(ctx context.Context, e server.Endpoint) error {
	out, err := exec.CommandContext(ctx, "pg_isready", "-h", filepath.Dir(e.Socket), "-p", strconv.Itoa(e.Port)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// fill makes rumbench's own table, with rows such as it loads.
func (p *pgbench) fill(ctx context.Context, at target) error {
	params, err := sysbenchload.Workload{}.Info().Resolve("", map[string]any{"table_size": int64(rows)})
	if err != nil {
		return err
	}
	r, err := sysbenchload.Workload{}.New(params)
	if err != nil {
		return err
	}
	p.db, err = postgres.Engine{}.Open(ctx, engine.Config{Durability: model.DurabilityProcess, Schema: r.Schema(), Server: engine.ServerConfig{DSN: at.DSN, Schema: at.Schema}})
	if err != nil {
		return err
	}
	if err := p.db.CreateTables(ctx); err != nil {
		return err
	}
	const text = "INSERT INTO sbtest1 (id, k, c, pad) SELECT i, 1 + i * 7919::bigint %% %[1]d, repeat(lpad(i::text, 11, '4') || '-', 10), repeat(lpad(i::text, 11, '5') || '-', 5) FROM generate_series(1, %[1]d) i"
	cmd := exec.CommandContext(ctx, "psql", slices.Concat([]string{"-q", "-c", "SET search_path = " + at.Schema, "-c", fmt.Sprintf(text, rows)}, p.connection())...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	table := &r.Schema().Tables[0]
	for _, ix := range table.Indexes {
		if err := p.db.CreateIndexes(ctx, table.Name, ix.Name); err != nil {
			return err
		}
	}
	_, err = p.db.Settle(ctx)
	return err
}

func (p *pgbench) stop() error {
	var err error
	if p.db != nil {
		err = p.db.Close()
	}
	return errors.Join(err, p.server.Stop())
}

// connection are the words that lead to the server.
func (p *pgbench) connection() []string {
	e := p.server.Endpoint()
	return []string{"-h", filepath.Dir(e.Socket), "-p", strconv.Itoa(e.Port), "-U", e.User, "postgres"}
}

func (p *pgbench) command(test string, clients, seconds int) *exec.Cmd {
	words := []string{"-n", "-M", "prepared", "-f", p.script(test), "-c", strconv.Itoa(clients), "-j", "1"}
	if seconds == 0 {
		words = append(words, "-t", "1")
	} else {
		words = append(words, "-T", strconv.Itoa(seconds))
	}
	cmd := exec.Command("pgbench", append(words, p.connection()...)...)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path="+pgbenchSchema)
	return cmd
}

var processedLine = regexp.MustCompile(`number of transactions actually processed: (\d+)`)

func (*pgbench) transactions(output string) (int64, error) {
	m := processedLine.FindStringSubmatch(output)
	if m == nil {
		return 0, fmt.Errorf("pgbench does not say how many transactions there were:\n%s", output)
	}
	return strconv.ParseInt(m[1], 10, 64)
}
