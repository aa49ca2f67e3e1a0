package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rumbench/engine"
	"rumbench/engine/native"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/page"
	"rumbench/internal/plan"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/declared"
)

func newWorkloadCommand(a *App) *cobra.Command {
	c := group("workload check|try|show|import",
		"write a workload of your own: check a file, try it, or start from one that exists",
		"workload what: check FILE, try FILE, show NAME, or import pgbench FILE")
	c.AddCommand(newCheckCommand(a), newTryCommand(a), newShowWorkloadCommand(a), newImportScriptCommand(a))
	return c
}

// declaredOptions are the flags that choose the parameters of a workload's file.
type declaredOptions struct {
	preset string
	sets   []string
}

func (o *declaredOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.preset, "preset", "", "a preset of the file")
	c.Flags().StringArrayVar(&o.sets, "set", nil, "a parameter: `name=value`, as in rows=2M; may be repeated")
}

// read reads a workload's file, or one that is shipped with rumbench, with its parameters.
func (o *declaredOptions) read(file string) (*declared.Workload, workload.Params, error) {
	content, err := regular.ReadText(file)
	if shipped, ok := declared.File(file); errors.Is(err, fs.ErrNotExist) && ok {
		content, err = shipped, nil
	}
	if err != nil {
		return nil, nil, usage(err)
	}
	w, err := declared.Read(file, content)
	if err != nil {
		return nil, nil, err
	}
	info := w.Info()
	given := map[string]any{}
	for _, set := range o.sets {
		name, text, ok := strings.Cut(set, "=")
		p := info.Param(name)
		if !ok || p == nil {
			names := quantity.Texts(info.Params, func(p workload.Param) string { return p.Name })
			return nil, nil, usage(hint.Errorf("write --set NAME=VALUE with one of "+strings.Join(names, ", "),
				"there is no parameter %q", name))
		}
		value := any(text)
		if p.Type != workload.StringParam {
			value = strictyaml.Resolve(text)
		}
		if given[name], err = p.Parse(value); err != nil {
			return nil, nil, usage(err)
		}
	}
	p, err := info.Resolve(o.preset, given)
	if err != nil {
		return nil, nil, usage(err)
	}
	return w, p, nil
}

func newCheckCommand(a *App) *cobra.Command {
	var o declaredOptions
	c := command("check FILE", "check a workload's file, and print the workload that it describes",
		args(cobra.ExactArgs(1)), func(_ *cobra.Command, files []string) error {
			w, p, err := o.read(files[0])
			if err != nil {
				return err
			}
			outline, err := w.Outline(p)
			if err != nil {
				return err
			}
			return printOutline(a.Stdout, w.Info(), outline)
		})
	o.flags(c)
	return c
}

func printOutline(w io.Writer, info workload.Info, o declared.Outline) error {
	t := page.Tree{Text: info.Name + ": " + info.Doc}
	tables := t.Add("tables")
	for _, x := range o.Tables {
		one := tables.Add("%s: %s of %s and %s of index entries: %s in all", x.Name, quantity.Count(int(x.Rows), "row"),
			quantity.Bytes(x.RowBytes), quantity.Bytes(x.IndexBytes), quantity.Bytes(float64(x.Rows)*(x.RowBytes+x.IndexBytes)))
		one.Add("%s", x.Columns)
	}
	operations := t.Add("operations")
	for _, x := range o.Operations {
		text := x.Name
		if x.Atomic {
			text += ", a transaction"
		}
		operations.Add("%s: %s", text, strings.Join(x.Statements, "; "))
	}
	steps := t.Add("steps")
	for i := range o.Steps {
		steps.Add("%s: %s", o.Steps[i].Name, stepText(&o.Steps[i]))
	}
	return page.Text(w, []page.Block{t}, page.TextStyle{})
}

