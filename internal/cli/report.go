package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/compare"
	"rumbench/internal/page/picture"
	"rumbench/internal/plan"
	"rumbench/internal/report"
	"rumbench/internal/report/course"
	"rumbench/internal/result"
	"rumbench/internal/result/redact"
	"rumbench/internal/text/hint"
)

func newReportCommand(a *App) *cobra.Command {
	var o reportOptions
	c := command("report DIR...", "write the report of campaigns as HTML and Markdown", args(campaigns),
		func(_ *cobra.Command, dirs []string) error { return runReport(a.Stdout, o, dirs) })
	f := c.Flags()
	f.StringVar(&o.out, "out", "", "directory to write to (default: DIR itself, if it is one)")
	f.StringVar(&o.base, "base", "", "the target that the others are compared with (default: the first)")
	f.StringVar(&o.notes, "notes", "", "a `FILE` of remarks on steps, for the relative table: step: remark")
	f.BoolVar(&o.all, "all", false, "put everything into the Markdown, also what is folded on the page")
	f.BoolVar(&o.force, "force", false, "replace a report that --out holds already")
	acrossFlags(f, &o.across)
	f.StringVar(&o.card, "card", "", "write the first screen as one picture to a `FILE`.svg or .png, and nothing else")
	f.BoolVar(&o.summary, "summary", false, "print the first screen as Markdown, and write nothing")
	f.BoolVar(&o.redact, "redact", false, "leave out names of hosts and users, paths and addresses")
	return c
}

type reportOptions struct {
	out, base, notes, card      string
	redact, force, all, summary bool
	across                      compare.Across
}

func runReport(w io.Writer, o reportOptions, dirs []string) error {
	in, err := reportInput(dirs...)
	if err != nil {
		return err
	}
	if in, err = o.apply(in); err != nil {
		return err
	}
	switch {
	case o.summary && o.card != "":
		return usageErrorf("one of --card and --summary at a time")
	case o.summary:
		return report.Summary(w, in)
	case o.card != "":
		return o.writeCard(w, in)
	}
	out := cmp.Or(o.out, dirs[0])
	if len(dirs) > 1 && o.out == "" {
		return usageErrorf("a report of several campaigns needs its own directory: --out DIR")
	}
	if _, err := os.Stat(filepath.Join(out, result.ReportFile)); err == nil && o.out != "" && !o.force {
		return hint.Errorf("choose another --out, or say --force", "%s holds a report already", out)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	html, err := writeReport(in, out, o.all)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, html)
	return err
}

// pixels is the number of pixels of a PNG per unit of a picture: sharp on screens with
// two per point.
const pixels = 2

// writeCard writes the first screen as a picture.
func (o reportOptions) writeCard(w io.Writer, in report.Input) error {
	write := map[string]func(io.Writer, *picture.Picture) error{
		".svg": func(w io.Writer, p *picture.Picture) error { _, err := io.WriteString(w, p.File()); return err },
		".png": func(w io.Writer, p *picture.Picture) error { return p.PNG(w, pixels) },
	}[strings.ToLower(filepath.Ext(o.card))]
	if write == nil {
		return usageErrorf("--card %s: the name ends in neither .svg nor .png", o.card)
	}
	p, err := report.Card(in)
	if err != nil {
		return err
	}
	flag := os.O_EXCL
	if o.force {
		flag = os.O_TRUNC
	}
	exists := hint.Errorf("choose another name, or say --force", "--card %s: the file exists", o.card)
	return writeImage(w, o.card, flag, exists, func(f io.Writer) error { return write(f, p) })
}

// apply changes the report as the options ask.
func (o reportOptions) apply(in report.Input) (report.Input, error) {
	var trials []*result.Trial
	for _, t := range in.Trials {
		trials = append(trials, t.Trial)
	}
	c := compare.New(trials)
	if o.base != "" {
		base, err := targetNamed(c, o.base)
		if err != nil {
			return in, err
		}
		others := slices.DeleteFunc(slices.Clone(in.Trials), func(t report.Trial) bool { return t.Target == base.Name })
		in.Trials = append(slices.DeleteFunc(in.Trials, func(t report.Trial) bool { return t.Target != base.Name }),
			others...)
	}
	var err error
	if in.Notes, err = readNotes(o.notes, c); err != nil {
		return in, err
	}
	in.Across = o.across
	if o.redact {
		in = redact.Copy(in, in.Plan)
		in.Warnings = append(in.Warnings, redact.Notice)
	}
	return in, nil
}

