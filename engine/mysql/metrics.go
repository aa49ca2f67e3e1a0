package mysql

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// innodbMetrics are the counters of InnoDB that no status variable tells on
// every server: how locks ended, what kinds of transactions there were, and how
// many old versions wait for purge. Servers count the commits only when told to
// (innodb_monitor_enable = module_trx).
var innodbMetrics = map[string]engine.CounterKind{
	"lock_deadlocks": engine.Counter, "lock_timeouts": engine.Counter,
	"trx_rw_commits": engine.Counter, "trx_ro_commits": engine.Counter, "trx_nl_ro_commits": engine.Counter, "trx_rollbacks": engine.Counter,
	"trx_rseg_history_len": engine.Gauge,
}

// findMetrics makes the query for those that the server counts; "" if it does
// not let us look.
func findMetrics(ctx context.Context, c *sqlkit.Admin) string {
	const column = "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = 'INNODB_METRICS' AND COLUMN_NAME IN ('STATUS', 'ENABLED')"
	name, err := c.Value(ctx, column)
	if err != nil || name == "" {
		return ""
	}
	enabled := "STATUS = 'enabled'"
	if name == "ENABLED" { // MariaDB
		enabled = "ENABLED = 1"
	}
	query := "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE " + enabled + " AND NAME IN ('" + strings.Join(slices.Sorted(maps.Keys(innodbMetrics)), "', '") + "')"
	if _, err := c.Value(ctx, query); err != nil {
		return ""
	}
	return query
}

// innodbCounters adds them.
func (t *status) innodbCounters(ctx context.Context, s *engine.Sample) error {
	if t.metrics == "" {
		return nil
	}
	return t.conn.Query(ctx, t.metrics, func(row []string) error {
		name := row[0]
		n, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			return err
		}
		s.Points = append(s.Points, engine.Point{Name: "mysql.innodb_metrics." + name, Kind: innodbMetrics[name], Unit: "count", Value: n})
		return nil
	})
}
