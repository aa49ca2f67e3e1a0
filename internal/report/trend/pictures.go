package trend

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"rumbench/internal/compare/history"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// Pictures returns the findings, and the families that they are in, for a page: the course of
// each number that changed, and folded those of the other main numbers. link returns the
// address of the comparison of two runs, given as the families name them.
func Pictures(families []*history.Family, findings []*history.Finding, tested int, v View,
	link func(base, other string) string) (out []page.Block) {
	for _, f := range findings {
		out = append(out, v.pictured(f, link)...)
	}
	switch {
	case tested == 0:
		out = append(out, page.Prose("", fmt.Sprintf("There are too few runs yet to look for changes: %d are needed.",
			history.MinRuns)))
	case len(out) == 0:
		out = append(out, page.Prose("", "No change of a number can be distinguished from chance."))
	}
	if tested > 0 {
		out = append(out, page.Prose("about", looked(tested)))
	}
	if text := tooFew(families, tested); text != "" {
		out = append(out, page.Prose("about", text+"."))
	}
	for _, f := range families {
		out = append(out, familyPictures(f)...)
	}
	return out
}

// pictured returns a finding: its headline, the comparison of the runs around it, what else
// changed, and the numbers that moved.
func (v View) pictured(f *history.Finding, link func(base, other string) string) []page.Block {
	moves := v.moves(f)
	if len(moves) == 0 && !f.Split {
		return nil
	}
	text := headline(f, moves)
	if f.Note != "" {
		text += "; acknowledged: " + f.Note
	}
	out := []page.Block{page.Heading{Level: 3, Text: text},
		page.Links{{Text: "compare the runs before and since", To: link(f.Before.Dir, f.Run.Dir)}}}
	_, remaining := leading(f)
	if n := len(remaining); n > 0 {
		shown := quantity.Texts(remaining[:min(n, mostListed)], factText)
		if n > mostListed {
			shown = append(shown, fmt.Sprintf("and %d more", n-mostListed))
		}
		out = append(out, page.Prose("about", "Also changed: "+strings.Join(shown, ", ")+"."))
	}
	plots := page.Plots{}
	for _, m := range moves[:min(mostListed, len(moves))] {
		if len(m.Points) > 1 {
			plots.Plots = append(plots.Plots, course(m.Series))
		}
	}
	if len(plots.Plots) > 0 {
		out = append(out, plots)
		if text := versionsOf(moves[0].Series); text != "" {
			out = append(out, page.Prose("about", "Versions: "+text+"."))
		}
	}
	return out
}

// versionsOf returns the runs of a series that have other versions than those before, the last
// ones of many.
func versionsOf(s *history.Series) string {
	var parts []string
	for i, facts := range s.Versions() {
		if len(facts) > 0 {
			texts := quantity.Texts(facts, func(f history.Fact) string { return f.Name + " " + f.From + " → " + f.To })
			parts = append(parts, fmt.Sprintf("run %d (%s): %s", i+1, s.Points[i].Started.UTC().Format("2006-01-02"),
				strings.Join(texts, ", ")))
		}
	}
	return strings.Join(parts[max(0, len(parts)-mostListed):], "; ")
}

// familyPictures returns the main numbers of a family over its runs.
func familyPictures(f *history.Family) []page.Block {
	title := fmt.Sprintf("%s (%s): %s", f.Plan, f.Workload, quantity.Count(len(f.Runs), "run"))
	out := []page.Block{page.Heading{Level: 3, Text: title}}
	if f.Machine != "" {
		out = append(out, page.Prose("about", f.Machine))
	}
	if f.Odd != nil {
		out = append(out, page.Prose("", oddText(f)+"."))
	}
	plots := page.Plots{}
	for _, s := range f.Series {
		if s.IsRate() && len(s.Points) > 1 {
			plots.Plots = append(plots.Plots, course(s))
		}
	}
	if len(plots.Plots) == 0 {
		return append(out, page.Prose("about", "One run has nothing to compare it with."))
	}
	about := fmt.Sprintf("the rates of %s over the runs", quantity.Count(len(plots.Plots), "step"))
	return append(out, page.Folds{{Title: about, Blocks: []page.Block{plots}}})
}

// The series of a course's picture, which have colours of their own.
const (
	ofValues = 0
	ofLevels = 1
)

// course returns the picture of a series: its points, the levels between changes, where each
// change may have begun, and above them the runs with other versions.
func course(s *history.Series) page.Plot {
	p := page.Plot{Title: s.String(), Label: s.String() + " over the runs", Height: 190}
	points := page.Line{Series: ofValues, Each: true}
	for i, t := range s.Points {
		points.Points = append(points.Points, page.Point{X: float64(i + 1), Y: t.Value, Low: math.NaN(), High: math.NaN()})
	}
	levels := page.Line{Series: ofLevels, Band: true, Bare: true}
	start := 0
	level := func(end int, value float64) {
		levels.Points = append(levels.Points, flat(start+1, value), flat(end, value), page.Gap(float64(end)))
	}
	for i, c := range s.Changes {
		if i == 0 {
			level(c.At, c.From)
		}
		start = c.At
		end := len(s.Points)
		if i+1 < len(s.Changes) {
			end = s.Changes[i+1].At
		}
		level(end, c.To)
		p.Stalls = append(p.Stalls, page.Stall{Index: ofLevels, Bare: true, From: float64(c.First) + 0.5,
			To: float64(c.Last) + 1.5})
	}
	p.Lines = []page.Line{points}
	if len(levels.Points) > 0 {
		p.Lines = append(p.Lines, levels)
	}
	for i, facts := range s.Versions() {
		if len(facts) > 0 {
			p.Marks = append(p.Marks, page.Moment{Index: ofValues, At: float64(i + 1)})
		}
	}
	n := len(s.Points)
	p.X = page.Axis{From: 0.5, To: float64(n) + 0.5, Ticks: runTicks(s.Points), Thin: true,
		Caption: "runs, " + day(s.Points[0]) + " to " + day(s.Points[n-1])}
	if len(p.Marks) > 0 {
		p.X.Caption += "; ticks above them: other versions"
	}
	p.Y = page.Scale{Format: func(v float64) string { return amount(&s.Name, v) }}.Axis(page.Reach(p.Lines))
	return p
}

func flat(x int, y float64) page.Point {
	return page.Point{X: float64(x), Y: y, Low: math.NaN(), High: math.NaN()}
}

func day(p history.Point) string { return p.Started.UTC().Format(time.DateOnly) }

// runTicks labels some of the points with the names of their runs.
func runTicks(points []history.Point) (out []page.Tick) {
	const labels, width = 8, 20
	for i := 0; i < len(points); i += max(1, (len(points)+labels-1)/labels) {
		out = append(out, page.Tick{At: float64(i + 1), Text: escape.Clip(filepath.Base(points[i].Dir), width)})
	}
	return out
}

// moves returns the changes of a finding that a view shows.
func (v View) moves(f *history.Finding) []history.Move {
	moves := view.Filter(f.Moves, func(m history.Move) bool {
		return m.Moves(v.Least/100) || m.Kind == history.Split && m.Main()
	})
	if f.Split && len(moves) == 0 {
		moves = f.Moves[:min(1, len(f.Moves))]
	}
	return moves
}
