package trend

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"rumbench/internal/compare/history"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// RunsText writes a line for each run, then the problems of some of them.
func RunsText(w io.Writer, runs []*history.Run) error {
	var rows [][]string
	var remarks []string
	for _, r := range runs {
		l := r.Line()
		started, trials := quantity.Unknown, quantity.Unknown
		if l.Started != nil {
			started, trials = minute(*l.Started), fmt.Sprintf("%d of %d", l.TrialsDone, l.TrialsPlanned)
		}
		row := []string{l.Dir, started, l.Plan, l.Workload, trials, string(l.Status), l.Durability, Main(&l),
			Targets(l.Targets)}
		for i, text := range row {
			row[i] = cmp.Or(text, quantity.Unknown)
		}
		rows = append(rows, row)
		for _, text := range r.Remarks() {
			remarks = append(remarks, fmt.Sprintf("! %s: %s", r.Dir, text))
		}
	}
	t := page.WordTable([]string{"directory", "started (UTC)", "plan", "workload", "trials", "status", "durability",
		"main number", "targets"}, rows...)
	t.Groups[0].Foot = remarks
	return page.Text(w, []page.Block{t}, page.TextStyle{})
}

// Main returns the main numbers of a run: "insert rate in l.i1 61.2k/s", or with several
// targets "insert rate in l.i1: pebble 61.2k/s, sqlite 9,000/s".
func Main(l *history.Line) string {
	var parts []string
	last := ""
	for _, m := range l.Main {
		text := amount(&m.Name, m.Value)
		if len(l.Targets) > 1 {
			text = m.Target + " " + text
		}
		if name := subject(&m.Name); name != last {
			last, text = name, name+map[bool]string{true: ": ", false: " "}[len(l.Targets) > 1]+text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// Targets names the targets with their engines: "innodb (mysql
// 10.11.6-MariaDB)". An engine with the target's name is not repeated.
func Targets(targets []history.Target) string {
	var out []string
	for _, t := range targets {
		subject := t.Version
		if t.Engine != t.Name {
			subject = strings.TrimSpace(strings.TrimPrefix(t.Engine, result.Unknown) + " " + t.Version)
		}
		if subject != "" {
			subject = " (" + subject + ")"
		}
		out = append(out, t.Name+subject)
	}
	return strings.Join(out, ", ")
}
