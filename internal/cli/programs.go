package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"rumbench/engine"
	"rumbench/engine/all"
	"rumbench/engine/native"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/run/campaign"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

func newVersionCommand(a *App) *cobra.Command {
	var asJSON bool
	c := command("version", "print the version of this program, with --json also its engines and Go modules",
		args(cobra.NoArgs), func(*cobra.Command, []string) error {
			if !asJSON {
				_, err := fmt.Fprintln(a.Stdout, "rumbench", Version())
				return err
			}
			e := json.NewEncoder(a.Stdout)
			e.SetIndent("", "  ")
			return e.Encode(ownBuild())
		})
	c.Flags().BoolVar(&asJSON, "json", false, "one object of JSON, with the revision of the source")
	return c
}

// ownBuild returns this program without its path.
func ownBuild() program.Build {
	var engines []string
	for _, e := range all.Engines() {
		if i := e.Info(); native.Built || !i.Native {
			engines = append(engines, i.Name)
		}
	}
	return program.Own(version, result.Format, engines)
}

func executable() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// nativeProgram returns the path of the program with the native engines, and
// whether it exists.
func nativeProgram(a *App) (path string, found bool) {
	path = a.Getenv("RUMBENCH_NATIVE")
	if path == "" {
		path = filepath.Join(filepath.Dir(executable()), native.Program)
	}
	_, err := os.Stat(path)
	return path, err == nil
}

// builds finds the programs that run the trials of a plan's targets.
type builds struct {
	a     *App
	own   program.Build            // this program, without its path
	known map[string]program.Build // by path
}

func newBuilds(a *App) *builds { return &builds{a, ownBuild(), map[string]program.Build{}} }

// paths returns the paths of the programs that run a target's trials, a block each in turn.
func (b *builds) paths(t *plan.Target) (out []string, err error) {
	e, _ := catalog.Plugins{}.Engine(t.Engine)
	switch info := e.Info(); {
	case len(info.Servers) == 0 && t.Config.Server.Binary != "":
		for _, path := range t.Programs() {
			if path, err = filepath.Abs(path); err != nil {
				return nil, err
			}
			out = append(out, path)
		}
		return out, nil
	case info.Native && !native.Built:
		path, found := nativeProgram(b.a)
		if !found {
			return nil, native.Missing(info.Name)
		}
		return []string{path}, nil
	}
	return []string{executable()}, nil
}

// find is the option of plan.Load that finds the program of each target and asks
// which build it is.
func (b *builds) find(ctx context.Context) plan.Option {
	return plan.Building(func(t *plan.Target) error {
		_, err := b.checked(ctx, t)
		return err
	})
}

// checked returns the path of the first program that runs a target's trials, if all can.
func (b *builds) checked(ctx context.Context, t *plan.Target) (string, error) {
	paths, err := b.paths(t)
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		if err := b.check(ctx, path, t.Engine); err != nil {
			return "", err
		}
	}
	return paths[0], nil
}

// check returns an error if a program cannot run trials of an engine.
func (b *builds) check(ctx context.Context, path, engine string) (err error) {
	is, found := b.known[path]
	if !found {
		if path == executable() {
			is, err = b.own.Of(path)
		} else {
			is, err = program.Ask(ctx, path)
		}
		if err != nil {
			return hint.With(err,
				"binary: of an engine without a server names another build of rumbench, as made by make old")
		}
		b.known[path] = is
	}
	return is.CheckWith(b.own, engine)
}

// needed returns the programs of a plan's targets, each with its targets.
func (b *builds) needed(p *plan.Plan) (out result.Builds) {
	at := map[string]int{}
	for i := range p.Targets {
		paths, _ := b.paths(&p.Targets[i]) // were found before
		for _, path := range paths {
			k, found := at[path]
			if !found {
				k = len(out)
				at[path] = k
				out = append(out, result.Build{Build: b.known[path], Client: campaign.CalibrationDir(k)})
			}
			out[k].Targets = append(out[k].Targets, p.Targets[i].Name)
		}
	}
	return out
}

// runsIn returns the program in which the trials of an engine run.
func runsIn(a *App, info engine.Info) string {
	if !info.Native || native.Built {
		return "this program"
	}
	path, found := nativeProgram(a)
	if !found {
		return native.Program + ": not built (make native)"
	}
	return native.Program + ": found at " + path
}

type serverPrograms struct {
	programs []server.Found
	fetch    bool     // the images that are not on this machine
	absent   []string // images to fetch
}

// load reads a plan. Images that its targets lack are fetched when everything else about the plan
// is right, the campaign's directory can be used, and no other benchmark runs that this would disturb.
func (l *serverPrograms) load(ctx context.Context, a *App, c campaign.Config,
	read func(...plan.Option) (*plan.Plan, error),
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
func (l *serverPrograms) look(ctx context.Context) plan.Option {
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
