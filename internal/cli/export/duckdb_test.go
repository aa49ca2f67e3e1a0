package export_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rumbench/internal/cli/export"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// duckPython is the Python that make setup-long gives DuckDB.
const duckPython = "/opt/rumbench/duckdb/bin/python"

// duck is a real DuckDB in a directory with the files of an export.
type duck struct {
	*testing.T
	dir    string
	trials []export.Trial
}

// newDuck exports three trials of two targets with ten seconds of series each.
func newDuck(t *testing.T) *duck {
	t.Helper()
	need.Long(t)
	need.Installed(t, exec.Command(duckPython, "-c", "import duckdb").Run())
	d := &duck{T: t, dir: t.TempDir()}
	for i, target := range []string{"pebble", "sqlite"} {
		for n := 1; n <= 3; n++ {
			rate := float64(1000*(i+1)) + float64(n*n)/7
			tr := trial(target, n,
				metric.Row{Group: "insert", Op: "insert", Metric: "rows_per_s", Value: rate, Unit: "1/s", N: 10},
				metric.Row{Metric: "write_kb", Value: 0.1 + 0.2, Unit: "KB", Per: "insert row", Source: "device vda", Warnings: []metric.Warning{metric.Warn(remark.Partial, nil), metric.Untyped("ümlaut, 'quoted'")}})
			tr.Status = result.Complete
			var lines []result.Line
			for s := 1; s <= 10; s++ {
				lines = append(lines,
					result.Line{Step: "l.i1", Source: "ops", T: float64(s), DT: 1, Group: "insert", Op: "insert", Ops: int64(s), Rows: int64(s * n), P50: 5, Clients: []int64{1, int64(s)}},
					result.Line{Step: "l.i1", Source: "device", T: float64(s), DT: 1, V: map[string]float64{`device.reads{dev="vda"}`: float64(s), `device.writes{dev="vda"}`: 0}})
			}
			d.trials = append(d.trials, withSeries(t, tr, filepath.Join(d.dir, target, string(rune('0'+n))), lines))
		}
	}
	d.file("rows.parquet", export.WriteRows)
	d.file("series.parquet", export.WriteSeries)
	return d
}

func (d *duck) file(name string, write func(io.Writer, []export.Trial) (int64, error)) {
	d.Helper()
	var b bytes.Buffer
	expect.Value(write(&b, d.trials))(d)
	expect.Write(d, filepath.Join(d.dir, name), b.String(), 0o644)
}

// query returns what DuckDB answers, as JSON.
func (d *duck) query(sql string) string {
	d.Helper()
	const program = `import duckdb, json, sys
for row in duckdb.connect().execute(sys.argv[1]).fetchall():
    print(json.dumps(row, default=str, ensure_ascii=False))`
	cmd := exec.Command(duckPython, "-c", program, sql)
	cmd.Dir = d.dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		d.Fatalf("%s: %v\n%s", sql, err, stderr.String())
	}
	return string(out)
}

// want compares an answer with rows of our own making.
func (d *duck) want(sql string, rows ...[]any) {
	d.Helper()
	var got [][]any
	for line := range strings.Lines(d.query(sql)) {
		var row []any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			d.Fatalf("%s: %v", line, err)
		}
		got = append(got, row)
	}
	b := expect.Value(json.Marshal(rows))(d)
	var want [][]any // through JSON too, so that numbers are of one type
	expect.NoError(d, json.Unmarshal(b, &want))
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("%s (-want +got)\n%s", sql, diff)
	}
}

// DuckDB computes with the types without a cast; it sees every row as it is: counts, values to the last bit, nulls,
// lists, text and instants; it joins rows and series by the trial and the step: what was done in the intervals beside
// the number of the whole step; and the queries in the documentation find something.
func TestDuckDB(t *testing.T) {
	d := newDuck(t)
	d.checkTypes()
	d.checkRows()
	d.checkJoin()
	doc := expect.Read(t, "../../../docs/results.md")
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(doc, -1)
	expect.Must(t, len(queries) >= 4, "the document has", len(queries), "queries")
	for _, q := range queries {
		expect.True(t, d.query(q[1]) != "", q[1])
	}
}

