package watch

import (
	"context"
	"errors"
	"flag"
	"math"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rumbench/engine"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a collector made of a function.
type fake struct {
	name    string
	collect func(context.Context, *engine.Sample) error
}

func (f fake) Name() string                                        { return f.name }
func (f fake) Collect(ctx context.Context, s *engine.Sample) error { return f.collect(ctx, s) }

// server is a database server that can be stopped and started. Its counter of
// statements grows by 1000 a second, and by 500 in each database.
type server struct {
	mu        sync.Mutex
	up        bool
	hangs     bool
	since     time.Time // it was started
	databases []string
	pids      []int
	open      int // connections
	attempts  int
	slow      time.Duration // of the answers
	dsn, dir  string
}

func newServer() *server {
	return &server{up: true, since: time.Now(), databases: []string{"a"}, dsn: "dsn"}
}

func (s *server) do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

var errRefused = errors.New("connection refused")

func (s *server) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts++
	if !s.up || dsn != s.dsn {
		return nil, errRefused
	}
	s.open++
	return &connection{server: s, since: s.since}, nil
}

type connection struct {
	server *server
	since  time.Time
}

func (c *connection) Counters(ctx context.Context, sample *engine.Sample) error {
	s := c.server
	s.mu.Lock()
	slow, hangs := s.slow, s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(slow / 2)
	s.mu.Lock()
	if !s.up || s.since != c.since {
		s.mu.Unlock()
		return errors.New("broken pipe")
	}
	n := float64(time.Since(s.since)) / float64(time.Millisecond)
	sample.Counter("fake.statements", "count", n)
	sample.Gauge("fake.connections", "count", 3)
	sample.Counter(engine.CacheLookups, "count", 10*math.Floor(n))
	sample.Counter(engine.CacheMisses, "count", math.Floor(n))
	for _, db := range s.databases {
		sample.Counter("fake.database.commits", "count", n/2, "database", db)
	}
	s.mu.Unlock()
	time.Sleep(slow / 2)
	return nil
}

func (c *connection) Processes() ([]int, string) {
	if len(c.server.pids) == 0 {
		return nil, "it is a fake"
	}
	return c.server.pids, ""
}

func (c *connection) DataDir() string { return c.server.dir }

func (c *connection) Settings(context.Context) ([]engine.Setting, error) { return nil, nil }

func (c *connection) Close() error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.open--
	return nil
}

// row finds a series in a frame.
func row(f *Frame, key string) *Row {
	for _, r := range f.each {
		if r.Key() == key {
			return r
		}
	}
	return nil
}
