package importer

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// FuzzParsers feeds anything to all parsers: none may panic, all numbers that
// come out are finite and of known metrics, and where none come out a problem
// says why.
func FuzzParsers(f *testing.F) {
	err := filepath.WalkDir("testdata", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "fuzz") {
			return err
		}
		b, err := os.ReadFile(path)
		f.Add(string(b))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("")
	f.Add(sysbenchLog)
	f.Add("[ 1s ] thds: 1 eps: 1 lat (ms,95%): 1\n")
	f.Add("0 1 1 0 1700000000 5 70\n1700000000 5 5 5 5 5 5\n")
	f.Add("target,step,metric,value\na,b,rows,1\n\"")
	f.Add("ops_sec\ttest\n1\tx\n")
	f.Add("1 1.0 1.0 1 1 1 1 1 1\n")
	f.Add("1.00user 1.00system 1:2:3elapsed 1%CPU\nreal 1m1s\n")
	f.Fuzz(func(t *testing.T, text string) {
		log := textFile("fuzz", text)
		if log.read(func(int, string, bool) bool { return true }) != nil {
			return // no text
		}
		for _, format := range formats() {
			log.format = format
			var ps hint.Problems
			if format.parse == nil {
				companionsOf(log, &ps)
				continue
			}
			for _, o := range []*Options{{}, {Compatible: true}} {
				var runs []*run
				parts, _ := sections([]*file{log})
				for _, part := range parts {
					runs = append(runs, format.parse(part, o, &ps)...)
				}
				expect.True(t, !(len(runs) == 0 && len(ps) == 0), "nothing came out, without a reason", format.name)
				for _, r := range runs {
					sound(t, r)
				}
			}
		}
		foreign(log)
	})
}

// textFile is a file with a text.
func textFile(path, text string) *file {
	f := &file{path: path, spool: &spool{}, open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	_ = f.readHead() // who reads it on sees what is wrong
	return f
}

// seriesOf returns the lines of a run's series.
func seriesOf(t *testing.T, r *run) (out []result.Line) {
	t.Helper()
	dir := t.TempDir()
	w := expect.Value(result.CreateSeries(dir))(t)
	defer w.Close()
	expect.NoError(t, r.file.spool.flush())
	expect.NoError(t, r.writeSeries(w))
	expect.NoError(t, result.ReadSeries(dir, nil, func(l result.Line) error { out = append(out, l); return nil }))
	return out
}

func companionsOf(log *file, ps *hint.Problems) {
	if s := parseIOStat(log, ps); s != nil {
		s.used()
		ioFigures(s, s.used())
		ioBusy(s, 4)
		compatibleIOFigures(s, "sd")
	}
	if v := parseVMStat(log, ps); v != nil {
		vmFigures(v, 4)
		compatibleVMFigures(v, 4)
	}
	if m := readMet(log, ps); m != nil {
		m.figures(newRun(log, fmtSysbench), false)
	}
	parseTime(log, ps)
}

func sound(t *testing.T, r *run) {
	t.Helper()
	r.addCosts([]account.Cost{{Metric: "host_cpu_us", Value: 1}})
	for _, row := range r.step.Rows {
		m := metric.ByName(row.Metric)
		expect.True(t, m != nil && m.Unit == row.Unit && !math.IsNaN(row.Value) && !math.IsInf(row.Value, 0), row)
	}
	r.files = []*file{r.file}
	lines := seriesOf(t, r)
	for _, l := range lines {
		expect.True(t, l.DT >= 0 && !math.IsNaN(l.T) && !math.IsInf(l.T, 0), l)
	}
	expect.True(t, !(r.step.Status != result.Complete && r.reason == ""), "it is partial, without a reason")
	var c Campaign
	expect.NoError(t, c.assemble([]*run{r}, &Options{}))
	if err := result.WriteJSON(filepath.Join(t.TempDir(), "t"), c.trials[0].Trial); err != nil {
		t.Error(err) // a number that JSON has no word for
	}
}
