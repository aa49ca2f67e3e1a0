package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// help holds the commands' help texts, in a file for each: what the command does and,
// after the line “Examples:”, how it is called. Short texts lack one of the two parts.
//
//go:embed help
var help embed.FS

// addHelp sets the texts of a command and its subcommands.
func addHelp(c *cobra.Command) {
	for _, sub := range c.Commands() {
		addHelp(sub)
	}
	name := strings.TrimPrefix(strings.ReplaceAll(c.CommandPath(), " ", "-"), "rumbench-")
	text, err := help.ReadFile("help/" + name + ".txt")
	if err != nil {
		return // its single line is sufficient
	}
	about, examples, _ := strings.Cut("\n\n"+strings.TrimSuffix(string(text), "\n"), "\n\nExamples:\n")
	c.Long, c.Example = strings.TrimPrefix(about, "\n\n"), examples
}
