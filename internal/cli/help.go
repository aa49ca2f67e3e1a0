package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// help has what commands say of themselves, in a file for each: what it does, and behind
// the line “Examples:” how it is called. Of short ones one of them is missing.
//
//go:embed help
var help embed.FS

// addHelp gives a command and those below it their texts.
func addHelp(c *cobra.Command) {
	for _, sub := range c.Commands() {
		addHelp(sub)
	}
	name := strings.TrimPrefix(strings.ReplaceAll(c.CommandPath(), " ", "-"), "rumbench-")
	text, err := help.ReadFile("help/" + name + ".txt")
	if err != nil {
		return // its one line says all
	}
	about, examples, _ := strings.Cut("\n\n"+strings.TrimSuffix(string(text), "\n"), "\n\nExamples:\n")
	c.Long, c.Example = strings.TrimPrefix(about, "\n\n"), examples
}
