package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"rumbench/engine"
	"rumbench/model"
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
	stmt   *stmt
	types  []model.Type // of the columns
	row    []model.Value
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
	for _, v := range views {
		p := parsed{view: v, points: pick(v.points, release/10000)}
		if len(p.points) == 0 {
			continue
		}
		for _, q := range p.points {
			p.names = append(p.names, v.prefix+q.name)
		}
		for range v.labels {
			p.types = append(p.types, model.String)
		}
		for range p.points {
			p.types = append(p.types, model.Float)
		}
		p.row = make([]model.Value, len(p.types))
		var err error
		if p.stmt, err = r.conn.prepare(ctx, v.text(p.points)); err != nil {
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
	c := r.conn
	c.out = c.out[:0]
	for i := range r.parsed {
		var err error
		if c.out, err = r.parsed[i].stmt.appendMessages(c.out, nil, nil); err != nil {
			return err
		}
	}
	c.out = append(c.out, syncMessage...)
	if err := c.watch.begin(ctx); err != nil {
		return err
	}
	c.ask()
	var bad error
	for {
		row, err := c.next()
		if row == nil {
			if err := c.end(ctx, err); err != nil {
				return fmt.Errorf("read the counters: %w", err)
			}
			return bad
		}
		if bad == nil {
			bad = r.add(s, &r.parsed[c.done], row)
		}
	}
}

// add adds the points of a row. What is NULL is not known.
func (r *reader) add(s *engine.Sample, v *parsed, row []byte) error {
	if err := decodeRow(row, v.row, v.stmt.columns, v.types, decode); err != nil {
		return fmt.Errorf("read the counters %s*: %w", v.prefix, err)
	}
	r.labels = r.labels[:0]
	for i, l := range v.labels {
		r.labels = append(r.labels, l.name, string(v.row[i].Buf()))
	}
	for i, value := range v.row[len(v.labels):] {
		p := &v.points[i]
		switch {
		case value.IsNull():
		case p.gauge:
			s.Gauge(v.names[i], p.unit, value.Float(), r.labels...)
		default:
			s.Counter(v.names[i], p.unit, value.Float(), r.labels...)
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
