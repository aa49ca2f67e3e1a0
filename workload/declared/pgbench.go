package declared

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
)

// FromPgbench returns a workload file for a pgbench script: its variables become draws,
// and its statements become SQL for postgres. The only meta-command it knows is \set. The
// file has those of pgbench's tables that the SQL names. The error has the type
// hint.Problems; with it, the file is nil, or a draft that Read refuses for these reasons.
func FromPgbench(file string, script []byte) ([]byte, error) {
	p := pgbench{source: strictyaml.FileSource(file, string(script)), names: map[string]string{"scale": "scale"},
		taken: map[string]bool{"scale": true, "clients": true, "seconds": true, checkParam.Name: true}}
	p.read(strings.Split(string(script), "\n"))
	if len(p.problems) > 0 {
		strictyaml.SortProblems(p.problems)
		return nil, p.problems
	}
	base := filepath.Base(file)
	name := cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), "script")
	content := p.write(name)
	if len(p.problems) > 0 {
		return content, p.problems
	}
	_, err := Read(name+".yaml", content)
	return content, err
}

// pgbench reads a script. It has many fields: the parsed parts, and the current position.
type pgbench struct {
	source     *strictyaml.Source
	problems   hint.Problems
	names      map[string]string // of variables in the file, as they are set at the current position
	taken      map[string]bool   // names in the file
	scaled     bool              // scale is used
	draws      []string          // lines
	statements []string          // lines
	isolation  string            // of the transaction; "true" without one, "" without a transaction
	begun      place             // of an open transaction
	alone      place             // of the first statement outside of a transaction

	sql    strings.Builder // of the incomplete statement
	places []place         // the places in the script of its parts
	quote  string          // the end mark of the quoted text or comment at the current position
}

// place is a position of text in the script, and its offset in a statement.
type place struct{ line, column, offset int }

func (p *pgbench) refuse(at place, reason, help string) {
	p.problems = append(p.problems, p.source.Problem(at.line, at.column, reason, help))
}

