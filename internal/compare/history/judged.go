package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
)

// JudgedFile is the file in a folder of campaigns that acknowledges changes:
//
//	acknowledged:
//	  - {run: night-11, metrics: throughput, note: syncs at commit since then}
const JudgedFile = "judged.yaml"

// Judged are the changes that users have acknowledged.
type Judged []acknowledged

// acknowledged is a note on the changes of a run; empty lists are all.
type acknowledged struct {
	run, note               string
	targets, steps, metrics []string
	place                   hint.Problem // that there is no such run
}

// ReadJudged reads the file in a folder, if there is one. The error is of type hint.Problems if
// the file is wrong.
func ReadJudged(dir string) (Judged, error) {
	file := filepath.Join(dir, JudgedFile)
	content, err := regular.ReadText(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read acknowledged changes: %w", err)
	}
	d := strictyaml.Document{What: "file of acknowledged changes", Least: "acknowledged: [{run: DIR, note: TEXT}]"}
	var out Judged
	if root := d.ReadFile(file, content); root != nil {
		whole, _ := d.Record(root, "the file", []string{"acknowledged"}, "acknowledged")
		for _, n := range whole.List("acknowledged", "- {run: DIR, note: TEXT}") {
			out = append(out, readAcknowledged(&d, n, dir))
		}
	}
	if len(d.Problems) > 0 {
		strictyaml.SortProblems(d.Problems)
		return nil, d.Problems
	}
	return out, nil
}

func readAcknowledged(d *strictyaml.Document, n *strictyaml.Node, dir string) (a acknowledged) {
	f, ok := d.Record(n, "an acknowledged change", []string{"run", "note", "targets", "steps", "metrics"}, "run", "note")
	if !ok {
		return a
	}
	strictyaml.Bind(f, "run", strictyaml.OneLine, func(v string) { a.run = v })
	strictyaml.Bind(f, "note", strictyaml.Prose, func(v string) { a.note = v })
	a.targets, a.steps = f.Words("targets", "", nil), f.Words("steps", "", nil)
	named := f.Words("metrics", "", func(name string) (string, error) {
		_, err := metric.Named(name)
		return name, err
	})
	a.metrics, _ = metric.AllNamed(named) // the error has been reported
	if run := f.Of.Get("run"); run != nil {
		a.place = run.Source.Problem(run.Line, run.Column, fmt.Sprintf("there is no run %q", a.run), "")
	}
	a.run = filepath.Join(dir, a.run)
	return a
}

// note returns the note on the change of a number at a run; "" if it is not acknowledged. A
// name without a metric represents the run as a whole.
func (j Judged) note(run string, n Name) string {
	for _, a := range j {
		complete := n.Metric == "" && len(a.steps)+len(a.metrics) == 0
		part := n.Metric != "" && among(a.steps, n.Step) && among(a.metrics, n.Metric)
		if a.run == run && among(a.targets, n.Target) && (complete || part) {
			return a.note
		}
	}
	return ""
}

// Unknown returns the entries whose runs are not in the folder: they were removed, or are
// misspelt.
func (j Judged) Unknown(dir string, runs []*Run) (out hint.Problems) {
	within := func(path string) string { return strings.TrimPrefix(path, filepath.Clean(dir)+"/") }
	names := quantity.Texts(runs, func(r *Run) string { return within(r.Dir) })
	for _, a := range j {
		if _, err := os.Stat(filepath.Join(a.run, result.CampaignFile)); err != nil {
			p := a.place
			p.Hint = hint.Meant(within(a.run), names, "remove the entry if the run was removed")
			out = append(out, p)
		}
	}
	return out
}
