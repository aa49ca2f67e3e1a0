package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// reader reads counters on its own connection, all in one round trip, which is a transaction.
// The server's processes update them when a transaction ends, but at most once a second, and
// flush the rest when they have been idle for some seconds: a sample lags behind, unless
// Report precedes it. Only the position of the log is current.
type reader struct {
	conn    *sqlkit.Admin
	views   []view // limited to the points that the server's release has
	queries []sqlkit.Stmt
	on      sqlkit.Conn    // the connection that they are prepared on
	types   [][]model.Type // of their columns
	labels  []string
	samples float64
	own     *own
	before  map[string]float64 // the counters that include our own share, without it
}

// reportsAsked is the first release in which a process reports its counts when asked: when the
// transaction of the call ends.
const (
	reportsAsked = 15
	flush        = "pg_stat_force_next_flush()"
)

// reportDelay is by how much the counters may lag: a process reports them every half second
// before release 15, where a reader may see them as they were half a second ago, and every
// second later.
const reportDelay = time.Second

// Report implements engine.Reporter.
func (d *db) Report(ctx context.Context) time.Duration {
	if d.about.release/10000 < reportsAsked {
		return reportDelay
	}
	failed := d.publish(ctx, d.Admin())
	d.EachSession(func(s *sqlkit.Session) { failed = cmp.Or(failed, d.publish(ctx, s.Admin)) })
	if looks, c := d.own.looks.Load(), d.watching.Load(); c != nil {
		if d.publish(ctx, c) == nil {
			d.own.reported.Store(looks)
		} else { // it was closed
			d.watching.Store(nil)
		}
	}
	if failed != nil {
		return reportDelay
	}
	return 0
}

// publish has the process of a connection report its counts, which it does if it has read a
// table.
func (d *db) publish(ctx context.Context, c *sqlkit.Admin) error {
	d.own.reports.Add(1)
	err := c.Exec(ctx, "SELECT "+flush+" FROM pg_catalog.pg_namespace LIMIT 1")
	if err != nil {
		d.own.reports.Add(-1)
	}
	return err
}

// view is a source of counters: a query whose first columns are labels, and whose other
// columns are the expressions of the points.
type view struct {
	prefix string // of the points' names
	labels []label
	points []point
	source string // the rest of the query
}

type label struct{ name, expr string }

// point is a number in a view. since and before are the bounds on major releases; 0 is no bound.
type point struct {
	name, unit, expr string
	gauge            bool
	since, before    int
}

// pick returns the view with the points that a release has, under their full names.
func (v view) pick(major int) view {
	points := v.points
	v.points = nil
	for _, p := range points {
		if major >= p.since && (p.before == 0 || major < p.before) {
			p.name = v.prefix + p.name
			v.points = append(v.points, p)
		}
	}
	return v
}

func (v *view) text() string {
	columns := quantity.Texts(v.labels, func(l label) string { return l.expr + "::text" })
	for _, p := range v.points {
		columns = append(columns, "("+p.expr+")::float8")
	}
	return "SELECT " + strings.Join(columns, ", ") + " " + v.source
}

// newReader has the server parse the queries of the views for a schema, and returns the
// function that reads them.
func newReader(ctx context.Context, conn *sqlkit.Admin, release int, schema string,
	own *own) (serverkit.Sample, error) {
	r := &reader{conn: conn, own: own, before: map[string]float64{}}
	all := views(release, schema)
	statements, err := conn.Value(ctx, statementsSchema)
	if err != nil {
		return nil, fmt.Errorf("look for pg_stat_statements: %w", err)
	}
	if v := statementsView(statements); statements != "" {
		if _, err := conn.Value(ctx, v.text()); err == nil { // it counts only if it was loaded at the server's start
			all = append(all, v)
		}
	}
	for _, v := range all {
		if v = v.pick(release / 10000); len(v.points) == 0 {
			continue
		}
		types := slices.Concat(slices.Repeat([]model.Type{model.String}, len(v.labels)),
			slices.Repeat([]model.Type{model.Float}, len(v.points)))
		r.views, r.types = append(r.views, v), append(r.types, types)
	}
	return r.sample, conn.Use(ctx, func(c sqlkit.Conn) error { return r.prepare(ctx, c) })
}

// prepare has the server parse the queries, unless it has on this connection.
func (r *reader) prepare(ctx context.Context, c sqlkit.Conn) error {
	if c == r.on {
		return nil
	}
	r.on, r.queries = nil, r.queries[:0]
	for i := range r.views {
		stmt, err := c.Prepare(ctx, r.views[i].text())
		if err != nil {
			return fmt.Errorf("read the counters %s*: %w", r.views[i].prefix, err)
		}
		r.queries = append(r.queries, stmt)
	}
	r.on = c
	return nil
}

// sample adds the counters of the server, the database, and its tables and indexes.
func (r *reader) sample(ctx context.Context, s *engine.Sample) error {
	err := r.conn.Use(ctx, func(c sqlkit.Conn) error {
		if err := r.prepare(ctx, c); err != nil {
			return err
		}
		r.samples++
		return c.(*pgwire.Conn).Pipeline(ctx, r.queries, r.types, func(i int, row []model.Value) error {
			r.add(s, &r.views[i], row)
			return nil
		})
	})
	return engine.Wrap("read the counters", err)
}

// without returns a counter without our own share of it. Before release 15 the server
// reports that later than it happens: until then the counter stays as it was, rather than
// fall. It falls if it was reset.
func (r *reader) without(name string, value, own float64) float64 {
	v, previous := max(0, value-own), r.before[name]
	if v < previous && previous-v <= own {
		return previous
	}
	r.before[name] = v
	return v
}

// add adds the points of a row. NULL is an unknown value.
func (r *reader) add(s *engine.Sample, v *view, row []model.Value) {
	r.labels = r.labels[:0]
	for i, l := range v.labels {
		r.labels = append(r.labels, l.name, string(row[i].Buf()))
	}
	for i, value := range row[len(v.labels):] {
		p := &v.points[i]
		switch {
		case value.IsNull():
		case p.name == engine.Queries:
			own := r.samples*float64(len(r.queries)) + float64(r.own.looks.Load()+r.own.reports.Load())
			s.Counter(p.name, p.unit, r.without(p.name, value.Float(), own))
		case strings.HasSuffix(p.name, ".commits") && len(v.labels) == 0:
			own := r.samples + float64(r.own.reports.Load()+r.own.reported.Load())
			s.Counter(p.name, p.unit, r.without(p.name, value.Float(), own))
		case p.gauge:
			s.Gauge(p.name, p.unit, value.Float(), r.labels...)
		default:
			s.Counter(p.name, p.unit, value.Float(), r.labels...)
		}
	}
}