func (p *pgbench) read(lines []string) {
	for i := 0; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		if !strings.HasPrefix(text, `\`) || p.sql.Len() > 0 || p.quote != "" {
			p.line(i+1, lines[i])
			continue
		}
		at := place{line: i + 1, column: strings.Index(lines[i], `\`) + 1}
		for strings.HasSuffix(text, `\`) && i+1 < len(lines) {
			i++
			text = strings.TrimSuffix(text, `\`) + " " + strings.TrimSpace(lines[i])
		}
		p.meta(at, text)
	}
	p.statement()
	if p.begun.line > 0 {
		p.refuse(p.begun, "the transaction is not ended", "add END; or COMMIT;")
	} else if p.isolation != "" && p.alone.line > 0 {
		p.refuse(p.alone, "the statement is outside of the transaction",
			"an operation is one transaction: move the statement between BEGIN and END")
	}
	if len(p.statements) == 0 && len(p.problems) == 0 {
		p.refuse(place{line: 1, column: 1}, "the script has no statement", "")
	}
}

// line reads a line of SQL: statements end with semicolons that are not quoted.
func (p *pgbench) line(number int, text string) {
	if p.quote == "" {
		text = strings.TrimRight(text, " \t\r")
		p.space()
	}
	p.beginAt(number, 0)
	for i := 0; i < len(text); i++ {
		tail := text[i:]
		switch c := text[i]; {
		case p.quote != "":
			if comment := p.quote == "*/"; !strings.HasPrefix(tail, p.quote) {
				if !comment {
					p.sql.WriteByte(c)
				}
			} else {
				if i += len(p.quote) - 1; comment {
					p.beginAt(number, i+1)
				} else {
					p.sql.WriteByte(c)
				}
				p.quote = ""
			}
		case strings.HasPrefix(tail, "--"):
			return
		case strings.HasPrefix(tail, "/*"):
			p.quote = "*/"
			i++
		case c == ';':
			p.statement()
			p.beginAt(number, i+1)
		case c == '\\':
			p.meta(place{line: number, column: i + 1}, tail)
			return
		case (c == ' ' || c == '\t'):
			p.space()
			p.beginAt(number, i+1)
		default:
			if c == '\'' || c == '"' {
				p.quote = string(c)
			}
			p.sql.WriteByte(c)
		}
	}
	if p.quote != "" && p.quote != "*/" {
		p.sql.WriteByte('\n')
	}
}

// space separates words by one space.
func (p *pgbench) space() {
	if sql := p.sql.String(); sql != "" && !strings.HasSuffix(sql, " ") {
		p.sql.WriteByte(' ')
	}
}

// beginAt notes that the following text is from a line, starting after a number of its
// bytes.
func (p *pgbench) beginAt(line, after int) {
	p.places = append(p.places, place{line, after + 1, p.sql.Len()})
}

// at returns the place in the script of an offset of the statement.
func (p *pgbench) at(offset int) place {
	for _, block := range slices.Backward(p.places) {
		if block.offset <= offset {
			block.column += offset - block.offset
			return block
		}
	}
	return place{line: 1, column: 1}
}

var (
	setCommand = regexp.MustCompile(`^\\set\s+(\w+)\s+(.+)$`)
	random     = regexp.MustCompile(`^random(_zipfian)?\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)$`)
	variable   = regexp.MustCompile(`:(\w+)`)
	arithmetic = regexp.MustCompile(`^[\d\s.+*%()-]+$`)
	selected   = regexp.MustCompile(`(?is)^select\s+(.*?)\s+from\s`)
	lastName   = regexp.MustCompile(`(\w+)\W*$`)
	beginning  = regexp.MustCompile(`(?i)^(?:begin|start)(?: work| transaction)?(?: isolation level (\w+(?: \w+)?))?$`)
	ending     = regexp.MustCompile(`(?i)^(?:end|commit)(?: work| transaction)?$`)
	controls   = regexp.MustCompile(`(?i)^(?:begin|start|end|commit|rollback|abort|savepoint|release|prepare transaction|set transaction)\b`)
)

// meta reads a meta-command.
func (p *pgbench) meta(at place, text string) {
	m := setCommand.FindStringSubmatch(text)
	if m == nil || p.sql.Len() > 0 {
		p.refuse(at, strings.Fields(text)[0]+" cannot be a part of a workload",
			`of the meta-commands only \set can: a workload is data, without conditions`)
		return
	}
	name, expression := m[1], strings.TrimSpace(m[2])
	for _, v := range variable.FindAllStringSubmatchIndex(text, -1) {
		p.variable(place{line: at.line, column: at.column + v[0]}, text[v[2]:v[3]])
	}
	if call := random.FindStringSubmatch(expression); call != nil {
		p.random(at, name, call[1], strings.Split(call[2], ","))
	} else if value, ok := p.expression(at, expression); ok {
		p.draw(p.set(name), yamlText(value))
	}
	if p.names[name] == "" { // it has been refused
		p.names[name] = name
	}
}

func (p *pgbench) draw(name, value string) { p.draws = append(p.draws, "      "+name+": "+value) }

// set returns the name in the file for a new value of a variable.
func (p *pgbench) set(variable string) string {
	p.names[variable] = p.give(variable)
	return p.names[variable]
}

// give returns a name in the file for a value: this one, unless it is taken.
func (p *pgbench) give(name string) string {
	if !isName(name) {
		name = "v" + name
	}
	first := name
	for n := 2; p.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", first, n)
	}
	p.taken[name] = true
	return name
}

// named returns the name in the file for a variable, written with a colon.
func (p *pgbench) named(variable string) string { return cmp.Or(p.names[variable[1:]], variable[1:]) }

// variable checks that a variable is set before it is used.
func (p *pgbench) variable(at place, name string) {
	switch {
	case p.names[name] != "":
	case slices.Contains([]string{"client_id", "random_seed", "default_seed"}, name):
		p.refuse(at, "variable "+name+" is built into pgbench, and a workload has none",
			`draw a number in its place, as in \set `+name+" random(0, 9)")
	default:
		p.refuse(at, "variable "+name+" is not set before", `as in \set `+name+" random(1, 100)")
	}
	p.scaled = p.scaled || p.names[name] == "scale"
}

// expression returns arithmetic in the syntax of the file.
func (p *pgbench) expression(at place, text string) (value string, ok bool) {
	text = strings.TrimSpace(text)
	if !arithmetic.MatchString(variable.ReplaceAllString(text, "0")) {
		p.refuse(at, strconv.Quote(text)+" cannot be a part of a workload",
			"there are random, random_zipfian, and + - * % of numbers and variables")
		return "", false
	}
	return variable.ReplaceAllStringFunc(text, p.named), true
}

// random reads a draw between bounds.
func (p *pgbench) random(at place, name, kind string, args []string) {
	if want := map[string]int{"": 2, "_zipfian": 3}[kind]; len(args) != want {
		p.refuse(at, "wrong number of arguments", "as in random(1, 100) or random_zipfian(1, 100, 1.1)")
		return
	}
	for i := range args {
		var ok bool
		if args[i], ok = p.expression(at, args[i]); !ok {
			return
		}
	}
	low, high := args[0], args[1]
	if kind == "" {
		p.draw(p.set(name), "{uniform: ["+yamlText(low)+", "+yamlText(high)+"]}")
		return
	}
	zipf := "{zipf: {over: " + yamlText(span(low, high)) + ", theta: " + yamlText(args[2]) + "}}"
	if low == "0" { // its draws begin at 0
		p.draw(p.set(name), zipf)
		return
	}
	rank := p.give(name + "_rank")
	p.draw(rank, zipf)
	p.draw(p.set(name), yamlText(rank+" + "+low))
}

// span returns how many whole numbers lie between two bounds, both included.
func span(minimum, highest string) string {
	if low, err := strconv.ParseInt(minimum, 10, 64); err == nil {
		high, err := strconv.ParseInt(highest, 10, 64)
		switch {
		case err == nil:
			return strconv.FormatInt(high-low+1, 10)
		case low == 1:
			return highest
		case low == 0:
			return highest + " + 1"
		}
		return fmt.Sprintf("%s - %d", highest, low-1)
	}
	if isName(minimum) {
		return highest + " - " + minimum + " + 1"
	}
	return highest + " - (" + minimum + ") + 1"
}

var plainText = regexp.MustCompile(`^[A-Za-z0-9_(][\w +*%().-]*$`)

// yamlText returns a text in YAML syntax, quoted if necessary.
func yamlText(text string) string {
	if plainText.MatchString(text) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return yamlQuoted(text)
}

// yamlQuoted quotes a text with quotation marks that it does not contain.
func yamlQuoted(text string) string {
	if strings.ContainsAny(text, "\\\"") && !strings.Contains(text, "\n") {
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strconv.Quote(text)
}

// statement ends a statement.
func (p *pgbench) statement() {
	sql := strings.TrimSpace(p.sql.String())
	start := p.at(0)
	pieces, names := split(sql)
	offset := 0
	var written strings.Builder
	for i, name := range names {
		offset += len(pieces[i])
		p.variable(p.at(offset), name)
		offset += 1 + len(name)
		written.WriteString(pieces[i] + ":" + cmp.Or(p.names[name], name))
	}
	written.WriteString(pieces[len(names)])
	m := beginning.FindStringSubmatch(sql)
	switch {
	case sql == "":
	case m != nil && p.isolation != "":
		p.begun = start
		p.refuse(start, "there is a second transaction", "an operation is one transaction: make a script of each")
	case m != nil:
		p.begin(start, m[1])
	case ending.MatchString(sql) && p.begun.line == 0:
		p.refuse(start, "no transaction has begun", "add BEGIN; before the statements that belong to it")
	case ending.MatchString(sql):
		p.begun = place{}
	case strings.EqualFold(sql, "rollback") || strings.EqualFold(sql, "abort"):
		p.refuse(start, "a transaction that is rolled back cannot be a part of a workload", "end it with END;")
	case controls.MatchString(sql):
		p.refuse(start, sql+" cannot be a part of a workload", "an operation is one transaction, from BEGIN; to END;")
	default:
		p.execute(start, written.String())
	}
	p.sql.Reset()
	p.places = nil
}

// begin begins the transaction.
func (p *pgbench) begin(at place, level string) {
	p.begun, p.isolation = at, "true"
	if level == "" {
		return
	}
	p.isolation = strings.ReplaceAll(strings.ToLower(level), " ", "-")
	if !slices.ContainsFunc(model.Isolations(), func(i model.Isolation) bool { return i.String() == p.isolation }) {
		p.refuse(at, "isolation level "+level+" cannot be a part of a workload", "remove it")
	}
}

// execute adds a statement.
func (p *pgbench) execute(at place, sql string) {
	if p.begun.line == 0 && p.alone.line == 0 {
		p.alone = at
	}
	p.statements = append(p.statements, "      - sql: {postgres: "+yamlQuoted(sql)+"}"+p.returns(sql))
}

// returns guesses the columns that a query returns: whole numbers, as most columns in
// pgbench's own scripts are.
func (p *pgbench) returns(sql string) string {
	m := selected.FindStringSubmatch(sql)
	if m == nil {
		return ""
	}
	var columns []string
	for i, c := range listed(m[1]) {
		name := fmt.Sprintf("column%d", i+1)
		if last := lastName.FindStringSubmatch(c); last != nil && !strings.Contains(c, "(") {
			name = last[1]
		}
		columns = append(columns, p.give(name)+": int64")
	}
	return "\n        returns: {" + strings.Join(columns, ", ") + "} # a guess: correct the types"
}

// listed splits a list at its commas, but for those in quotes and parentheses.
func listed(text string) (items []string) {
	start, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			i = end(text, i+1, string(c))
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			items = append(items, text[start:i])
			start = i + 1
		}
	}
	return append(items, text[start:])
}

//go:embed pgbench.tmpl
var pgbenchFile string

var pgbenchTemplate = template.Must(template.New("").Parse(pgbenchFile))

// pgbenchTables are the tables that pgbench -i creates; all but the last are loaded, by the scale.
var pgbenchTables = []string{"pgbench_accounts", "pgbench_tellers", "pgbench_branches", "pgbench_history"}

// pgbenchScript is what the template needs.
type pgbenchScript struct {
	Title, Draws, SQL, Isolation string
	Scaled                       bool
}

// Names reports whether the SQL names a table of pgbench; for pgbench_ any of them.
func (s *pgbenchScript) Names(table string) bool {
	return slices.ContainsFunc(pgbenchTables, func(t string) bool {
		return strings.HasPrefix(t, table) && strings.Contains(strings.ToLower(s.SQL), t)
	})
}

func (p *pgbench) write(name string) []byte {
	s := &pgbenchScript{Title: yamlText(name), Draws: strings.Join(p.draws, "\n"), SQL: strings.Join(p.statements, "\n"),
		Isolation: p.isolation}
	if _, text := strictyaml.Resolve(name).(string); !text { // a number, true, null
		s.Title = yamlQuoted(name)
	}
	s.Scaled = p.scaled || slices.ContainsFunc(pgbenchTables[:3], s.Names)
	if !s.Names("pgbench_") {
		p.refuse(place{line: 1, column: 1}, "the SQL names none of pgbench's tables, and those that it names are unknown",
			"add them to the file that was written, under tables and steps")
	}
	var b bytes.Buffer
	if err := pgbenchTemplate.Execute(&b, s); err != nil {
		panic(err) // it is part of the binary
	}
	return b.Bytes()
}
