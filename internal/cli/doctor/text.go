package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"rumbench/internal/page"
)

// JSON writes all findings as a list, including the programs.
func (r *Report) JSON(w io.Writer, programs []Program) error {
	list := append([]Finding{}, r.Findings...)
	for _, p := range programs {
		list = append(list, p.finding(os.Geteuid()))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

// Text writes the findings for people, the worst first, then the programs. Only
// commands exceed the width: a command broken in two could not be copied.
func (r *Report) Text(w io.Writer, programs []Program, width int) error {
	blocks := []page.Block{page.Tree{Text: r.Host}}
	for _, g := range []page.Tree{
		r.group(Bad, "bad: measurements would be worthless, or break off"),
		r.group(Warn, "warn: measurements are blurred, hard to explain, or not like those of other hosts"),
		r.group(Unknown, "unknown: could not be determined"),
		r.group(OK, "ok"),
	} {
		if len(g.Items) > 0 {
			blocks = append(blocks, g)
		}
	}
	blocks = append(blocks, programTable(programs))
	if len(InstallCommands(programs, 0)) > 0 {
		install := page.Tree{Text: "what is missing"}
		install.Add("rumbench doctor --install         prints the commands that install it").Verbatim = true
		install.Add("rumbench doctor --install --yes   runs them").Verbatim = true
		blocks = append(blocks, install)
	}
	counts := fmt.Sprintf("%d bad, %d warn, %d unknown, %d ok", len(r.findings(Bad)), len(r.findings(Warn)),
		len(r.findings(Unknown)), len(r.findings(OK)))
	return page.Text(w, append(blocks, page.Prose("", counts)), page.TextStyle{Width: width, Wrap: true})
}

// group returns the findings of one status in full; for OK, only the values found.
func (r *Report) group(status Status, title string) page.Tree {
	group := page.Tree{Text: title}
	for _, f := range r.findings(status) {
		if status == OK {
			group.Add("%s: %s", f.Name, f.Found)
			continue
		}
		one := group.Add("%s", f.Name)
		one.Add("found   %s", f.Found)
		one.Add("wanted  %s", f.Wanted)
		one.Add("why     %s", f.Why)
		one.Add("fix     %s", strings.ReplaceAll(f.Fix, "\n", "\n            ")).Verbatim = true
	}
	return group
}

func programTable(programs []Program) page.Table {
	var rows [][]string
	for _, p := range programs {
		f := p.finding(0)
		if p.Found == "" {
			f.Found += ": " + f.Wanted
		}
		rows = append(rows, []string{p.Name, f.Found})
	}
	return page.WordTable([]string{"program", "found"}, rows...)
}
