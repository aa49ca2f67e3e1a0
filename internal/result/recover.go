package result

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result/regular"
	"rumbench/internal/stat/hist"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// addUnfinished adds the numbers of the step that is running, or was when the
// trial was killed, as far as the series and the latency log go. A step without
// any data is left out.
func addUnfinished(dir string, t *Trial) error {
	u := unfinished{t: t}
	if n := len(t.Steps); n > 0 && t.Steps[n-1].Status == Running {
		u.step = t.Steps[n-1]
		t.Steps, t.At = t.Steps[:n-1], u.step.Name
	}
	for i := range u.step.Groups {
		u.group(u.step.Groups[i].Name).is = &u.step.Groups[i]
	}
	if err := ReadSeries(dir, []string{"ops"}, u.add); err != nil {
		return err
	}
	if u.step.Seconds == 0 {
		return nil
	}
	latencies, err := readLatencies(dir)
	if err != nil {
		return err
	}
	partial := metric.Warn(remark.Partial, nil)
	a := &account.Step{Of: &workload.Step{Name: u.step.Name, Primary: u.step.Primary, WritesPer: u.step.WritesPer},
		Seconds: u.step.Seconds}
	a.All = metric.Row{Target: t.Target, Trial: t.Trial, Step: u.step.Name, Warnings: []metric.Warning{partial}}
	a.Unknown = unrecovered
	for i, g := range u.groups {
		if len(g.kinds) == 0 {
			continue // nothing of it was written
		}
		a.Groups = append(a.Groups, account.NewGroup(g.describe(u.step.Seconds), g.work(&u, latencies),
			workload.GroupSeed(t.Seed, i)))
	}
	a.Operations()
	a.Unknown = nil
	for _, g := range u.groups {
		if t.Recorded != "" {
			continue // errors and times of another program's operations are unknown
		}
		g.addSeen(&a.Builder)
	}
	u.step.Take(&a.Sheet)
	u.step.Status = Running
	u.step.Warnings = append([]metric.Warning{partial}, u.step.Warnings...)
	t.Steps = append(t.Steps, u.step)
	return nil
}

// unrecovered are the metrics that neither the series nor the latency log give:
// they have failed attempts per group only, and no undone operations; and those
// that are more accurate in the series than in the log, see addSeen.
var unrecovered = map[string]bool{
	metric.Errors: true, metric.Attempts: true, metric.Unfinished: true, metric.WastedStatements: true,
	metric.SaturatedFlag: true, metric.SLABacklog: true, metric.QueueMax: true, metric.Abandoned: true,
	metric.StatementsPerS: true, metric.AttemptTotalS: true, metric.ServiceMaxUS: true, metric.ResponseMaxUS: true,
}

// unfinished holds the contents of the series of a step that has not ended.
type unfinished struct {
	t      *Trial
	step   Step
	groups []*seen
}

// seen holds the data of the series about a group.
type seen struct {
	is       *Group // as it was described; nil: unknown
	name     string
	kinds    []*seenKind
	rates    []hist.Rate
	errors   int64
	arrivals *hist.Arrivals
	undone   *hist.Dist // of operations of unknown variety; nil: none
}

// seenKind holds the data of the series about an operation kind.
type seenKind struct {
	workload.OpKind
	hist.Counts
	service, response float64 // the greatest times, in µs
	undone            int64   // operations that were not done, as far as the log has their ages
}

func (u *unfinished) group(name string) *seen {
	for _, g := range u.groups {
		if g.name == name {
			return g
		}
	}
	g := &seen{name: name}
	u.groups = append(u.groups, g)
	return g
}

func (g *seen) kind(l *Line) *seenKind {
	for _, k := range g.kinds {
		if k.Name == l.Op {
			return k
		}
	}
	k := &seenKind{OpKind: workload.OpKind{Name: l.Op, Upkeep: l.Upkeep}}
	if g.is != nil {
		k.Of = g.is.Of[l.Op]
	}
	g.kinds = append(g.kinds, k)
	return k
}

// add adds a line of the series.
func (u *unfinished) add(l Line) error {
	if u.step.Name == "" && !slices.ContainsFunc(u.t.Steps, func(s Step) bool { return s.Name == l.Step }) {
		u.step.Name = l.Step
	}
	if l.Step != u.step.Name {
		return nil
	}
	u.step.Seconds = max(u.step.Seconds, l.T)
	g := u.group(l.Group)
	k := g.kind(&l)
	k.Ops += l.Ops
	k.Work.Add(&model.Work{Rows: l.Rows, Reads: l.Reads, Writes: l.Writes, Others: l.Others})
	k.Retries, k.GivenUp = k.Retries+l.Retries, k.GivenUp+l.GivenUp
	k.Attempts += l.Ops + l.Retries + l.GivenUp
	k.service, k.response = max(k.service, l.Max), max(k.response, l.ResponseMax)
	if g.is != nil && g.is.Rate > 0 { // operations in flight take longer still
		k.response = max(k.response, l.OldestInFlight)
	}
	g.errors += l.Errors
	if q := l.Queue; q != nil {
		if g.arrivals == nil {
			g.arrivals = &hist.Arrivals{}
		}
		g.arrivals.Offered, g.arrivals.Shed = g.arrivals.Offered+q.Offered, g.arrivals.Shed+q.Shed
	}
	if g.is == nil || l.DT < u.t.Interval/2 {
		return nil // a short remainder has too few operations for a rate
	}
	if n := len(g.rates); n == 0 || g.rates[n-1].To != l.T {
		g.rates = append(g.rates, hist.Rate{From: l.T - l.DT, To: l.T})
	}
	r := &g.rates[len(g.rates)-1]
	if !l.Upkeep {
		r.Units, r.Ops = r.Units+float64(l.Rows), r.Ops+float64(l.Ops)
	}
	r.Oldest = max(r.Oldest, l.OldestInFlight/1e6)
	return nil
}

