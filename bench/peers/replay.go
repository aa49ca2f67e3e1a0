package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// replay sends MariaDB the statements of the original insert benchmark client, as
// in its log: batches of rows as text, each a statement and a transaction, and on
// a second connection the deletion of the same number of the oldest rows.
// MariaDB's client sends them. Its tables are the original's, in a separate
// schema.
type replay struct {
	mariadb
	dir  string
	seed uint64
}

const (
	replaySchema = "ibench"
	replayTest   = "l.i1"
	replayBatch  = 50
	replayRows   = 200_000 // in the table
)

func (*replay) facts() facts {
	return facts{"ibench", []string{replayTest}, 1, atMost(0, 0)} // the original is in Python, not this client in C
}

func (r *replay) start(ctx context.Context, dir string) (at target, err error) {
	r.dir = dir
	params := ibenchParams("l.i0", "l.x")
	if err := r.mariadb.start(ctx, dir, job{Workload: "ibench", Params: params}); err != nil {
		return at, err
	}
	if err := r.fill(ctx); err != nil {
		return at, errors.Join(err, r.stop())
	}
	return r.at, nil
}

func ibenchParams(steps ...any) map[string]any {
	return map[string]any{"rows": replayRows, "steps": steps, "check": "none"}
}

func (r *replay) fill(ctx context.Context) error {
	if _, err := r.query(ctx, "CREATE DATABASE "+replaySchema+" COLLATE latin1_swedish_ci; USE "+replaySchema+`;
CREATE TABLE pi1 (transactionid BIGINT NOT NULL AUTO_INCREMENT, dateandtime DATETIME, cashregisterid INT NOT NULL, customerid INT NOT NULL,
	productid INT NOT NULL, price INT NOT NULL, data VARCHAR(4000), PRIMARY KEY (transactionid)) ENGINE = InnoDB`); err != nil {
		return err
	}
	if err := r.send(ctx, r.inserts(replayRows/100, 100)); err != nil {
		return err
	}
	_, err := r.query(ctx, "USE "+replaySchema+
		`; ALTER TABLE pi1 ADD INDEX pi1_marketsegment (productid, customerid, price),
	ADD INDEX pi1_registersegment (cashregisterid, customerid, price), ADD INDEX pi1_pdc (price, dateandtime, customerid)`)
	return err
}

func (r *replay) inserts(batches, size int) string {
	r.seed++
	random := rand.New(rand.NewPCG(r.seed, 0))
	var b strings.Builder
	for range batches {
		b.WriteString("insert into pi1(dateandtime,cashregisterid,customerid,productid,price,data) values ")
		now := time.Now().Format(time.DateTime)
		for i := range size {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "('%s',%d,%d,%d,%d,'%s')", now, random.IntN(1000), random.IntN(100_000), random.IntN(10_000),
				random.IntN(500), replayData(random))
		}
		b.WriteString(";\n")
	}
	return b.String()
}

// replayData returns a value of the data column, mostly one repeated letter.
func replayData(random *rand.Rand) string {
	length := 10 + random.IntN(11)
	varied := int(float64(length) * 0.75 * 0.5)
	text := []byte(strings.Repeat("a", length))
	for i := length - varied; i < length; i++ {
		text[i] = byte('A' + random.IntN(26))
	}
	return string(text)
}

// deletes returns deletions of a number of batches of the oldest rows.
func (r *replay) deletes(ctx context.Context, batches int) (string, error) {
	out, err := r.query(ctx, "SELECT 'least', MIN(transactionid) FROM "+replaySchema+".pi1")
	if err != nil {
		return "", err
	}
	lowest := int(named(out)["least"])
	var b strings.Builder
	for i := range batches {
		fmt.Fprintf(&b, "delete from pi1 where transactionid >= %d order by transactionid asc limit %d;\n",
			lowest+i*replayBatch, replayBatch)
	}
	return b.String(), nil
}

func (r *replay) send(ctx context.Context, statements string) error {
	if err := r.write("load", statements); err != nil {
		return err
	}
	file, err := os.Open(r.file("load"))
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, "mariadb", r.arguments(replaySchema)...)
	cmd.Stdin = file
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

func (r *replay) file(name string) string { return filepath.Join(r.dir, name+".sql") }

func (r *replay) write(name, statements string) error {
	return os.WriteFile(r.file(name), []byte(statements), 0o644)
}

// command returns a command that sends both streams of statements concurrently.
func (r *replay) command(ctx context.Context, _ string, _, batches int) (*exec.Cmd, error) {
	deletes, err := r.deletes(ctx, batches)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(r.write("inserts", r.inserts(batches, replayBatch)), r.write("deletes", deletes)); err != nil {
		return nil, err
	}
	const both = `inserts=$1 deletes=$2; shift 2; "$@" <"$deletes" & "$@" <"$inserts"; wait $!`
	args := append([]string{"-euc", both, "sh", r.file("inserts"), r.file("deletes"), "mariadb"},
		r.arguments(replaySchema)...)
	return exec.Command("sh", args...), nil
}

// transactions counts the inserts; each is accompanied by a deletion.
func (*replay) transactions(_ string, batches int) (int64, error) { return int64(batches), nil }

func (r *replay) job(_ string, _, batches int) job {
	params := ibenchParams("l.i1")
	params["write_rows"] = batches * replayBatch * 5 / 4 // l.i1 takes four fifths of them
	return job{r.at, "ibench", params}
}
