package serverkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"rumbench/engine"
	"rumbench/internal/server"
)

// Instance is the server of a database, whatever protocol it speaks: a private
// one that is started, or one that is attached to.
type Instance struct {
	*Host
	Private *server.Server // nil: attached

	setup *Setup
}

// NewInstance returns the server of a checked configuration, which is not started
// yet. What is known of its process and its files is as for NewHost.
func NewInstance(s *Setup, mark string, programs ...string) *Instance {
	return &Instance{Host: NewHost(mark, programs...), setup: s}
}

// Start starts the private server with these settings, and waits until ready
// succeeds.
func (i *Instance) Start(ctx context.Context, settings []server.Setting, ready func(context.Context, server.Endpoint) error) (err error) {
	s := i.setup
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return err
	}
	i.Private, err = server.Start(ctx, server.Config{
		Kind: s.Server.Kind, Binary: s.Server.Binary, Dir: s.Dir, Log: s.Server.Log, Settings: settings, Ready: ready,
	})
	if err == nil {
		i.looked, i.pid, i.dir = true, i.Private.PID(), i.Private.DataDir()
	}
	return err
}

// dyingTime is how long a server may take to be gone when its connections have broken.
const dyingTime = time.Second

// Blame adds to an error that the server has died, if it has.
func (i *Instance) Blame(err error) error {
	if i.Private != nil && engine.ClassOf(err) == engine.Gone {
		i.Private.Wait(dyingTime)
		if died := i.Died(); died != nil {
			return engine.Classify(engine.Gone, fmt.Errorf("%w: %w", died, err))
		}
	}
	return err
}

// Died returns how a private server ended that was not asked to.
func (i *Instance) Died() error { return i.Private.Died() }

// Empty returns what the files of a private server took before it held anything.
func (i *Instance) Empty() map[engine.FileClass]int64 { return i.Private.Empty() }

// Stop stops the private server. Its death, if it has died, is the cause of the
// error of closing connections to it, and is returned instead.
func (i *Instance) Stop(closing error) error {
	if i.Died() != nil {
		return i.Private.Stop()
	}
	return errors.Join(closing, i.Private.Stop())
}
