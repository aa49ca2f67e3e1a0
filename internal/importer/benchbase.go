package importer

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/text/hint"
)

// benchbase is the summary that benchbase writes, NAME.summary.json.
type benchbase struct {
	Start      float64            `json:"Start timestamp (milliseconds)"`
	Elapsed    float64            `json:"Elapsed Time (nanoseconds)"`
	DBMS       string             `json:"DBMS Type"`
	Version    string             `json:"DBMS Version"`
	Benchmark  string             `json:"Benchmark Type"`
	State      string             `json:"Final State"`
	Requests   *float64           `json:"Measured Requests"`
	Isolation  string             `json:"isolation"`
	Scale      string             `json:"scalefactor"`
	Terminals  string             `json:"terminals"`
	Latency    map[string]float64 `json:"Latency Distribution"`
	Throughput *float64           `json:"Throughput (requests/second)"`
	Goodput    *float64           `json:"Goodput (requests/second)"`
}

const benchbaseMark = `"Latency Distribution"`

func isBenchbase(head []string) bool {
	text := strings.Join(head, "")
	return strings.HasPrefix(strings.TrimSpace(text), "{") && strings.Contains(text, benchbaseMark)
}

// longestSummary is far above the size of a summary.
const longestSummary = 1 << 20

func parseBenchbase(files []*file, _ *Options, ps *hint.Problems) []*run {
	in := &input{file: files[0], ps: ps}
	s := in.summary()
	r := newRun(files[0], fmtBenchbase)
	r.ask(0, "rate", askedRate(files[0].path))
	s.fill(r)
	in.refuseIf(s.Requests != nil && *s.Requests < 1 || r.step.Find("ops_per_s", "", "") == nil, "",
		"no request succeeded: there is no rate")
	return []*run{r}
}

// summary reads a summary, and refuses the file if it is none.
func (in *input) summary() (s benchbase) {
	text, err := in.open()
	if err == nil {
		defer text.Close()
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(text, longestSummary)); err == nil {
			text = io.NopCloser(bytes.NewReader(b))
		}
	}
	in.refuseIf(err != nil, "", "%v", reasonOf(err))
	const name = "name the file NAME.summary.json that benchbase writes"
	d := json.NewDecoder(text)
	err = d.Decode(&s)
	old := s.Requests == nil && s.Elapsed == 0 && s.Throughput != nil && s.Latency != nil // before 2023-11
	switch {
	case err != nil:
		in.refuse(name, "it is no summary of benchbase")
	case d.More():
		in.refuse("split the file: one summary each", "a second summary follows the first")
	case !old && (s.Requests == nil || s.Throughput == nil || s.Elapsed <= 0):
		in.refuse(name, "a summary has Measured Requests, Elapsed Time (nanoseconds) and Throughput (requests/second)")
	}
	return s
}

func (s *benchbase) fill(r *run) {
	r.tool, r.version, r.step.Doc, r.step.Seconds = "benchbase", s.Version, "benchbase, "+s.Benchmark, s.Elapsed/1e9
	r.engine = benchbaseEngines[s.DBMS]
	r.base, r.trial = repetition(benchbaseTime.ReplaceAllString(stem(r.file.path), ""))
	r.byFile = r.base
	r.ask(0, "script", s.Benchmark)
	r.ask(0, "clients", s.Terminals)
	r.ask(0, "scale", s.Scale)
	r.ask(0, "isolation", s.Isolation)
	if s.Start > 0 && s.Start < 1e14 {
		r.step.Started = time.UnixMilli(int64(s.Start)).UTC()
	}
	done, requests := s.counts(r)
	rate := account.PerSecond(done, r.step.Seconds)
	if s.Requests == nil {
		rate = *cmp.Or(s.Goodput, s.Throughput)
	}
	if s.Requests != nil && (done < 1 || done > math.MaxInt64/2) || s.Requests == nil && rate <= 0 {
		return
	}
	r.clients, _ = strconv.Atoi(s.Terminals)
	r.about(groupClients, r.clients, opTransaction)
	options := []account.With{account.Of(groupClients, opTransaction), account.Count(int64(done)),
		account.Source("summary")}
	r.per(opTransaction, rate, int64(done))
	if s.Requests == nil {
		if r.addRates(rate, options...); rate < *s.Throughput {
			r.warn("%.4g of %.4g requests/s were aborted, retried or failed; the times are of all", *s.Throughput-rate,
				*s.Throughput)
		}
		s.addLatency(r, &printedTimes{uncounted: true})
		return
	}
	r.work(done, rate, options...)
	r.lasted(r.step.Seconds)
	r.warnIf(done < requests, "%.0f of %.0f requests were aborted, retried or failed; the times are of all",
		requests-done, requests)
	if rate, ok := number(r.params["rate"]); ok && rate > 0 {
		addArrivals(r, rate, done, true)
		r.step.Groups[0].Pace = "fixed"
	}
	if s.addLatency(r, &printedTimes{count: int64(requests)}); done == requests {
		addSamples(r, requests)
	}
	r.cutIf(s.State != "" && s.State != "EXIT" && s.State != "DONE", "benchbase ended in state %s", clip(s.State))
}