// total returns the operations and rows that were done, without upkeep.
func (g *seen) total() (ops, rows int64) {
	for _, k := range g.kinds {
		if !k.Upkeep {
			ops, rows = ops+k.Ops, rows+k.Rows
		}
	}
	return ops, rows
}

// mostDue limits how many operations of a schedule are walked: a foreign file
// may contain any rate.
const mostDue = 1e8

// describe returns the group as it was planned. Units per operation are the
// average; the work of each client is unknown, as is all of a group that was not described.
func (g *seen) describe(seconds float64) *workload.Group {
	w := &workload.Group{Name: g.name, Clients: 1, RowsPerOp: 1}
	if g.is != nil {
		slices.SortStableFunc(g.kinds, func(a, b *seenKind) int {
			return cmp.Compare(slices.Index(g.is.Ops, a.Name), slices.Index(g.is.Ops, b.Name))
		})
	}
	for _, k := range g.kinds {
		w.Ops = append(w.Ops, k.OpKind)
	}
	if g.is == nil {
		return w
	}
	w.Clients, w.Parts = max(1, g.is.Clients), g.is.Parts
	if ops, rows := g.total(); ops > 0 {
		w.RowsPerOp = max(1, int64(math.Round(float64(rows)/float64(ops))))
	}
	switch {
	case !(g.is.Rate*seconds > 0) || g.is.Rate*seconds > mostDue:
	case !g.is.Open:
		w.Rate, w.Pace = g.is.Rate/float64(w.RowsPerOp)/float64(w.Clients), pace.Kind(g.is.Pace)
	case g.arrivals != nil && g.is.Ramp != nil:
		w.Arrivals = pace.Constant(pace.Kind(g.is.Pace), g.is.Rate)
		if len(g.is.Ramp) > 0 {
			w.Arrivals.Segments = g.is.Ramp
		}
		w.Arrivals.Queue = g.is.Queue
	}
	if g.is.Rate > 0 && !w.Paced() {
		g.rates, g.arrivals = nil, nil // the operations due are unknown
	}
	return w
}

// work returns the group's work.
func (g *seen) work(u *unfinished, latencies map[string]*hist.Dist) *hist.Group {
	end := time.Duration(math.Round(u.step.Seconds * 1e9))
	out := &hist.Group{Rates: g.rates, End: end, Plan: end, Arrivals: g.arrivals}
	out.InPlan, _ = g.total()
	for _, k := range g.kinds {
		s := hist.NewSums(hist.Shape{Paced: true, Attempts: true}) // empty ones make no rows
		s.Counts = k.Counts
		for measure, into := range map[string]*hist.Dist{"service": s.Service, "response": s.Response,
			"lateness": s.Lateness, "attempt": s.Attempt} {
			into.Merge(latencies[LatencyTag(u.step.Name, g.name, k.Name, measure)])
		}
		if n := s.Response.Count(); n > k.Ops { // with the ages of those that were not done
			k.undone, k.response = n-k.Ops, max(k.response, float64(s.Response.Max())/1e3)
		}
		out.Kinds = append(out.Kinds, s)
	}
	if g.is != nil {
		for _, part := range g.is.Parts {
			dist := hist.NewDist()
			dist.Merge(latencies[LatencyTag(u.step.Name, g.name, part, "statement")])
			out.Parts = append(out.Parts, dist)
		}
	}
	if first := g.kinds[0]; first.Of != "" {
		out.Undone = latencies[LatencyTag(u.step.Name, g.name, first.Of, "response")] // of the whole
		g.undone = out.Undone
	}
	return out
}

// addSeen adds the figures that the series cover to the end and the latency
// log, which is written less often, does not: errors and maximum times.
// Operations in flight in a group with a rate took longer still.
func (g *seen) addSeen(b *account.Builder) {
	ops := int64(0)
	var wholes []*seenKind
	for _, k := range g.kinds {
		ops += k.Ops
		if k.Of == "" {
			continue
		}
		i := slices.IndexFunc(wholes, func(w *seenKind) bool { return w.Name == k.Of })
		if i < 0 {
			i = len(wholes)
			wholes = append(wholes, &seenKind{OpKind: workload.OpKind{Name: k.Of}})
		}
		w := wholes[i]
		w.Ops, w.service, w.response = w.Ops+k.Ops, max(w.service, k.service), max(w.response, k.response)
	}
	if g.undone != nil && len(wholes) > 0 {
		wholes[0].undone, wholes[0].response = g.undone.Count(), max(wholes[0].response, float64(g.undone.Max())/1e3)
	}
	b.Put(metric.Errors, float64(g.errors), account.Of(g.name, ""), account.Count(g.errors+ops))
	for _, k := range slices.Concat(g.kinds, wholes) {
		subject, n := account.Of(g.name, k.Name), account.Count(k.Ops)
		if k.response > 0 {
			b.Put(metric.ResponseMaxUS, k.response, subject, account.Count(k.Ops+k.undone))
		}
		if k.Ops > 0 {
			b.Put(metric.ServiceMaxUS, k.service, subject, n)
		}
	}
}

// LatencyTag returns the tag of a distribution in the latency log.
func LatencyTag(step, group, op, measure string) string {
	return strings.ReplaceAll(strings.Join([]string{step, group, op, measure}, "/"), " ", "_")
}

// readLatencies reads the latency log, merged by tag.
func readLatencies(dir string) (map[string]*hist.Dist, error) {
	f, err := regular.Open(filepath.Join(dir, LatencyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return hist.ReadLog(f)
}
