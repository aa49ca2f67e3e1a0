package plan

import (
	"fmt"
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// stop reads when the campaign may end early.
func (b *binder) stop(f strictyaml.Fields, p *Plan) {
	fields, ok := section(f, "stop", stopKeys, &p.Stop)
	if !ok {
		return
	}
	b.refuse(stopExclusions(fields, f, p)...)
	if p.Stop.Precision > 0 && p.Stop.MinTrials == 0 {
		p.Stop.MinTrials = min(usualMinTrials, p.Trials)
	}
}

// readBetween reads what happens between trials.
func readBetween(b *binder, f strictyaml.Fields, p *Plan) {
	const help = "as in between: {trim: true, rest: 60s}"
	n := f.Value("between")
	if n == nil || !b.Is(n, strictyaml.Mapping, "between is not a map", help) {
		return
	}
	fields, remaining := b.Fields(n, "between", betweenKeys.Names()), n.Key("rest")
	if !b.refuse(
		exclusion{remaining, remaining != nil && f.Of.Key("cool_down") != nil, "rest and cool_down are the same",
			"remove cool_down"},
		exclusion{n, len(n.Entries) == 0, "between does nothing", help + ", or remove it"},
	) {
		betweenKeys.Bind(fields, &p.Between)
	}
}

// readProfile reads whether the trials are profiled.
func readProfile(b *binder, f strictyaml.Fields, p *Plan) {
	n := f.Value("profile")
	if n == nil {
		p.Profile = Profile{Mode: result.ProfileSampled, Hertz: usualHertz}
		return
	}
	const usualLooks = 20
	out := Profile{Mode: result.ProfileExtra, Hertz: usualHertz, Files: true, Threads: usualLooks}
	if n.Kind == strictyaml.Mapping {
		own := b.Fields(n, "profile", profileKeys.Names())
		profileKeys.Bind(own, &out)
		for _, key := range []string{keyFiles, keyThreads} {
			if at := own.Value(key); at != nil && out.Mode != result.ProfileExtra {
				b.At(at, key+" are profiled in extra trials only: it costs more than samples do",
					"remove "+key+", or set mode: extra")
			}
		}
	} else {
		strictyaml.Bind(f, "profile", profileMode, func(m result.Profiling) { out.Mode = m })
	}
	p.Profile = out
	b.refuse(profileExclusions(n, p))
}

// question reads the question that the comparison of the targets is to answer.
func (b *binder) question(f strictyaml.Fields, p *Plan) {
	q := &p.Question
	fields, ok := section(f, "question", questionKeys, q)
	if !ok {
		return
	}
	q.Steps = fields.Words("steps", questionHint, func(name string) (string, error) { return stepNamed(p, name) })
	q.Metrics = fields.Words("metrics", questionHint, metric.JudgedAs)
	if reason := q.Contradiction(); reason != "" {
		b.At(fields.Of.Key("equivalent_within"), reason, "lower equivalent_within")
	}
	if !q.Declared() && len(fields.Of.Entries) == 0 {
		b.At(fields.Of, "question asks nothing", questionHint)
	}
}

const questionHint = "as in question: {steps: [l.i1], metrics: [throughput, p99], worse_by: 5%}"

// stepNamed returns a step that can be judged.
func stepNamed(p *Plan, name string) (string, error) {
	if p.Run == nil {
		return name, nil // that is reported already
	}
	names := stepNames(p.Steps(), func(s *workload.Step) bool { return s.HasClients() && !s.Warmup })
	if !slices.Contains(names, name) {
		return "", hint.Errorf(hint.OneOf(name, names), "there is no step %q to judge", name)
	}
	return name, nil
}

const restartHint = "as in restart: qr100, or restart: {before: [qr100], caches: kept}"

// readRestart reads before which steps the engine restarts.
func readRestart(b *binder, f strictyaml.Fields, p *Plan) {
	n, key := f.Value("restart"), "restart"
	if n == nil {
		return
	}
	b.restart = n
	r := Restart{Caches: workload.CachesDropped}
	if n.Kind == strictyaml.Mapping {
		f, key = b.Fields(n, key, restartKeys.Names()), "before"
		restartKeys.Bind(f, &r)
	}
	previous := len(b.Problems)
	r.Before = f.Words(key, restartHint, func(name string) (string, error) { return restartable(p, name) })
	if len(r.Before) == 0 && len(b.Problems) == previous {
		b.At(n, "restart names no step", restartHint)
	}
	p.Restart = r
}

// restartable returns a step before which the engine can restart.
func restartable(p *Plan, name string) (string, error) {
	if p.Run == nil {
		return name, nil // that is reported already
	}
	names := stepNames(slices.Concat(p.Run.Steps(), p.Steps()),
		func(s *workload.Step) bool { return s.HasClients() && !s.Creates })
	switch {
	case slices.Contains(names, name):
		return name, nil
	case slices.Contains(stepNames(p.Steps(), anyStep), name):
		return "", hint.Errorf(hint.OneOf("", names), "there is nothing to restart before %s, or it has no clients", name)
	}
	return "", hint.Errorf(hint.OneOf(name, names), "there is no step %q before which the engine can restart", name)
}

const rateHint = "as in rate: 2000, rate: [500, 1000, 2000] for a step each, or rate: {at: 2000, arrivals: poisson, " +
	"queue: 10000}"

// rate reads how operations arrive.
func (b *binder) rate(f strictyaml.Fields, p *Plan) {
	n := f.Value("rate")
	if n == nil {
		return
	}
	previous := len(b.Problems)
	r := &Rate{Like: pace.Arrivals{Kind: pace.Poisson}}
	switch n.Kind {
	case strictyaml.Mapping:
		fields := b.Fields(n, "rate", rateKeys.Names())
		forms := 0
		for key, dst := range map[string]*[]float64{"at": &r.At, "ramp": &r.Ramp, "steps": &r.Steps} {
			if v := fields.Value(key); v != nil {
				forms++
				*dst = rates(&b.Document, v, key)
			}
		}
		if forms != 1 {
			b.At(n, "rate has one of at, ramp and steps", rateHint)
		}
		if v := fields.Value("ramp"); v != nil && (v.Kind != strictyaml.List || len(v.Items) != 2) {
			b.At(v, "ramp is from one rate to another", "as in ramp: [500, 4000]")
		}
		rateKeys.Bind(fields, r)
	default:
		r.At = rates(&b.Document, n, "rate")
	}
	if !b.refuse(stepless(n, p, "rate")...) && len(b.Problems) == previous {
		p.Rate = r
	}
}

// rates reads a rate, or a list of them.
func rates(d *strictyaml.Document, n *strictyaml.Node, subject string) (out []float64) {
	items := []*strictyaml.Node{n}
	if n.Kind == strictyaml.List {
		if items = n.Items; len(items) == 0 {
			d.At(n, subject+" is empty", rateHint)
		}
	}
	for _, item := range items {
		v, err := perSecond.Read(item)
		switch {
		case item.Kind == strictyaml.Broken:
			continue
		case err != nil:
			d.At(item, subject+": "+err.Error(), rateHint)
			continue
		case slices.Contains(out, v) && subject != "steps" && subject != "ramp":
			d.At(item, fmt.Sprintf("%s: %s is given twice", subject, item.Text), "remove one")
		}
		out = append(out, v)
	}
	return out
}

// find reads the promise that a search is to keep.
func (b *binder) find(f strictyaml.Fields, p *Plan) {
	n := f.Value("find")
	if n == nil {
		return
	}
	d := &Find{Precision: usualPrecision, Credit: usualCredit, Hold: -1,
		Like: pace.Arrivals{Kind: pace.Poisson, LeadIn: usualLeadIn}}
	switch n.Kind {
	case strictyaml.Mapping:
		fields := b.Fields(n, "find", findKeys.Names())
		if n.Get("promise") == nil {
			b.At(n, "find has no promise", promiseHint)
		}
		findKeys.Bind(fields, d)
		if d.To > 0 && d.From >= d.To {
			b.At(fields.Value("from"), fmt.Sprintf("from: %g is not below to, which is %g", d.From, d.To), "")
		}
	default:
		strictyaml.Bind(f, "find", promise, d.keep)
	}
	if b.refuse(findExclusions(n, f, p)...) {
		return
	}
	b.refuse(tooShort(n, d, p.Run))
	p.Find = d
}

// tooShort excludes a bound of a search that is too low for its probes in a step of a run.
func tooShort(n *strictyaml.Node, d *Find, run workload.Run) exclusion {
	bound, rate := "from", d.From
	if rate == 0 {
		bound, rate = "to", d.To
	}
	for _, s := range run.Steps() {
		if lowest := d.LeastRate(s.Seconds); OpenGroup(&s) >= 0 && rate > 0 && rate < lowest {
			return exclusion{n.Get(bound), true,
				fmt.Sprintf("%s: %g/s is too low for probes of at most %g s: %s needs %.0f operations", bound, rate,
					d.Length(rate, s.Seconds), d.Promise, d.operations()),
				fmt.Sprintf("set seconds to at least %.0f (a probe becomes up to %d times as long), or %s to at least %.0f",
					math.Ceil(d.operations()/rate/lengthened), lengthened, bound, math.Ceil(lowest))}
		}
	}
	return exclusion{}
}

const leastMemory = 16 << 20 // bytes: with less no engine starts

// MachineKnobs returns the names of the keys of a machine.
func MachineKnobs() []string { return machineKeys.Names() }

const cpusHint = "a number, as cpus: 2, or a list of CPUs, as cpus: [0, 1]"

// readMachine reads the CPUs among the fields of a target, or of all.
func readMachine(b *binder, f strictyaml.Fields, m *Machine) {
	for key, dst := range map[string]*CPUs{"cpus": &m.CPUs, "client_cpus": &m.ClientCPUs} {
		if n := f.Value(key); n != nil {
			*dst = readCPUs(b, n, key)
		}
	}
	if n := f.Value("memory"); n != nil && m.Memory > 0 && m.Memory < leastMemory {
		b.At(n, fmt.Sprintf("memory: %s is too little for any engine", n.Text),
			"at least "+quantity.Bytes(int64(leastMemory)))
	}
}

func readCPUs(b *binder, n *strictyaml.Node, key string) (c CPUs) {
	if n.Kind != strictyaml.List {
		number, err := strictyaml.Integer(1, maxCPUs).Read(n)
		if err != nil {
			b.At(n, key+": "+err.Error(), cpusHint)
		}
		return CPUs{Number: number}
	}
	for _, item := range n.Items {
		cpu, err := strictyaml.Integer(0, maxCPUs).Read(item)
		switch {
		case err != nil:
			b.At(item, key+": "+err.Error(), cpusHint)
		case slices.Contains(c.Set, cpu):
			b.At(item, fmt.Sprintf("%s: CPU %d is given twice", key, cpu), "remove one")
		default:
			c.Set = append(c.Set, cpu)
		}
	}
	if len(n.Items) == 0 {
		b.At(n, key+" is empty", cpusHint)
	}
	slices.Sort(c.Set)
	return c
}
