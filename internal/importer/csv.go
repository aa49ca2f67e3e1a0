package importer

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/text/hint"
)

// csvColumns are the columns of a CSV, the first four of which are required.
var csvColumns = []string{"target", "step", "metric", "value", "trial", "group", "op", "unit", "per", "n", "source"}

func isCSV(head []string) bool {
	for _, l := range head {
		if strings.TrimSpace(l) == "" || strings.HasPrefix(l, "#") {
			continue
		}
		names := strings.Split(strings.ToLower(l), ",")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		return slices.Contains(names, "metric") && slices.Contains(names, "value")
	}
	return false
}

// table reads a CSV of rows as printed by rumbench show.
type table struct {
	*input
	header
	cpus int // of the host
	rows []metric.Row
	seen map[[7]string]int // lines by the key of their row
	top  int               // line of the header
}

// parseCSV reads a table of numbers. Every metric must be known and in its unit:
// a number in a different unit would be wrong.
func parseCSV(files []*file, o *Options, ps *hint.Problems) (runs []*run) {
	t := &table{input: &input{file: files[0], ps: ps}, cpus: o.CPUs, seen: map[[7]string]int{}}
	text, err := t.open()
	t.refuseIf(err != nil, "", "%v", reasonOf(err))
	defer text.Close()
	in := csv.NewReader(io.LimitReader(text, limit))
	in.Comment, in.TrimLeadingSpace, in.FieldsPerRecord = '#', true, -1
	for {
		fields, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			t.lineNumber = bad.Line
			t.refuse("", "%v", bad.Err)
		}
		if t.lineNumber, _ = in.FieldPos(0); t.header != nil {
			t.row(fields)
		} else if t.columns(fields); t.faulty {
			return nil
		}
	}
	if len(t.rows) == 0 && !t.faulty {
		t.lineNumber = t.top
		t.problem("", "there are no numbers below a header with the columns target, step, metric and value")
	}
	type step struct {
		target, name string
		trial        int
	}
	steps, byKey := groups(t.rows, func(row metric.Row) step { return step{row.Target, row.Step, row.Trial} })
	for _, s := range steps {
		r := newRun(t.file, "a table of numbers")
		r.tool, r.target, r.trial, r.step.Name, r.step.Rows = "CSV", s.target, s.trial, s.name, byKey[s]
		subject(r)
		runs = append(runs, r)
	}
	return runs
}

func (t *table) columns(fields []string) {
	t.top = t.lineNumber
	for _, name := range fields {
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(csvColumns, name) {
			t.problem("the columns are "+strings.Join(csvColumns, ", "), "there is no column %q", name)
		}
		if slices.Contains(t.header, name) {
			t.problem("", "column %s is there twice", name)
		}
		t.header = append(t.header, name)
	}
	for _, name := range csvColumns[:4] {
		if !slices.Contains(t.header, name) {
			t.problem("", "column %s is missing", name)
		}
	}
}

const maxTrial = 10000

func (t *table) row(fields []string) {
	if len(fields) != len(t.header) {
		t.problem("quote a value that contains a comma", "%d fields, but the header has %d", len(fields), len(t.header))
		return
	}
	field := func(name string) string { return t.text(fields, name) }
	found := len(*t.ps)
	row := metric.Row{Target: field("target"), Step: field("step"), Group: field("group"), Op: field("op"),
		Metric: field("metric"), Per: field("per"), Source: field("source")}
	for _, name := range []string{"target", "step"} {
		if field(name) == "" {
			t.problem("", "the %s is missing", name)
		}
	}
	factor := t.metric(&row, field("unit"))
	trial := t.integer("trial", field("trial"), 1)
	if row.Trial = int(trial); trial < 1 || trial > maxTrial {
		t.problem("", "trial %d: trials are numbered from 1", trial)
	}
	row.N = t.integer("n", field("n"), 0)
	id := [7]string{row.Target, strconv.Itoa(row.Trial), row.Step, row.Group, row.Op, row.Metric, row.Per}
	if len(*t.ps) > found {
		return
	}
	line, twice := t.seen[id]
	value, ok := number(field("value"))
	switch {
	case twice:
		t.problem("number repeated runs in the column trial",
			"line %d has this number too: %s of step %s of %s, trial %d", line, row.Metric, row.Step, row.Target,
			row.Trial)
	case !ok:
		t.problem("leave the line out if the number is not known", "the value %q is not a number", field("value"))
	case value < 0:
		t.problem("", "the value %q is below 0", field("value"))
	default:
		row.Value = value * factor
		t.seen[id] = t.lineNumber
		t.rows = append(t.rows, row)
	}
}

// cpuUnits are the CPU units of published tables in µs of one CPU: Mcpu is a
// millionth of a percent-second of all CPUs, cpu/o a percent-second.
var cpuUnits = map[string]float64{"Mcpu": 1. / 100, "cpu/o": 1e6 / 100}

// metric checks a metric and its unit, and returns the factor of its values.
func (t *table) metric(row *metric.Row, unit string) (factor float64) {
	m := metric.ByName(row.Metric)
	if m == nil {
		t.problem(hint.Meant(row.Metric, metric.Names(), metric.Listed), "there is no metric %q", row.Metric)
		return 1
	}
	row.Unit = m.Unit
	if share := cpuUnits[unit]; share > 0 && m.Name == metric.HostCPUUS {
		if t.cpus == 0 {
			t.problem("give --cpus N", "%s is a share of all CPUs, whose number is unknown", unit)
		}
		row.Source = strings.TrimPrefix(row.Source+", published as "+unit, ", ")
		return share * float64(t.cpus)
	}
	bytes, size := sizeOf("1" + unit)
	if catalogued, ok := sizeOf("1" + m.Unit); size && ok {
		return bytes / catalogued
	}
	if unit = strings.Replace(unit, "us", "µs", 1); unit != "" && unit != m.Unit {
		t.problem("convert the value", "%s is in %s, not %s", m.Name, m.Unit, unit)
	}
	return 1
}

func (t *table) integer(name, text string, missing int64) int64 {
	v, ok := wholeNumber(text)
	switch {
	case text == "":
		return missing
	case !ok:
		t.problem("", "%s %q is not a whole number", name, text)
		return missing
	}
	return v
}

// subject sets the primary operation of a step, the first with a rate, and the
// denominator of its writes.
func subject(r *run) {
	op := ""
	for _, row := range r.step.Rows {
		if op == "" && (row.Metric == metric.RowsPerS || row.Metric == metric.OpsPerS) {
			op = row.Op
		}
	}
	r.step.Primary, r.step.WritesPer = op, op
	for _, row := range r.step.Rows {
		if row.Metric == metric.WriteKB && row.Per != "" {
			r.step.WritesPer, _, _ = strings.Cut(row.Per, " ")
		}
		if row.Metric == metric.DurationS && row.Group == "" {
			r.step.Seconds = row.Value
		}
	}
}
