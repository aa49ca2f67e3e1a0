package report

import (
	"fmt"
	"io"
)

// textSweep prints the throughputs of a sweep: levels × targets.
func (w *sweep) textSweep(out io.Writer, n *notes, limit int) {
	s := w.first()
	fmt.Fprintf(out, "\n%s\n", clip(fmt.Sprintf("%s  %s/s over %s", w.Base, s.units(s.Primary), w.Axis), limit))
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
				case cell.Ratio != "":
					text += " " + cell.Ratio + cell.Arrow
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
	if hidden := len(heads) - shown; hidden > 0 {
		fmt.Fprintf(out, "    %d targets do not fit into %d characters; the report has them.\n", hidden, limit)
	}
}
