package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	engines "rumbench/engine/all"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/compare/history"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/plan"
	"rumbench/internal/report/trend"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload"
	workloads "rumbench/workload/all"
	"rumbench/workload/declared"
)

func newListCommand(a *App) *cobra.Command {
	lists := []string{"engines", "workloads", "metrics", "runs"}
	c := command("list engines|workloads|metrics|runs", "list what there is, with its documentation",
		args(func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				return nil
			}
			return hint.Errorf(hint.OneOf(names[0], lists), "there is no list of %q", names[0])
		}), func(*cobra.Command, []string) error { return usageErrorf("list what: %s", strings.Join(lists, ", ")) })
	plain := func(subject, short string, list func(io.Writer) error) *cobra.Command {
		return command(subject, short, args(cobra.NoArgs),
			func(*cobra.Command, []string) error { return list(a.Stdout) })
	}
	c.AddCommand(
		plain("engines", "the engines, with their options", func(w io.Writer) error { return listEngines(a, w) }),
		newListWorkloadsCommand(a),
		plain("metrics", "the metrics, with their units and what they mean", listMetrics),
		newListRunsCommand(a))
	return c
}

func newListRunsCommand(a *App) *cobra.Command {
	var asJSON bool
	var plans []string
	c := command("runs [DIR]", "the campaigns in a folder and below it, the oldest first", args(cobra.MaximumNArgs(1)),
		func(_ *cobra.Command, dirs []string) error {
			runs, err := findRuns(dirs, plans)
			if err != nil {
				return err
			}
			if len(runs) == 0 {
				fmt.Fprintln(a.Stderr, noneIn(dirs))
			}
			if asJSON {
				return history.RunsJSON(a.Stdout, runs)
			}
			return trend.RunsText(a.Stdout, runs)
		})
	c.Flags().BoolVar(&asJSON, "json", false, "one line of JSON per campaign")
	c.Flags().StringSliceVar(&plans, "plan", nil, "only campaigns of these plans, and those whose plan cannot be read")
	return c
}

func listEngines(a *App, w io.Writer) error {
	var list []page.Block
	for _, e := range engines.Engines() {
		i := e.Info()
		t := page.Tree{Text: i.Name + ": " + i.Doc}
		t.Add("structure: %s", i.Structure)
		t.Add("version: %s", i.Version)
		if i.Native {
			t.Add("runs in %s", runsIn(a, i))
		}
		caps := quantity.Texts(i.Capabilities, func(c model.Capability) string { return string(c) })
		t.Add("capabilities: %s", strings.Join(caps, ", "))
		for _, o := range i.Options {
			t.Add("options.%s (%s): %s", o.Name, o.Type, o.Doc)
		}
		list = append(list, t)
	}
	return page.Text(w, list, page.TextStyle{})
}

func newListWorkloadsCommand(a *App) *cobra.Command {
	return command("workloads [NAME]", "the workloads, with their presets and parameters", args(cobra.MaximumNArgs(1)),
		func(_ *cobra.Command, names []string) error {
			if len(names) == 0 {
				return listWorkloads(a.Stdout, workloads.Workloads())
			}
			known := catalog.Plugins{}
			wl, ok := known.Workload(names[0])
			if !ok {
				return usage(hint.Errorf(hint.OneOf(names[0], known.WorkloadNames()), "there is no workload %q", names[0]))
			}
			return listWorkloads(a.Stdout, []workload.Workload{wl})
		})
}

func listWorkloads(w io.Writer, shown []workload.Workload) error {
	var list []page.Block
	for _, wl := range shown {
		i := wl.Info()
		t := page.Tree{Text: i.Name + ": " + i.Doc}
		presets := t.Add("presets")
		for _, p := range i.Presets {
			presets.Add("%s: %s", p.Name, p.Doc).Add("%s", presetValues(p))
		}
		params := t.Add("params")
		for _, p := range i.Params {
			params.Add("%s: %s, default %v: %s", p.Name, paramType(p), p.Default, p.Doc)
		}
		list = append(list, t)
	}
	return page.Text(w, list, page.TextStyle{})
}

func paramType(p workload.Param) string {
	s := string(p.Type)
	if len(p.Enum) > 0 {
		s = strings.Join(p.Enum, "|")
	}
	if p.Unit != "" {
		s += " (" + p.Unit + ")"
	}
	return s
}

func presetValues(p workload.Preset) string {
	var parts []string
	for name, v := range p.Values {
		parts = append(parts, fmt.Sprintf("%s: %v", name, v))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func listMetrics(w io.Writer) error {
	var rows [][]string
	for _, m := range metric.All() {
		rows = append(rows, []string{m.Name, m.Unit, cmp.Or(string(m.Better), quantity.Unknown), m.Meaning()})
	}
	return page.Text(w, []page.Block{page.WordTable([]string{"metric", "unit", "better", "meaning"}, rows...)},
		page.TextStyle{})
}

func newSchemaCommand(a *App) *cobra.Command {
	var workloads bool
	c := command("schema", "print the JSON Schema of plan files, for editors", args(cobra.NoArgs),
		func(*cobra.Command, []string) error {
			schemaOf := func() ([]byte, error) { return plan.Schema(catalog.Plugins{}) }
			if workloads {
				schemaOf = declared.Schema
			}
			schema, err := schemaOf()
			if err != nil {
				return fmt.Errorf("make the schema: %w", err)
			}
			_, err = fmt.Fprintln(a.Stdout, string(schema))
			return err
		})
	c.Flags().BoolVar(&workloads, "workload", false, "that of workload files")
	return c
}
