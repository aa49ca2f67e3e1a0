package postgres

import (
	"context"
	"fmt"
	"time"

	"rumbench/engine"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/sqlkit"
)

// vacuumsAtOnce is the number of tables that are vacuumed concurrently.
const vacuumsAtOnce = 8

// Settle vacuums and analyzes every table, several at a time, so that dead rows are gone, index
// scans need not visit the tables, and the planner has current statistics; and then checkpoints.
func (d *db) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	out := make([]engine.SettleAction, len(d.Schema.Tables)+1)
	err := d.EachTable(ctx, vacuumsAtOnce, func(c *sqlkit.Admin, i int, table string) (err error) {
		out[i], err = engine.Timed("vacuum "+table, func() (string, error) { return d.vacuum(ctx, c, table) })
		return err
	})
	if err != nil {
		return nil, err
	}
	out[len(out)-1], err = engine.Timed("checkpoint", func() (string, error) { return d.checkpoint(ctx) })
	return out, err
}

// vacuum removes dead rows and entries from a table and its indexes.
func (d *db) vacuum(ctx context.Context, c *sqlkit.Admin, table string) (string, error) {
	previousState, err := d.tableState(ctx, c, table)
	if err != nil {
		return "", err
	}
	if err := c.Exec(ctx, "VACUUM (ANALYZE, INDEX_CLEANUP ON) "+d.Dialect().Table(table)); err != nil {
		return "", err
	}
	after, err := d.tableState(ctx, c, table)
	return fmt.Sprintf("%s dead rows before, %s after; %s pages all visible before, %s after, of %s",
		previousState.dead, after.dead, previousState.visible, after.visible, after.pages), err
}

// tableState is the state of a table that vacuum changes.
type tableState struct{ dead, visible, pages string }

func (d *db) tableState(ctx context.Context, c *sqlkit.Admin, table string) (s tableState, err error) {
	text := "SELECT pg_stat_get_dead_tuples(c.oid), c.relallvisible, c.relpages FROM pg_class c JOIN pg_namespace n ON " +
		"n.oid = c.relnamespace" +
		" WHERE n.nspname = " + d.Dialect().Quoted(d.Server.Schema) + " AND c.relname = " + d.Dialect().Quoted(table)
	err = c.Query(ctx, text, func(row []string) error {
		s = tableState{row[0], row[1], row[2]}
		return nil
	})
	return s, err
}

// checkpoint writes all changed pages. Not every user of a server that is not ours may
// request it.
func (d *db) checkpoint(ctx context.Context) (string, error) {
	previousState, err := d.checkpointState(ctx)
	if err != nil {
		return "", err
	}
	err = d.Admin().Exec(ctx, "CHECKPOINT")
	if pgwire.HasState(err, pgwire.MayNot) && d.Attached() {
		return "not done: only a superuser or a member of pg_checkpoint may", nil
	}
	if err != nil {
		return "", err
	}
	after, err := d.counted(ctx, previousState)
	return fmt.Sprintf("%.0f bytes of log since the last one; %.0f pages written", previousState.age,
			after.pages-previousState.pages),
		err
}

// checkpointState is the state that a checkpoint changes.
type checkpointState struct{ age, pages, count float64 }

func (d *db) checkpointState(ctx context.Context) (s checkpointState, err error) {
	v := checkpointView(d.about.release / 10000)
	expr := map[string]string{}
	for _, p := range v.points {
		expr[p.name] = p.expr
	}
	text := fmt.Sprintf("SELECT (%s) - ((SELECT redo_lsn FROM pg_control_checkpoint()) - '0/0'), %s, %s + %s %s",
		position, expr["pages_written"], expr["timed"], expr["requested"], v.source)
	err = d.Admin().Numbers(ctx, text, 0, func(_ []string, n []float64) { s = checkpointState{n[0], n[1], n[2]} })
	return s, err
}

// counted waits until the statistics include the checkpoint, which has already been
// completed. They may be switched off, so it does not wait for long.
func (d *db) counted(ctx context.Context, previousState checkpointState) (s checkpointState, err error) {
	for range 50 {
		if s, err = d.checkpointState(ctx); err != nil || s.count > previousState.count {
			return s, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return s, nil
}
