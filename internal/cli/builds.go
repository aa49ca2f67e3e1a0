package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rumbench/engine"
	"rumbench/engine/all"
	"rumbench/engine/native"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/run/campaign"
	"rumbench/internal/text/hint"
)

func newVersionCommand(a *App) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version of this program, with --json also its engines and Go modules",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				_, err := fmt.Fprintln(a.Stdout, "rumbench", Version())
				return err
			}
			e := json.NewEncoder(a.Stdout)
			e.SetIndent("", "  ")
			return e.Encode(ownBuild())
		},
	}
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
	is, known := b.known[path]
	if !known {
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
			k, known := at[path]
			if !known {
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
