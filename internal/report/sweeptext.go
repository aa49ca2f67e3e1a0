package report

import (
	"fmt"
	"io"
	"strings"
)

// textSweep prints the throughputs of a sweep: levels × targets.
func (w *sweep) textSweep(out io.Writer, n *notes, limit int) {
	s := w.first()
	arrive := w.Axis == rateAxis
	what := s.units(s.Primary) + "/s"
	if k, ok := s.Latency(s.Primary, "p99"); arrive && ok {
		measure, _, _ := strings.Cut(k.Metric, "_")
		what += ", p99 of " + measure + " time,"
	}
	fmt.Fprintf(out, "\n%s\n", clip(fmt.Sprintf("%s  %s over %s", w.Base, what, w.Axis), limit))
	heads := []string{""}
	for _, t := range w.Targets {
		heads = append(heads, t.Name)
	}
	panels := make([][][]string, len(w.panels))
	for i, p := range w.panels {
		for _, l := range p.levels {
			row := []string{"  " + amount(l.value)}
			k, ok := l.Rate(l.Primary)
			for _, t := range w.Targets {
				cell := absentCell("")
				if ok {
					cell = l.cell(t, w.Targets[0], k, n)
				}
				text := cell.Text + cell.Marks()
				switch {
				case cell.Tag != "":
					text += " ⚠"
				case arrive: // at one rate all do the same
				case cell.Ratio != "":
					text += " " + cell.Ratio + cell.Arrow
				}
				if k, ok := l.Latency(l.Primary, "p99"); arrive && ok {
					if p99 := l.number(t, k); p99.Missing == "" {
						text += "  " + p99.whole()
					}
				}
				row = append(row, text)
			}
			panels[i] = append(panels[i], row)
		}
	}
	widths := columnWidths(heads, panels)
	gap, shown := fit(widths, limit)
	fmt.Fprintln(out, textRow(heads[:shown], widths, gap))
	for i, p := range w.panels {
		if p.name != "" {
			fmt.Fprintf(out, "  %s\n", p.name)
		}
		for _, row := range panels[i] {
			fmt.Fprintln(out, textRow(row[:shown], widths, gap))
		}
	}
	for _, t := range w.Targets {
		if s, f := w.worst(t); s != nil {
			fmt.Fprintf(out, "  Failed most at %s: %s\n", axesText(w.varied(s)), f.line())
		}
	}
	if hidden := len(heads) - shown; hidden > 0 {
		fmt.Fprintf(out, "    %d targets do not fit into %d characters; the report has them.\n", hidden, limit)
	}
}

// worst is the step in which the greatest share of a target's attempts failed;
// nil if none did.
func (w *sweep) worst(t *target) (worst *step, most failures) {
	for _, p := range w.panels {
		for _, l := range p.levels {
			if f := l.failures(t); f.failed > 0 && (worst == nil || f.share() > most.share()) {
				worst, most = l.step, f
			}
		}
	}
	return worst, most
}
