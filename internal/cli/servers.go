package cli

import (
	"context"
	"errors"
	"slices"

	"rumbench/internal/plan"
	"rumbench/internal/run/campaign"
	"rumbench/internal/server"
)

// lookedAt are the server programs that a plan's targets start.
type lookedAt struct {
	programs []server.Found
	fetch    bool     // the images that are not on this machine
	absent   []string // images to fetch
}

// load reads a plan. Images that its targets lack are fetched when everything else about the plan
// is right, the campaign's directory can be used, and no other benchmark runs that this would disturb.
func (l *lookedAt) load(ctx context.Context, a *App, c campaign.Config,
	read func(look plan.Option) (*plan.Plan, error),
) (*plan.Plan, error) {
	p, err := read(l.look(ctx))
	if err != nil || len(l.absent) == 0 {
		return p, err
	}
	c.LockFile = a.lockFile()
	err = campaign.Alone(c, func() (err error) {
		for _, image := range l.absent {
			err = errors.Join(err, server.Pull(ctx, image, a.Stderr))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	l.fetch = false
	return read(l.look(ctx))
}

// look examines the program of a server. If it cannot be used, the engine reports that
// when it checks the target.
func (l *lookedAt) look(ctx context.Context) plan.Option {
	return plan.Looking(func(t *plan.Target, kinds []string) (absent bool) {
		source := server.Source{Binary: t.Config.Server.Binary, Image: t.Config.Server.Image}
		asked := func(f server.Found) bool { return slices.Contains(kinds, f.Kind) && f.Source == source }
		if slices.ContainsFunc(l.programs, asked) {
			return false
		}
		f, err := server.Look(ctx, kinds, source)
		if err == nil {
			l.programs = append(l.programs, f)
			return false
		}
		_, absent = errors.AsType[*server.AbsentError](err)
		absent = absent && l.fetch && t.Pull != plan.PullNever && source.Binary == ""
		if absent && !slices.Contains(l.absent, source.Image) {
			l.absent = append(l.absent, source.Image)
		}
		return absent
	})
}
