package sqlite

import (
	"context"

	driver "modernc.org/sqlite"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/stdsql"
	"rumbench/model"
)

// statusCounters are the counts of the sessions' connections. Only the goroutine that uses
// a connection can query it, so sessions report them periodically.
var statusCounters = [...]struct {
	op   driver.DBStatusOp
	name string
}{
	{driver.DBStatusCacheHit, "sqlite.cache.hits"},
	{driver.DBStatusCacheMiss, "sqlite.cache.misses"},
	{driver.DBStatusCacheWrite, "sqlite.cache.pages_written"},
	{driver.DBStatusCacheSpill, "sqlite.cache.pages_spilled"},
}

// Counters adds the sizes of file and log, and the page counts of the sessions'
// caches, which lag by at most reportEvery operations of each session.
func (db *db) Counters(ctx context.Context, s *engine.Sample) error {
	for _, p := range []struct{ pragma, name string }{
		{"page_count", "sqlite.pages"},
		{"freelist_count", "sqlite.pages_free"},
	} {
		n, err := db.watch.Number(ctx, "PRAGMA "+p.pragma)
		if err != nil {
			return err
		}
		s.Gauge(p.name, "count", n)
	}
	state, err := readLog(ctx, db.watch, "NOOP")
	if err != nil {
		return err
	}
	s.Gauge("sqlite.wal.frames", "count", float64(state.frames))
	s.Gauge("sqlite.wal.frames_checkpointed", "count", float64(state.moved))
	length, _, err := fileSize(db.path + "-wal")
	if err != nil {
		return err
	}
	s.Gauge("sqlite.wal.bytes", "bytes", float64(length))
	for i, c := range statusCounters {
		s.Counter(c.name, "count", float64(db.counts[i].Load()))
	}
	hits, misses := db.counts[0].Load(), db.counts[1].Load()
	s.Counter(engine.CacheLookups, "count", float64(hits+misses))
	s.Counter(engine.CacheMisses, "count", float64(misses))
	s.Counter(engine.LogBytes, "bytes", float64(db.counts[2].Load()*(db.page+frameHeader)))
	s.Gauge(engine.CheckpointAge, "bytes", float64(length))
	s.Gauge(engine.DirtyBytes, "bytes", float64((state.frames-state.moved)*db.page))
	return nil
}

// frameHeader is the size of the log's header of each page.
const frameHeader = 24

// Structure implements engine.Structured.
func (db *db) Structure(context.Context) (engine.Structure, error) {
	return engine.Structure{Shape: engine.InPlace, Page: db.page, LogRoom: db.room * (db.page + frameHeader)}, nil
}

func (db *db) Session(ctx context.Context) (engine.Session, error) {
	s, err := db.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	db.open.Add(1)
	return &session{Session: s, db: db}, nil
}

// session is a session that reports its connection's counts, and has its share of the cache.
type session struct {
	*sqlkit.Session
	db     *db
	ops    uint
	shares int64 // the number of shares of the cache when it took its own
	closed bool
}

// reportEvery is the number of operations between two reports: a report costs about as
// much as a tenth of a point query.
const reportEvery = 64

func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	st, err := s.Session.Prepare(ctx, op)
	if err != nil {
		return nil, err
	}
	return &stmt{st, s}, nil
}

type stmt struct {
	engine.Stmt
	session *session
}

func (s *stmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if n := s.session.db.open.Load(); n != s.session.shares {
		if err := s.session.share(ctx, n); err != nil {
			return err
		}
	}
	err := s.Stmt.Exec(ctx, args, r)
	if s.session.ops++; s.session.ops%reportEvery == 0 {
		s.session.report()
	}
	return err
}

// share makes the session's cache one of n equal parts of the whole. Only the
// goroutine that uses a connection can do that.
func (s *session) share(ctx context.Context, n int64) error {
	s.shares = n
	if s.db.cache == 0 {
		return nil
	}
	return s.Exec(ctx, "PRAGMA "+cacheSize(s.db.cache/n))
}

// report adds the counts since the previous report.
func (s *session) report() {
	if s.Conn() == nil {
		return // closed
	}
	conn, ok := s.Conn().(*stdsql.Conn).Raw().(driver.DBStatus)
	if !ok {
		return
	}
	for i, c := range statusCounters {
		if n, _, err := conn.Status(c.op, true); err == nil {
			s.db.counts[i].Add(int64(n))
		}
	}
}

func (s *session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.db.open.Add(-1)
	s.report()
	return s.Session.Close()
}
