package host

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// JSON writes all findings as a list, the programs among them.
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
// commands are wider than the width: broken in two they could not be copied.
func (r *Report) Text(w io.Writer, programs []Program, width int) error {
	var b strings.Builder
	paragraph(&b, "", r.Host, width)
	for _, g := range []struct {
		status Status
		title  string
	}{
		{Bad, "bad: measurements would be worthless, or end half-way"},
		{Warn, "warn: measurements are blurred, hard to explain, or not like those of other hosts"},
		{Unknown, "unknown: could not be found out"},
	} {
		r.group(&b, g.status, g.title, width)
	}
	r.fine(&b, width)
	listPrograms(&b, programs)
	fmt.Fprintf(&b, "\n%d bad, %d warn, %d unknown, %d ok\n", len(r.of(Bad)), len(r.of(Warn)), len(r.of(Unknown)), len(r.of(OK)))
	_, err := io.WriteString(w, b.String())
	return err
}

// group writes all about the findings of a status.
func (r *Report) group(b *strings.Builder, status Status, title string, width int) {
	for i, f := range r.of(status) {
		if i == 0 {
			fmt.Fprintf(b, "\n%s\n", title)
		}
		fmt.Fprintf(b, "\n  %s\n", f.Name)
		paragraph(b, "    found   ", f.Found, width)
		paragraph(b, "    wanted  ", f.Wanted, width)
		paragraph(b, "    why     ", f.Why, width)
		fmt.Fprintf(b, "    fix     %s\n", strings.ReplaceAll(f.Fix, "\n", "\n            "))
	}
}

// fine lists what is OK, a line each.
func (r *Report) fine(b *strings.Builder, width int) {
	list, longest := r.of(OK), 0
	for _, f := range list {
		longest = max(longest, utf8.RuneCountInString(f.Name))
	}
	for i, f := range list {
		if i == 0 {
			fmt.Fprintf(b, "\nok\n\n")
		}
		paragraph(b, fmt.Sprintf("  %-*s  ", longest, f.Name), f.Found, width)
	}
}

func listPrograms(b *strings.Builder, programs []Program) {
	if len(programs) == 0 {
		return
	}
	fmt.Fprintf(b, "\nprograms\n\n")
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, p := range programs {
		state := p.Found
		switch {
		case p.Found == "":
			state = "missing: package " + p.Package
		case p.Problem != "":
			state += ": " + p.Problem
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", p.Name, p.Version, state)
	}
	_ = table.Flush() // a strings.Builder takes everything
	if len(InstallCommands(programs, 0)) > 0 {
		fmt.Fprintf(b, "\n  rumbench doctor --install         prints the commands that install what is missing\n"+
			"  rumbench doctor --install --yes   runs them\n")
	}
}

// paragraph writes words behind a label, and breaks lines before the width.
// A word that is longer than a line stays whole.
func paragraph(b *strings.Builder, label, words string, width int) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(label))
	line, empty := label, true
	for word := range strings.FieldsSeq(words) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			fmt.Fprintln(b, strings.TrimRight(line, " "))
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	fmt.Fprintln(b, strings.TrimRight(line, " "))
}
