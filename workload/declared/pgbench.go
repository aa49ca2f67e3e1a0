package declared

import (
	"fmt"
	"regexp"
	"strings"

	"rumbench/internal/form"
	"rumbench/internal/hint"
)

// FromPgbench returns a workload file for a script of pgbench: its variables become draws,
// and its statements SQL for postgres. Of the meta-commands it knows \set. The error is of
// type hint.Problems.
func FromPgbench(file string, script []byte) ([]byte, error) {
	p := pgbench{source: form.FileSource(file, string(script)), known: map[string]bool{"scale": true}}
	p.read(string(script))
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return p.write(), nil
}

// pgbench reads a script.
type pgbench struct {
	source     *form.Source
	problems   hint.Problems
	known      map[string]bool // variables
	draws      []string        // lines
	statements []string        // likewise
	atomic     bool
	sql        strings.Builder // of the statement that is not complete
}

func (p *pgbench) refuse(line int, reason, help string) {
	p.problems = append(p.problems, p.source.Problem(line, 1, reason, help))
}

func (p *pgbench) read(script string) {
	for i, line := range strings.Split(script, "\n") {
		if at := strings.Index(line, "--"); at >= 0 {
			line = line[:at]
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, `\`):
			p.meta(i+1, line)
		default:
			p.statement(i+1, line)
		}
	}
	if p.sql.Len() > 0 {
		p.statement(strings.Count(script, "\n")+1, ";")
	}
	if len(p.statements) == 0 && len(p.problems) == 0 {
		p.refuse(1, "the script has no statement", "")
	}
}

var (
	setCommand = regexp.MustCompile(`^\\set\s+(\w+)\s+(.+)$`)
	random     = regexp.MustCompile(`^random(_zipfian)?\s*\((.*)\)$`)
	variable   = regexp.MustCompile(`:(\w+)`)
	selected   = regexp.MustCompile(`(?is)^select\s+(.*?)\s+from\s`)
	lastName   = regexp.MustCompile(`(\w+)\W*$`)
)

// meta reads a meta-command.
func (p *pgbench) meta(line int, text string) {
	m := setCommand.FindStringSubmatch(text)
	if m == nil {
		p.refuse(line, fmt.Sprintf("%q cannot be a part of a workload", strings.Fields(text)[0]),
			`of the meta-commands only \set can: a workload is data, without conditions`)
		return
	}
	name, expression := m[1], strings.TrimSpace(m[2])
	for _, v := range variable.FindAllStringSubmatch(expression, -1) {
		if !p.known[v[1]] {
			p.refuse(line, "variable "+v[1]+" is not set before", "")
		}
	}
	expression = variable.ReplaceAllString(expression, "$1")
	p.known[name] = true
	call := random.FindStringSubmatch(expression)
	switch {
	case call == nil && strings.ContainsAny(expression, "(?"):
		p.refuse(line, fmt.Sprintf("%q cannot be a part of a workload", expression), "there are random, random_zipfian and arithmetic")
	case call == nil:
		p.draw(name, expression)
	default:
		p.random(line, name, call[1], strings.Split(call[2], ","))
	}
}

func (p *pgbench) draw(name, value string) {
	p.draws = append(p.draws, fmt.Sprintf("      %s: %s", name, value))
}

func (p *pgbench) random(line int, name, kind string, args []string) {
	for i := range args {
		args[i] = strings.TrimSpace(args[i])
	}
	switch {
	case kind == "" && len(args) == 2:
		p.draw(name, fmt.Sprintf("{uniform: [%q, %q]}", args[0], args[1]))
	case kind != "" && len(args) == 3:
		p.draw(name+"_rank", fmt.Sprintf("{zipf: {over: %q, theta: %q}}", args[1]+" - "+args[0]+" + 1", args[2]))
		p.draw(name, fmt.Sprintf("%s_rank + %s", name, args[0]))
	default:
		p.refuse(line, "wrong number of arguments", "as in random(1, 100) or random_zipfian(1, 100, 1.1)")
	}
}

// statement reads a line of SQL. A statement ends with a semicolon.
func (p *pgbench) statement(line int, text string) {
	body, ended := strings.CutSuffix(text, ";")
	if p.sql.Len() > 0 {
		p.sql.WriteByte(' ')
	}
	p.sql.WriteString(strings.TrimSpace(body))
	if !ended {
		return
	}
	sql := strings.TrimSpace(p.sql.String())
	p.sql.Reset()
	_, names := split(sql)
	for _, name := range names {
		if !p.known[name] {
			p.refuse(line, "variable "+name+" is not set", "")
		}
	}
	switch strings.ToUpper(sql) {
	case "":
	case "BEGIN", "START TRANSACTION":
		p.atomic = true
	case "END", "COMMIT":
	default:
		p.statements = append(p.statements, fmt.Sprintf("      - sql: {postgres: %q}%s", sql, returnsOf(sql)))
	}
}

// returnsOf guesses the columns that a query returns: whole numbers, as most in pgbench's
// own scripts.
func returnsOf(sql string) string {
	m := selected.FindStringSubmatch(sql)
	if m == nil {
		return ""
	}
	var columns []string
	for i, c := range strings.Split(m[1], ",") {
		name := fmt.Sprintf("column%d", i+1)
		if last := lastName.FindStringSubmatch(c); last != nil && !strings.Contains(c, "(") {
			name = last[1]
		}
		columns = append(columns, name+": int64")
	}
	return "\n        returns: {" + strings.Join(columns, ", ") + "} # a guess: correct the types"
}

func (p *pgbench) write() []byte {
	var b strings.Builder
	b.WriteString("name: script\ndoc: A script of pgbench.\nparams:\n  scale: {default: 1, min: 1, doc: \"pgbench's scale factor\"}\n" +
		"  clients: {default: 1, min: 1, doc: number of clients}\n  seconds: {type: float, default: 60, unit: seconds, doc: length of the run}\n")
	b.WriteString(pgbenchTables)
	b.WriteString("operations:\n  script:\n")
	if len(p.draws) > 0 {
		b.WriteString("    draw:\n" + strings.Join(p.draws, "\n") + "\n")
	}
	if p.atomic {
		b.WriteString("    transaction: true\n")
	}
	b.WriteString("    do:\n" + strings.Join(p.statements, "\n") + "\n")
	b.WriteString("steps:\n")
	for _, load := range []string{"accounts, rows: scale * 100000, clients: 2", "tellers, rows: scale * 10", "branches, rows: scale"} {
		b.WriteString("  - {load: pgbench_" + load + "}\n")
	}
	b.WriteString("  - settle\n  - {run: script, seconds: seconds, groups: {clients: {clients: clients, do: script}}}\n")
	return []byte(b.String())
}

// pgbenchTables are the tables that pgbench -i makes.
const pgbenchTables = `tables:
  pgbench_branches:
    columns:
      bid: {type: int32, value: {sequence: [1]}}
      bbalance: {type: int32, value: 0}
      filler: {value: {const: "                                                                                        "}}
  pgbench_tellers:
    columns:
      tid: {type: int32, value: {sequence: [1]}}
      bid: {type: int32, value: (row - row % 10) / 10 + 1}
      tbalance: {type: int32, value: 0}
      filler: {value: {const: "                                                                                    "}}
  pgbench_accounts:
    columns:
      aid: {type: int32, value: {sequence: [1]}}
      bid: {type: int32, value: (row - row % 100000) / 100000 + 1}
      abalance: {type: int32, value: 0}
      filler: {value: {const: "                                                                                    "}}
  pgbench_history: # pgbench's has no key
    columns:
      hid: {auto: true}
      tid: {type: int32, value: 0}
      bid: {type: int32, value: 0}
      aid: {type: int32, value: 0}
      delta: {type: int32, value: 0}
      mtime: {value: {clock: 1}}
    key: [hid]
`
