package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/page"
	"rumbench/internal/page/flame"
	"rumbench/internal/remark"
	"rumbench/internal/report"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

type profileOptions struct {
	step, svg string
	folded    bool
	top       int
}

func (o *profileOptions) validate(*cobra.Command, []string) error {
	switch {
	case o.folded && o.svg != "":
		return errors.New("one of --svg and --folded at a time")
	case o.top < 1:
		return fmt.Errorf("--top %d is not above 0", o.top)
	}
	return nil
}

func newProfileCommand(a *App) *cobra.Command {
	var o profileOptions
	c := command("profile DIR [OTHER]", "show where the CPU time of a step went, down to functions",
		args(cobra.RangeArgs(1, 2), o.validate),
		func(_ *cobra.Command, dirs []string) error { return runProfile(a, &o, dirs) })
	f := c.Flags()
	f.StringVar(&o.step, "step", "", "the step (default: the first that measures)")
	f.StringVar(&o.svg, "svg", "", "draw a flame graph into a `file`: of one target, or of the difference of two")
	f.BoolVar(&o.folded, "folded", false, "print the stacks of one target, as speedscope and flamegraph.pl read them")
	f.IntVar(&o.top, "top", 20, "how many functions are listed")
	return c
}

func runProfile(a *App, o *profileOptions, dirs []string) error {
	trials, err := profiledTrials(dirs)
	if err != nil {
		return err
	}
	step, others, err := profiledStep(trials, o.step)
	if err != nil {
		return err
	}
	profiles, err := readProfiles(trials, step)
	if err != nil {
		return err
	}
	var list []*report.Profile
	for _, p := range profiles {
		for _, w := range p.Warnings {
			fmt.Fprintf(a.Stderr, "⚠ %s: %s\n", p.Target, w)
		}
		if p.CPU.Profile != nil {
			list = append(list, p)
		}
	}
	switch {
	case len(list) == 0:
		return exitError{fmt.Errorf("no target has a CPU profile of %s that can be used", step), ExitInvalid}
	case o.folded:
		if len(list) > 1 {
			return chooseProfile("--folded takes one target", list)
		}
		return list[0].CPU.WriteFolded(a.Stdout)
	case o.svg != "":
		return drawProfile(a.Stdout, o.svg, list)
	}
	return page.Text(a.Stdout, profileBlocks(list, step, others, o.top), page.TextStyle{})
}

func chooseProfile(problem string, list []*report.Profile) error {
	names := quantity.Texts(list, func(p *report.Profile) string { return p.Target })
	return usage(hint.Errorf("write DIR:TARGET; the targets are "+strings.Join(names, ", "), "%s, and there are %d",
		problem, len(list)))
}

// profiledTrials reads the trials with profiles.
func profiledTrials(dirs []string) (all []*result.Trial, err error) {
	var sides []side
	for _, arg := range dirs {
		dir, target := splitTarget(arg)
		trials, err := profiledIn(dir)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, t := range trials {
			names = compare.AppendNew(names, t.Target)
		}
		if target != "" {
			if err := checkNames("no profile of a target", []string{target}, names); err != nil {
				return nil, err
			}
			trials = slices.DeleteFunc(trials, func(t *result.Trial) bool { return t.Target != target })
		} else if len(dirs) > 1 && len(names) > 1 {
			return nil, usage(hint.Errorf("write "+dir+":TARGET; the targets are "+strings.Join(names, ", "),
				"%s has profiles of %s", dir, quantity.Count(len(names), "target")))
		}
		sides = append(sides, side{label: filepath.Clean(dir), trials: trials})
	}
	return combine(sides)
}

// splitTarget splits DIR:TARGET.
func splitTarget(arg string) (dir, target string) {
	if _, err := os.Stat(arg); err != nil {
		if i := strings.LastIndexByte(arg, ':'); i > 0 {
			return arg[:i], arg[i+1:]
		}
	}
	return arg, ""
}

const whyNone = "rumbench doctor --profile says what sampling lacks here; plans with profile: off have none"

// profiledIn reads the trials with profiles of a campaign, or the one in a trial directory.
func profiledIn(dir string) (trials []*result.Trial, err error) {
	if t, err := result.ReadTrial(dir); err == nil {
		if t.Profiled != "" {
			trials = append(trials, t)
		}
	} else {
		c, err := result.ReadCampaign(dir)
		if err != nil {
			return nil, err
		}
		if trials, err = result.ReadProfiled(dir, c); err != nil {
			return nil, err
		}
	}
	if len(trials) == 0 {
		return nil, hint.Errorf(whyNone, "%s has no profiled trial", dir)
	}
	return trials, nil
}

// profiledStep returns the step to show, which is the requested one or else the first that
// measures, and the other steps with profiles.
func profiledStep(trials []*result.Trial, asked string) (step string, others []string, err error) {
	for _, t := range trials {
		for i := range t.Steps {
			s := &t.Steps[i]
			if s.Profile == nil {
				continue
			}
			others = compare.AppendNew(others, s.Name)
			if step == "" && !t.Prepares(s) {
				step = s.Name
			}
		}
	}
	if len(others) == 0 {
		return "", nil, hint.With(errors.New("no step has a profile"), notProfiled(trials))
	}
	if asked != "" {
		if err := checkNames("no profile of a step", []string{asked}, others); err != nil {
			return "", nil, err
		}
		step = asked
	}
	step = cmp.Or(step, others[0])
	return step, slices.DeleteFunc(others, func(name string) bool { return name == step }), nil
}

