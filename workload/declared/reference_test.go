package declared

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/expect"
	"rumbench/internal/text/strictyaml"
)

// TestReference: the reference of workload files is that of the code that reads them.
func TestReference(t *testing.T) {
	const (
		path    = "../../docs/workload-file.md"
		command = "go test ./workload/declared -run TestReference -update"
		mark    = "<!-- generated: " + command + " -->\n"
		end     = "<!-- end -->\n"
	)
	text, err := os.ReadFile(path)
	expect.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), mark)
	got, tail, closed := strings.Cut(rest, end)
	expect.Must(t, ok && closed, path, "has no place for what", command, "generates")
	want := reference()
	if *update {
		expect.NoError(t, os.WriteFile(path, []byte(head+mark+want+end+tail), 0o644))
		return
	}
	expect.Equal(t, cmp.Diff(want, got), "", path, command, "writes it anew (-want +got")
}

// reference returns the reference of workload files, in Markdown.
func reference() string {
	var b strings.Builder
	table := func(heading, about string, keys strictyaml.Table[none]) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| key | meaning |\n|---|---|\n", heading, about)
		for _, k := range keys {
			fmt.Fprintf(&b, "| `%s` | %s |\n", k.Name, k.Doc)
		}
	}
	table("The file", "A workload file is a map.", fileKeys)
	table("A parameter", "Below `params`, by name. A plan's `params` override it. "+
		"Values may use it by its name; a bool is 1 or 0, a duration its seconds.", paramKeys)
	table("A table", "Below `tables`, by name.", tableKeys)
	table("A column", "Below `columns`, by name. The value is a function of the seed and the row's number: every "+
		"engine gets the same.", columnKeys)
	table("An index", "Below `indexes`, by name. A list of columns is short for `{columns: [...]}`.", indexKeys)
	table("An operation", "Below `operations`, by name. A list of statements is short for `{do: [...]}`.", operationKeys)
	for _, kind := range kinds {
		table("Statement: "+kind, statementDocs[kind], keysOf(kind))
	}
	for _, kind := range stepNames {
		table("Step: "+kind, stepDocs[kind], stepKinds[kind])
	}
	table("A group of clients", "Below `groups`, by name.", groupKeys)
	table("A rate that rises and falls",
		"mean + amplitude · sin(2πt / period). Operations then arrive whether earlier ones are done or not.", rateKeys)
	table("A check", "It is evaluated after each run, with parameter `check: true`.", checkKeys)
	b.WriteString(expressionDoc)
	b.WriteString("\n## Generators\n\nA value is a number, a text in an expression's syntax, or a map of one generator: " +
		"`{NAME: ARGUMENT}`, `{NAME: [ARGUMENT, …]}` or `{NAME: {ARGUMENT: VALUE, …}}`.\n\n")
	b.WriteString("| generator | what it makes | arguments |\n|---|---|---|\n")
	for i := range generators {
		g := &generators[i]
		var args []string
		for _, a := range g.args {
			text := "`" + a.name + "`"
			if a.doc != "" {
				text += ": " + a.doc
			}
			if a.usual != "" && a.usual != overDefault {
				text += ", default `" + a.usual + "`"
			}
			args = append(args, text)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", g.name, g.doc, strings.Join(args, "<br>"))
	}
	return b.String()
}

var expressionDoc = strings.ReplaceAll(`
## Expressions

A text where a value is expected is arithmetic: numbers, names, '+ - * / %' and parentheses, as in '(row + 1) * size'.

- Names are parameters, values with a name, in a column 'row' and the columns before it, and in an operation what
  was drawn or carried before. A constant text is '{const: TEXT}'.
- Of whole numbers, '+ - * %' are whole, and '/' is always a fraction. Where a whole number is needed the fraction is
  cut off: '{type: int64, value: row / 10}'. The remainder of a division by 0 is 0.
- A timestamp and a number of seconds can be added or subtracted: 'made + 1800'. A whole number as a timestamp is
  microseconds since 1970.
- A number alone may have a suffix: 250k, 1.5M, 2G.
- A number that a column cannot hold, as one too large for an int32, ends the run with an error.
`, "'", "`")

var statementDocs = map[string]string{
	sInsert: "Rows get the numbers that follow, and their columns their own values.",
	sGet:    "It needs one of `row`, `key` and `index`.",
	sScan:   "Without bounds it reads all of the table, or as many rows as `limit` says.",
	sUpdate: "It needs one of `row`, `key` and `index`, and `set` or `add`.",
	sOwn:    "A statement that the engines do not have in common.",
	sDelete: "It needs `row` or `key`, and deletes one row.",
}

var stepDocs = map[string]string{
	stepLoad:    "The first step that does something creates the tables, with the indexes that no step builds.",
	stepIndex:   "An index that a step builds does not exist before.",
	stepRestart: "It comes after a load. The next step shows how the engine warms up.",
	stepSettle:  "`settle` alone rests for 60 s and a second per million rows.",
	stepRun:     "Groups of clients do operations at the same time.",
}