// reportInput reads campaigns into one report.
func reportInput(dirs ...string) (report.Input, error) {
	var in report.Input
	var titles []string
	sides, _, err := readSides(separateSides(dirs))
	if err != nil {
		return in, err
	}
	for i, s := range sides {
		dir, chosen := splitTarget(dirs[i])
		c, err := result.ReadCampaign(dir)
		if err != nil {
			return in, err
		}
		titles = compare.AppendNew(titles, c.Name)
		if at := positionOf(dir, c); at != "" {
			in.Running = append(in.Running, at)
		}
		if in.Profiles, err = addProfiles(in.Profiles, dir, c, s); err != nil {
			return in, err
		}
		if !c.Started.IsZero() && (in.Started.IsZero() || c.Started.Before(in.Started)) {
			in.Started = c.Started
		}
		in.Commands = append(in.Commands, c.Command.String())
		for _, name := range c.Targets {
			if chosen == "" && !slices.Contains(s.own, name) {
				in.Warnings = append(in.Warnings, fmt.Sprintf("%s has no trial: it is not in this report.", name))
			}
		}
		for _, t := range s.trials {
			plans, err := result.ReadPlans(t.Dir)
			if err != nil {
				return in, err
			}
			in.Trials = append(in.Trials, report.Trial{Trial: t, Plans: plans, Usual: defaultParams(t),
				Series: func(yield func(result.Line) error) error { return result.ReadSeries(t.Dir, course.Sources, yield) }})
		}
		if b, err := result.ReadPlan(dir); err == nil {
			in.Plan += string(plan.WithoutSecrets(b))
			addPublished(&in, dir, b, func(target string) string {
				if k := slices.Index(s.own, target); k >= 0 {
					return s.targets[k]
				}
				if len(dirs) == 1 || target == "" {
					return target
				}
				return dir + "/" + target // not begun: not a target of another campaign
			})
		}
		if c.Client != "" && in.Client == nil {
			if t, err := result.ReadTrial(result.TrialPath(dir, c.Client)); err == nil {
				in.Client = t
			}
		}
	}
	in.Title = strings.Join(titles, ", ")
	return in, nil
}

// addProfiles adds the profiles of a campaign, by the names of its targets in the report.
func addProfiles(profiles []*report.Profile, dir string, c *result.Campaign, s side) ([]*report.Profile, error) {
	trials := s.trials
	if len(c.Profiled) > 0 {
		var err error
		if trials, err = result.ReadProfiled(dir, c); err != nil {
			return nil, err
		}
		for _, t := range trials {
			if k := slices.Index(s.own, t.Target); k >= 0 {
				t.Rename(s.targets[k])
			}
		}
	}
	asked := func(t *result.Trial) bool { return t.Profiled.Slows() } // flame graphs are large
	trials = slices.DeleteFunc(slices.Clone(trials), func(t *result.Trial) bool { return !asked(t) })
	extra, err := readProfiles(trials, "")
	return append(profiles, extra...), err
}

// defaultParams returns the default values of a trial's parameters; nil if this rumbench does not
// know them.
func defaultParams(t *result.Trial) map[string]any {
	w, ok := catalog.Plugins{}.Workload(t.Workload)
	if !ok || t.Imported != nil {
		return nil
	}
	params, err := w.Info().Resolve(t.Preset, nil)
	if err != nil {
		return nil
	}
	return params
}

// addPublished reads the published figures from a campaign's plan. A plan that cannot be
// read, as it names a file that is gone, makes the report poorer but is no error.
func addPublished(in *report.Input, dir string, src []byte, name func(target string) string) {
	if !strings.Contains(string(src), "published") {
		return // it holds none, whether it can be read or not
	}
	path := filepath.Join(dir, result.PlanFile)
	p, err := plan.Load(path, src, nil, catalog.Plugins{}, plan.Forced(true))
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		in.Warnings = append(in.Warnings, "published figures are left out, as this rumbench cannot read the plan: "+first)
		return
	}
	for _, e := range p.Published {
		for i := range e.Rows {
			e.Rows[i].Like = name(e.Rows[i].Like)
		}
		in.Published = append(in.Published, e)
	}
}
