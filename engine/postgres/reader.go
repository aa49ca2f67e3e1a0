package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/engine"
)

// reader reads counters on a connection of its own, all in one round trip. The
// server's processes add to them when a transaction ends, but at most once a
// second, and what they still hold when they fall idle some seconds later: a
// sample lags behind. Only the position of the log is of the moment.
type reader struct {
	mu     sync.Mutex
	conn   *conn // nil: closed
	parsed []parsed
	labels []string
}

// parsed is a view whose query the server has parsed.
type parsed struct {
	view
	points []point // of the server's release
	names  []string
	sd     *pgconn.StatementDescription
}

// view is a source of counters: a query whose first columns are labels, and
// whose others are the points' expressions.
type view struct {
	prefix string // of the points' names
	labels []label
	points []point
	from   string // the rest of the query
}

type label struct{ name, expr string }

// point is a number in a view. since and before are the major releases that
// have it; 0 is no bound.
type point struct {
	name, unit, expr string
	gauge            bool
	since, before    int
}

// pick returns the points that a release has.
func pick(points []point, major int) (out []point) {
	for _, p := range points {
		if major >= p.since && (p.before == 0 || major < p.before) {
			out = append(out, p)
		}
	}
	return out
}

func (v *view) text(points []point) string {
	var columns []string
	for _, l := range v.labels {
		columns = append(columns, l.expr+"::text")
	}
	for _, p := range points {
		columns = append(columns, "("+p.expr+")::float8")
	}
	return "SELECT " + strings.Join(columns, ", ") + " " + v.from
}

// prepare has the server parse the queries.
func (r *reader) prepare(ctx context.Context, views []view, release int) error {
	for i, v := range views {
		p := parsed{view: v, points: pick(v.points, release/10000)}
		if len(p.points) == 0 {
			continue
		}
		for _, q := range p.points {
			p.names = append(p.names, v.prefix+q.name)
		}
		if err := r.conn.watch.begin(ctx); err != nil {
			return err
		}
		var err error
		p.sd, err = r.conn.pg.Prepare(background, "v"+strconv.Itoa(i), v.text(p.points), nil)
		if err := r.conn.end(ctx, err); err != nil {
			return fmt.Errorf("read the counters %s*: %w", v.prefix, err)
		}
		r.parsed = append(r.parsed, p)
	}
	return nil
}

// Counters adds the counters.
func (r *reader) Counters(ctx context.Context, s *engine.Sample) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		return errClosed
	}
	if err := r.conn.watch.begin(ctx); err != nil {
		return err
	}
	var batch pgconn.Batch
	for i := range r.parsed {
		batch.ExecStatement(r.parsed[i].sd, nil, nil, []int16{binaryFormat})
	}
	results := r.conn.pg.ExecBatch(background, &batch)
	var bad error
	for i := 0; i < len(r.parsed) && results.NextResult(); i++ {
		rows := results.ResultReader()
		for rows.NextRow() && bad == nil {
			bad = r.add(s, &r.parsed[i], rows.Values())
		}
	}
	if err := r.conn.end(ctx, results.Close()); err != nil {
		return fmt.Errorf("read the counters: %w", err)
	}
	return bad
}

// add adds the points of a row. What is NULL is not known.
func (r *reader) add(s *engine.Sample, v *parsed, row [][]byte) error {
	r.labels = r.labels[:0]
	for i, l := range v.labels {
		r.labels = append(r.labels, l.name, string(row[i]))
	}
	for i, b := range row[len(v.labels):] {
		if b == nil {
			continue
		}
		value, err := decode(b, oidFloat8)
		if err != nil {
			return fmt.Errorf("counter %s: %w", v.names[i], err)
		}
		p := &v.points[i]
		if p.gauge {
			s.Gauge(v.names[i], p.unit, value.(float64), r.labels...)
		} else {
			s.Counter(v.names[i], p.unit, value.(float64), r.labels...)
		}
	}
	return nil
}

// Close closes the connection.
func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		return nil
	}
	err := r.conn.Close()
	r.conn = nil
	return err
}