// counts returns how many requests succeeded, and how many there were; 0 if that is not printed.
func (s *benchbase) counts(r *run) (done, requests float64) {
	if s.Requests == nil {
		return 0, 0
	}
	done, requests = *s.Requests, *s.Requests
	r.requireSame("throughput × time", newFigure(*s.Throughput*r.step.Seconds), "measured requests",
		newFigure(requests))
	if s.Goodput != nil {
		done = math.Round(*s.Goodput * r.step.Seconds)
		r.requireWithin("goodput × time", newFigure(done), "measured requests", newFigure(requests))
	}
	return done, requests
}

const summaryFile = ".summary.json" // the end of its name

// askedRate returns the rate in the configuration that benchbase writes next to a summary; "": none is known.
func askedRate(summary string) string {
	name, ok := strings.CutSuffix(summary, summaryFile)
	text, err := openText(name + ".config.xml")
	if !ok || err != nil {
		return ""
	}
	defer text.Close()
	var config struct {
		Rates []string `xml:"works>work>rate"`
	}
	if xml.NewDecoder(io.LimitReader(text, longestSummary)).Decode(&config) != nil {
		return ""
	}
	return strings.Join(config.Rates, "+")
}

// addSamples adds the intervals in NAME.samples.csv next to a summary, which count all requests.
func addSamples(r *run, requests float64) {
	name, ok := strings.CutSuffix(r.file.path, summaryFile)
	name += ".samples.csv"
	text, err := openText(name)
	if !ok || err != nil {
		return
	}
	defer text.Close()
	lines, err := csv.NewReader(text).ReadAll()
	if err != nil || len(lines) < 3 || len(lines[0]) < 2 || lines[0][1] != "Requests" {
		r.warn("%s is left out: it is no table of samples", name)
		return
	}
	var intervals []account.Interval
	var sum, seconds figure
	for i, line := range lines[1:] {
		start, isNumber := number(line[0])
		n, counted := positiveNumber(line[1])
		if !isNumber || !counted || start != float64(i) { // its windows are seconds
			r.warn("%s:%d is no sample of second %d: the file is left out", name, i+2, i)
			return
		}
		sum, seconds = sum.plus(newFigure(n)), seconds.plus(newFigure(1))
		intervals = append(intervals, account.NewInterval(float64(i+1), 1, n))
	}
	lasted := math.Abs(seconds.value-r.step.Seconds) <= 2+slack*seconds.value
	r.contradictIf(!lasted, "the seconds of samples.csv", seconds, "the elapsed time", newFigure(r.step.Seconds))
	if !lasted || !r.requireSame("the sum of samples.csv", sum, "measured requests", newFigure(requests)) {
		return
	}
	intervals = intervals[:len(intervals)-1] // the last second was not whole
	for _, i := range intervals {
		r.counted(opTransaction, i.To, 1, i.Units)
	}
	r.addIntervals(groupClients, intervals, false)
}

// benchbaseTime is what benchbase adds to the names of its files.
var benchbaseTime = regexp.MustCompile(`_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d`)

func (s *benchbase) addLatency(r *run, t *printedTimes) {
	for name, us := range s.Latency {
		if us >= 0 {
			t.note(name, us)
		}
	}
	maps.DeleteFunc(t.percentiles, func(percent, _ float64) bool { return percent <= 0 || percent >= 100 })
	longest, limit := max(t.mean, t.longest)/1e6, r.step.Seconds*(1+slack)
	possible := limit == 0 || longest <= limit+60 // one may have begun in the warm-up
	r.contradictIf(!possible, "the greatest time", newFigure(longest), "that of the test", newFigure(r.step.Seconds))
	if possible {
		addPrinted(r, "service", opTransaction, t, "benchbase")
	}
}

// benchbaseEngines are engines by the types of servers.
var benchbaseEngines = map[string]string{"POSTGRES": "postgres", "MYSQL": "mysql", "MARIADB": "mysql",
	"SQLITE": "sqlite"}
