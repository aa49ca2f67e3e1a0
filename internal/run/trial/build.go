package trial

import (
	"context"
	"sync/atomic"
	"time"

	"rumbench/engine"
)

// EventBuild is the progress of a step that builds indexes.
type EventBuild struct {
	Done    int     `json:"done"`
	Begun   int     `json:"begun"` // including those that are done
	All     int     `json:"all"`   // in the step
	Seconds float64 `json:"s"`     // since the last one began
}

// building is the database of a step that builds indexes: it counts them for the live display.
type building struct {
	engine.DB
	total              int
	begun, done, since atomic.Int64 // since is when the last one began
}

// countBuilds returns the database for the step's workload.
func (t *stepRun) countBuilds() engine.DB {
	if t.step.Builds == 0 {
		return t.db
	}
	t.builds = &building{DB: t.db, total: t.step.Builds}
	if speaker, ok := t.db.(engine.Speaker); ok {
		return struct {
			*building
			engine.Speaker
		}{t.builds, speaker}
	}
	return t.builds
}

// CreateIndexes builds indexes.
func (b *building) CreateIndexes(ctx context.Context, table string, names ...string) error {
	n := int64(len(names))
	b.since.Store(time.Now().UnixNano())
	b.begun.Add(n)
	err := b.DB.CreateIndexes(ctx, table, names...)
	if err != nil {
		b.begun.Add(-n) // it may be tried again
		return err
	}
	b.done.Add(n)
	return nil
}

// progress returns the progress of the builds; nil if the step builds none.
func (b *building) progress() *EventBuild {
	if b == nil {
		return nil
	}
	e := EventBuild{Done: int(b.done.Load()), All: b.total}
	e.Begun, e.Seconds = int(b.begun.Load()), time.Since(time.Unix(0, b.since.Load())).Seconds()
	return &e
}