func (d *duck) checkTypes() {
	for file, columns := range map[string]string{
		"rows.parquet": "campaign campaign_dir started:TIMESTAMP workload preset params target engine engine_version durability hostname machine " +
			"trial:INTEGER trial_started:TIMESTAMP status step step_status group op metric value:DOUBLE unit per n:BIGINT source warnings:VARCHAR[] " +
			"warning_codes:VARCHAR[] headline:BOOLEAN labels",
		"series.parquet": "campaign campaign_dir target trial:INTEGER step source t:DOUBLE dt:DOUBLE group op upkeep:BOOLEAN ops:BIGINT " +
			"rows:BIGINT errors:BIGINT p50_us:DOUBLE p99_us:DOUBLE max_us:DOUBLE response_p99_us:DOUBLE response_max_us:DOUBLE " +
			"clients:BIGINT[] name labels value:DOUBLE late:DOUBLE",
	} {
		d.want("SELECT string_agg(replace(column_name || ':' || column_type || ' ', ':VARCHAR ', ' '), '') FROM (DESCRIBE SELECT * FROM '"+file+"')",
			[]any{columns + " "})
	}
}

func (d *duck) checkRows() {
	var want [][]any
	for _, tr := range d.trials {
		for _, r := range tr.Steps[0].Rows {
			row := []any{tr.Target, tr.Trial.Trial, r.Metric, r.Value, nil, nil, r.Unit, nil, nil, nil, metric.Texts(r.Warnings), metric.Codes(r.Warnings), r.Metric == "rows_per_s"}
			for i, s := range map[int]string{4: r.Group, 5: r.Op, 7: r.Per, 8: r.Source} {
				if s != "" {
					row[i] = s
				}
			}
			if r.N != 0 {
				row[9] = r.N
			}
			if r.Warnings == nil {
				row[10], row[11] = []string{}, []string{}
			}
			want = append(want, row)
		}
	}
	d.want(`SELECT target, trial, metric, value, "group", op, unit, per, source, n, warnings, warning_codes, headline FROM 'rows.parquet'`, want...)
	d.want(`SELECT DISTINCT campaign, campaign_dir, started, trial_started, params->>'$.rows', preset, engine, engine_version, durability, hostname, status, step_status FROM 'rows.parquet'`,
		[]any{"mine", "results/mine", start.Format("2006-01-02 15:04:05.000000"), start.Add(time.Minute).Format("2006-01-02 15:04:05.000000"), "2000000", "quick", "pebble", "v2.1.7", "os", "vm", "complete", "complete"})
	d.want(`SELECT count(*), count(DISTINCT target), sum(len(warnings)) FROM 'rows.parquet'`, []any{12, 2, 12})
}

func (d *duck) checkJoin() {
	var want [][]any
	for _, tr := range d.trials {
		want = append(want, []any{tr.Target, tr.Trial.Trial, tr.Steps[0].Rows[0].Value, 55 * tr.Trial.Trial, 10})
	}
	d.want(`SELECT r.target, r.trial, r.value, sum(s.rows)::BIGINT, count(*)
		FROM 'rows.parquet' r JOIN 'series.parquet' s USING (campaign_dir, target, trial, step, "group", op)
		WHERE r.metric = 'rows_per_s' GROUP BY ALL ORDER BY ALL`, want...)
	d.want(`SELECT name, labels, sum(value), count(*), count(ops), count("group") FROM 'series.parquet' WHERE source = 'device' GROUP BY ALL ORDER BY ALL`,
		[]any{"device.reads", `dev="vda"`, 330, 60, 0, 0}, []any{"device.writes", `dev="vda"`, 0, 60, 0, 0})
	d.want(`SELECT list_sum(clients)::BIGINT, upkeep, errors, p50_us, p99_us, value FROM 'series.parquet' WHERE source = 'ops' AND t = 4 AND trial = 1 AND target = 'sqlite'`,
		[]any{5, false, 0, 5, nil, nil})
}