func stepText(s *workload.Step) string {
	if s.Restart != nil {
		return "caches " + string(s.Restart.Caches)
	}
	if s.Settle != nil {
		return fmt.Sprintf("at least %v", s.Settle.Floor)
	}
	var groups []string
	for _, g := range s.Groups {
		var ops []string
		for _, k := range g.Ops {
			name := k.Name
			if len(g.Ops) > 1 {
				name += " " + quantity.RoughShare(k.Share)
			}
			ops = append(ops, name)
		}
		groups = append(groups, fmt.Sprintf("%s: %s doing %s%s", g.Name, quantity.Count(g.Clients, "client"),
			strings.Join(ops, ", "), rateText(&g)))
	}
	text := strings.Join(groups, "; ")
	if s.Seconds > 0 {
		text += fmt.Sprintf(", for %v s", s.Seconds)
	}
	return text
}

func rateText(g *workload.Group) string {
	switch {
	case g.Arrivals != nil:
		low, high := math.Inf(1), 0.0
		for _, s := range g.Arrivals.Segments {
			low, high = min(low, s.From), max(high, s.From)
		}
		return fmt.Sprintf(" at %s to %s a second", quantity.Amount(low), quantity.Amount(high))
	case g.Rate > 0:
		return fmt.Sprintf(" at %s a second", quantity.Amount(g.Rate*float64(g.Clients)))
	}
	return ""
}

func newTryCommand(a *App) *cobra.Command {
	var o declaredOptions
	var on []string
	var rows int64
	c := command("try FILE", "load a few rows, do each operation once, and print what was done",
		args(cobra.ExactArgs(1)), func(c *cobra.Command, files []string) error {
			w, p, err := o.read(files[0])
			if err != nil {
				return err
			}
			var all []error
			for _, name := range on {
				if err := o.tryOn(c.Context(), a, w, p, files[0], name, rows); err != nil && c.Context().Err() == nil {
					all = append(all, hint.With(fmt.Errorf("%s: %w", name, err), hint.Of(err)))
				}
			}
			return cmp.Or(c.Context().Err(), errors.Join(all...))
		})
	o.flags(c)
	c.Flags().StringSliceVar(&on, "on", []string{"memory"},
		"the engines: `ENGINE` or ENGINE:STORAGE, as in sqlite,mysql:rocksdb")
	c.Flags().Int64Var(&rows, "rows", 100, "rows of each load at most; 0: all")
	return c
}