func notProfiled(trials []*result.Trial) string {
	for _, t := range trials {
		for _, w := range t.Warnings {
			if w.Code == remark.NoProfile {
				return w.Text
			}
		}
	}
	return whyNone
}

// readProfiles reads the profiles of a step, or of all steps if it is "": one for each
// target, from all of its trials.
func readProfiles(trials []*result.Trial, step string) (out []*report.Profile, err error) {
	found := map[[2]string]*report.Profile{}
	works := map[*report.Profile][]profile.Work{}
	for _, t := range trials {
		for i := range t.Steps {
			s := &t.Steps[i]
			if s.Profile == nil || step != "" && s.Name != step {
				continue
			}
			key := [2]string{t.Target, s.Name}
			p := found[key]
			if p == nil {
				p = &report.Profile{Target: t.Target, Engine: t.Engine, Step: s.Name, Per: s.Profile.Per,
					Locks: map[string][]profile.LockCost{}}
				found[key], out = p, append(out, p)
			}
			if err := readExtra(p, t, s); err != nil {
				return nil, err
			}
			p.Warnings = compare.AppendNew(p.Warnings, metric.Texts(s.Profile.Warnings)...)
			switch w, err := t.ReadCPUProfile(s); {
			case err == nil:
				works[p] = append(works[p], w)
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
			for _, kind := range profile.LockProfiles {
				if p.Locks[kind], err = t.ReadLocks(s, kind); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, err
				}
			}
		}
	}
	widest := 0
	for _, list := range works {
		widest = max(widest, len(list))
	}
	for p, list := range works {
		p.CPU = profile.Merge(list...)
		if step != "" && len(list) < widest {
			p.Warnings = append(p.Warnings,
				fmt.Sprintf("it has profiles of %s, others of up to %d", quantity.Count(len(list), "trial"), widest))
		}
	}
	return out, nil
}

// readExtra reads the data that exists only in trials that are run for their profiles.
func readExtra(p *report.Profile, t *result.Trial, s *result.Step) error {
	p.Units, p.Device = s.Profile.Units, map[blockio.Op]float64{}
	for op, name := range map[blockio.Op]string{blockio.Read: metric.ReadKB, blockio.Write: metric.WriteKB} {
		if r := s.Find(name, "", ""); r != nil && r.Per == p.Per {
			p.Device[op] = r.Value
		}
	}
	var err, errAsleep error
	p.Files, err = orNil(t.ReadFiles(s))
	p.Asleep, errAsleep = orNil(t.ReadAsleep(s))
	return cmp.Or(err, errAsleep)
}

// orNil returns what was read, nil if the file does not exist.
func orNil[T any](read *T, err error) (*T, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return read, err
}

// drawProfile draws a flame graph of one profile, or of the difference between two.
func drawProfile(w io.Writer, file string, list []*report.Profile) error {
	var g *flame.Graph
	switch {
	case len(list) > 2:
		return chooseProfile("a flame graph is of one target or two", list)
	case len(list) == 1:
		g = list[0].Flame()
	case list[0].Engine != list[1].Engine:
		return usage(hint.With(errors.New("the functions of different engines cannot be compared"),
			"draw a flame graph of each: DIR:TARGET"))
	default:
		g = list[1].FlameAgainst(list[0])
	}
	exists := hint.Errorf("choose another name", "--svg %s: the file exists", file)
	return writeImage(w, file, os.O_EXCL, exists, g.Draw)
}

// writeImage writes a file, exclusively or over another, and prints its name.
func writeImage(w io.Writer, file string, flag int, exists error, draw func(io.Writer) error) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|flag, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exists
	}
	if err != nil {
		return err
	}
	if err := errors.Join(draw(f), f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, file)
	return err
}

func profileBlocks(list []*report.Profile, step string, others []string, top int) []page.Block {
	about := fmt.Sprintf("%s: CPU time in µs per %s", step, list[0].Per)
	if len(others) > 0 {
		about += "; --step has also " + strings.Join(others, ", ")
	}
	out := []page.Block{page.Prose("", about), report.ProfileTable(list)}
	if len(list) == 2 {
		out = append(out, report.ChangedSubsystems(list[0], list[1]))
		out = append(out, changedFunctions(list[0], list[1], top)...)
	} else {
		for _, p := range list {
			out = append(out, report.FunctionTable(p, top))
		}
	}
	for _, p := range list {
		if p.Files != nil {
			out = append(out, report.FileTable(p, top))
		}
		if p.Asleep != nil {
			out = append(out, report.SleepTable(p, top))
		}
		for _, t := range report.LockTables(p, top) {
			out = append(out, t)
		}
	}
	return out
}

// changedFunctions returns the functions that differ between two profiles, or the reason
// why none are named.
func changedFunctions(base, next *report.Profile, top int) (out []page.Block) {
	if base.Engine != next.Engine {
		return []page.Block{page.Prose("", "Their engines differ, so that they are compared by subsystem alone.")}
	}
	for _, t := range report.ChangedFunctions(base, next, top) {
		out = append(out, t)
	}
	if len(out) == 0 {
		out = append(out, page.Prose("", "No function of 1 % or more of the CPU time differs beyond chance."))
	}
	return out
}
