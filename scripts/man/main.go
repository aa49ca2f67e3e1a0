// Command man writes the man pages of rumbench into a directory, one per command.
//
// It writes roff itself: cobra's generator goes through Markdown, which joins the
// lines of lists, treats * and _ as emphasis, and needs two more modules.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"rumbench/internal/cli"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// run writes the pages of a version, dated SOURCE_DATE_EPOCH or today.
func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: man DIR VERSION")
	}
	date := time.Now()
	if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		date = time.Unix(epoch, 0)
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	root := cli.Commands(&cli.App{})
	root.InitDefaultCompletionCmd()
	return writePages(args[0], root, date.UTC().Format(time.DateOnly), args[1])
}

// writePages writes the pages of a command and its subcommands. The page of
// completion also covers its output for each shell.
func writePages(dir string, c *cobra.Command, date, version string) error {
	if c.Hidden {
		return nil
	}
	path := filepath.Join(dir, name(c)+".1")
	if err := os.WriteFile(path, page(c, date, version), 0o644); err != nil {
		return err
	}
	if c.Name() == "completion" {
		return nil
	}
	for _, sub := range c.Commands() {
		if err := writePages(dir, sub, date, version); err != nil {
			return err
		}
	}
	return nil
}

func name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func page(c *cobra.Command, date, version string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 %s \"rumbench %s\"\n", strings.ToUpper(name(c)), date, version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escape(name(c)), escape(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n", escape(c.CommandPath()), escape(arguments(c)))
	b.WriteString(".SH DESCRIPTION\n")
	if c.Long != "" {
		text(&b, c.Long)
	} else {
		text(&b, strings.ToUpper(c.Short[:1])+c.Short[1:]+".")
	}
	if commands := c.Commands(); len(commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range commands {
			if !sub.Hidden {
				fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", escape(sub.Name()), line(escape(sub.Short)))
			}
		}
	}
	if c.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) { option(&b, f) })
	}
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n")
		for l := range strings.Lines(c.Example) {
			b.WriteString(line(escape(strings.TrimSpace(l))) + "\n")
		}
		b.WriteString(".fi\n")
	}
	seeAlso(&b, c)
	return b.Bytes()
}

// arguments returns the part of a command's usage after its name.
func arguments(c *cobra.Command) string {
	_, tail, _ := strings.Cut(c.Use, " ")
	if c.HasAvailableSubCommands() && tail == "" {
		tail = "COMMAND"
	}
	if c.HasAvailableLocalFlags() {
		tail += " [OPTION]..."
	}
	return strings.TrimSpace(tail)
}

func option(b *bytes.Buffer, f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, usage := pflag.UnquoteUsage(f)
	b.WriteString(".TP\n\\fB" + escape("--"+f.Name) + "\\fR")
	if f.Shorthand != "" {
		b.WriteString(", \\fB" + escape("-"+f.Shorthand) + "\\fR")
	}
	if value != "" {
		b.WriteString(" \\fI" + escape(value) + "\\fR")
	}
	b.WriteString("\n" + line(escape(usage)))
	switch f.DefValue {
	case "", "false", "0", "0%", "[]":
	default:
		b.WriteString(escape(" (default " + f.DefValue + ")"))
	}
	b.WriteString("\n")
}

func seeAlso(b *bytes.Buffer, c *cobra.Command) {
	var pages []string
	if c.HasParent() {
		pages = append(pages, name(c.Parent()))
	}
	if c.Name() != "completion" {
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				pages = append(pages, name(sub))
			}
		}
	}
	for i, p := range pages {
		pages[i] = "\\fB" + escape(p) + "\\fR(1)"
	}
	if len(pages) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(pages, ",\n") + "\n")
	}
}

// text writes paragraphs. Indented lines remain separate lines.
func text(b *bytes.Buffer, s string) {
	verbatim, ended := false, false
	for l := range strings.SplitSeq(s, "\n") {
		if strings.TrimSpace(l) == "" {
			ended = true
			continue
		}
		indented := strings.HasPrefix(l, " ") || strings.HasPrefix(l, "\t")
		if verbatim && !indented {
			b.WriteString(".fi\n")
		}
		if ended || indented != verbatim {
			b.WriteString(".PP\n")
		}
		if indented && !verbatim {
			b.WriteString(".nf\n")
		}
		verbatim, ended = indented, false
		b.WriteString(line(escape(l)) + "\n")
	}
	if verbatim {
		b.WriteString(".fi\n")
	}
}

// escape makes a text safe within a line of roff. Hyphens become minus signs, so that
// flags can be copied.
func escape(s string) string { return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s) }

// line prevents a line from being interpreted as a request.
func line(s string) string {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}