// tryOn tries a workload on an engine, in its own directory.
func (o *declaredOptions) tryOn(ctx context.Context, a *App, w *declared.Workload, p workload.Params, file, on string,
	rows int64) (err error) {
	t, err := w.Try(p, rows)
	if err != nil {
		return err
	}
	name, storage, _ := strings.Cut(on, ":")
	e, ok := catalog.Plugins{}.Engine(name)
	if !ok {
		return usage(hint.Errorf(hint.OneOf(name, catalog.Plugins{}.EngineNames()), "there is no engine %q", name))
	}
	if e.Info().Native && !native.Built {
		return o.tryElsewhere(ctx, a, file, on, rows)
	}
	if known := t.Speaks(); known != nil && !slices.Contains(known, name) {
		return hint.Errorf("it has SQL for "+strings.Join(known, ", "), "workload %s has no SQL for %s", w.Info().Name, name)
	}
	config := engine.Config{Storage: storage, Durability: model.DurabilityProcess, Schema: t.Schema()}
	caps := engine.InfoOf(e, config).Capabilities
	if err := model.Missing(caps, t.Needs()); err != nil {
		if name, value := workload.Sparing(w, caps, p); name != "" {
			err = hint.With(err, fmt.Sprintf("--set %s=%v", name, value))
		}
		return err
	}
	if config.Dir, err = os.MkdirTemp("", "rumbench-try-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(config.Dir)) }()
	if err := os.Chmod(config.Dir, 0o755); err != nil { // some servers run as another user
		return err
	}
	if e.Check(config) != nil {
		config.Durability = model.DurabilityNone
	}
	db, err := e.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tree := page.Tree{Text: "on " + strings.TrimSuffix(name+" "+storage, " ")}
	var last string
	var at *page.Tree
	err = t.Do(ctx, db, func(d declared.Tried) {
		heading := d.Step + " · " + d.Operation
		if d.Op == nil {
			tree.Add("%s: %s", d.Step, outcome(d))
			return
		}
		if heading != last {
			at, last = tree.Add("%s", heading), heading
		}
		line := at.Add("%s: %s", statementText(ctx, db, d), outcome(d))
		if len(d.Carried) > 0 {
			line.Add("carries on %s", strings.Join(d.Carried, ", "))
		}
	})
	return errors.Join(page.Text(a.Stdout, []page.Block{tree}, page.TextStyle{}), err)
}

// tryElsewhere tries a workload in the program that has the native engines.
func (o *declaredOptions) tryElsewhere(ctx context.Context, a *App, file, on string, rows int64) error {
	name, _, _ := strings.Cut(on, ":")
	path, err := newBuilds(a).checked(ctx, &plan.Target{Engine: name})
	if err != nil {
		return err
	}
	args := []string{"workload", "try", file, "--on", on, "--rows", strconv.FormatInt(rows, 10), "--preset", o.preset}
	for _, set := range o.sets {
		args = append(args, "--set", set)
	}
	var problem strings.Builder
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = a.Stdout, &problem, time.Second
	if err = cmd.Run(); err != nil && problem.Len() > 0 {
		text, help, _ := strings.Cut(strings.TrimSpace(problem.String()), "\nhint: ")
		text = strings.TrimPrefix(strings.TrimPrefix(text, "rumbench: "), on+": ")
		err = hint.With(errors.New(text), help)
	}
	return err
}

func outcome(d declared.Tried) string {
	if d.Err != nil {
		return "failed: " + d.Err.Error()
	}
	return quantity.Count(int(d.Rows), "row")
}

// statementText returns the text that an engine receives for a statement, if the engine
// reports it, with the statement's values.
func statementText(ctx context.Context, db engine.DB, d declared.Tried) string {
	if d.Op.Kind == model.Own {
		var b strings.Builder
		for i, piece := range d.Op.SQL {
			b.WriteString(piece)
			if i < len(d.Args) {
				b.WriteString(d.Args[i])
			}
		}
		return b.String()
	}
	text := d.Op.Label()
	if x, ok := db.(engine.Explainer); ok {
		if p, err := x.Explain(ctx, d.Op); err == nil {
			text = p.Statement
		}
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(d.Args, ", "))
}

func newShowWorkloadCommand(a *App) *cobra.Command {
	return command("show NAME", "print the file of a workload that comes with rumbench, to start from",
		args(cobra.ExactArgs(1)), func(_ *cobra.Command, names []string) error {
			if content, ok := declared.File(names[0]); ok {
				_, err := a.Stdout.Write(content)
				return err
			}
			known := quantity.Texts(declared.Shipped(), func(w workload.Workload) string { return w.Info().Name })
			if _, ok := (catalog.Plugins{}).Workload(names[0]); ok {
				return usage(hint.Errorf("those that are files: "+strings.Join(known, ", "),
					"workload %s is written in Go, and not a file", names[0]))
			}
			return usage(hint.Errorf(hint.OneOf(names[0], known), "there is no workload %q", names[0]))
		})
}

func newImportScriptCommand(a *App) *cobra.Command {
	c := group("import pgbench", "turn a script of another tool into a workload's file", "import what: pgbench FILE")
	c.AddCommand(command("pgbench FILE", "turn a script of pgbench into a workload's file with SQL for postgres",
		args(cobra.ExactArgs(1)), func(_ *cobra.Command, files []string) error {
			script, err := regular.ReadText(files[0])
			if err != nil {
				return usage(err)
			}
			file, err := declared.FromPgbench(files[0], script)
			_, werr := a.Stdout.Write(file) // also a draft
			return cmp.Or(err, werr)
		}))
	return c
}
