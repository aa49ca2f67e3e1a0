// Package report turns the trials of a campaign into a page for people: one
// HTML file that needs nothing else, the same as Markdown, and the short table
// that a run prints at its end.
//
// It measures nothing, and computes nothing but medians over trials and ratios
// of rows: every number on a page is a metric.Row, or says which rows it came
// from; verdicts and means are of package compare, and laws that are fitted say so. Only published figures are from elsewhere; they stand apart and say so.
// It reads no files and does no network.
package report

import (
	"bufio"
	"fmt"
	"io"

	"rumbench/internal/compare"
	"rumbench/internal/plain"
	"rumbench/internal/plan"
	"rumbench/internal/result"
)

// Input is what a report is made of.
type Input struct {
	Title    string
	Plan     string        // the plan file as given
	Commands []string      // the exact commands that made the results
	Trials   []Trial       // in the plan's order: the first one's target is the base of all comparisons
	Client   *result.Trial // the client's calibration on the null engine; may be nil
	Warnings []string
	// Published are figures from elsewhere, to be shown apart; Like names targets
	// as Trials do.
	Published []plan.Published
	// Notes are remarks on steps, by their names.
	Notes map[string]string
	// PublishedColours asks for the colours of the insert benchmark's published
	// pages in the relative tables, in place of those of the verdicts.
	PublishedColours bool
	// Across says which differences of targets are no reason not to compare them.
	Across compare.Across
}

// Trial is a trial with its series.
type Trial struct {
	*result.Trial
	// Series streams the lines of the trial's series in the order of time; nil
	// if there are none.
	Series func(yield func(result.Line) error) error
	Plans  []result.StatementPlan // of its statements; none of an engine that has no planner
}

// campaign sorts the trials, and is told what is to be compared.
func (in *Input) campaign() *campaign {
	c := newCampaign(in.Trials, 0)
	c.Across = in.Across
	return c
}

// HTML writes the report as one HTML file that loads nothing else. The same
// input gives the same bytes.
func HTML(w io.Writer, in Input) error {
	c := in.campaign()
	series, err := readSeries(c)
	if err != nil {
		return err
	}
	p, err := newPage(in, c, series)
	if err != nil {
		return err
	}
	return buffered(w, func(b *bufio.Writer) error { return writeHTML(b, p) })
}

// Markdown writes the report as Markdown, without the charts over time and the
// embedded rows.
func Markdown(w io.Writer, in Input) error {
	p, err := newPage(in, in.campaign(), nil)
	if err != nil {
		return err
	}
	return buffered(w, func(b *bufio.Writer) error { writeMarkdown(b, p); return nil })
}

// Text writes the summary that a run prints at its end: per step the targets
// with throughput, quality of service and cost. Columns that do not fit into
// the width are left out, and it says so; a width of 0 is unlimited.
func Text(w io.Writer, in Input, width int) error {
	c := in.campaign()
	return buffered(w, func(b *bufio.Writer) error { writeText(b, in, c, width); return nil })
}

func buffered(w io.Writer, write func(*bufio.Writer) error) error {
	b := bufio.NewWriter(plain.NewWriter(w))
	if err := write(b); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
