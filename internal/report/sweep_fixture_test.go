package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// sweepTarget is a made-up target of sweeps.
type sweepTarget struct {
	name, engine, isolation string
	law                     scaling
	retries                 float64 // per operation and client
}

// scaling is throughput over clients: that of one client, contention between clients, and the cost of their coherency.
type scaling struct{ gain, contention, coherency float64 }

func (s scaling) at(n float64) float64 {
	return s.gain * n / (1 + s.contention*(n-1) + s.coherency*n*(n-1))
}

var sweepTargets = []sweepTarget{
	{"innodb-rr", "mysql", "repeatable-read", scaling{1400, 0.04, 0.0003}, 0.0004},
	{"innodb-rc", "mysql", "read-committed", scaling{1390, 0.05, 0.0009}, 0.0001},
	{"postgres-rr", "postgres", "repeatable-read", scaling{1700, 0.03, 0.0001}, 0.001},
	{"postgres-rc", "postgres", "read-committed", scaling{1700, 0.03, 0.00012}, 0.0001},
}

// sweepStep is a step of the made-up sweeps.
type sweepStep struct {
	base            string
	axes            []result.Axis
	clients, tables float64
	weight          float64 // of an operation
}

// sweepSteps returns the steps of several tests at each number of clients, of one
// with one, eight and 32 tables, and of one with several mixes.
func sweepSteps(tests int, clients []float64) (out []sweepStep) {
	for i := range tests {
		for _, c := range clients {
			out = append(out, sweepStep{fmt.Sprintf("test-%d", i+1), []result.Axis{{Name: "clients", Value: c}}, c, 8, float64(1 + i)})
		}
	}
	for _, tables := range []float64{1, 8, 32} {
		for _, c := range clients {
			out = append(out, sweepStep{"read-write", []result.Axis{{Name: "clients", Value: c}, {Name: "tables", Value: tables}}, c, tables, 5})
		}
	}
	for _, r := range []float64{1, 2, 4, 16, 128} {
		out = append(out, sweepStep{"mix", []result.Axis{{Name: "reads per write", Value: r}, {Name: "clients", Value: 16}}, 16, 8, 1 + 4/r})
	}
	return out
}

// sweepFixture returns a made-up campaign of sweeps.
func sweepFixture(trials, tests int, clients ...float64) Input {
	in := Input{Title: "Isolation levels", Plan: "name: isolation\n", Commands: []string{"rumbench run isolation.yaml"}}
	rnd := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= trials; n++ {
		for _, st := range sweepTargets {
			t := sweepTrial(rnd, st, n, sweepSteps(tests, clients))
			in.Trials = append(in.Trials, Trial{Trial: t, Series: fixtureSeries(t)})
		}
	}
	return in
}

func sweepTrial(rnd *rand.Rand, st sweepTarget, n int, steps []sweepStep) *result.Trial {
	start := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	t := &result.Trial{
		Format: result.Format, Campaign: "isolation", Target: st.name, Trial: n, Order: "interleaved", Engine: st.engine, Workload: "sysbench", Params: map[string]any{"tables": 8.0},
		Knobs: map[string]string{"isolation": st.isolation, "durability": "process"}, Durability: "process", Interval: 1, Status: result.Complete, Started: start, Ended: &start,
		Versions: []observe.Fact{{Name: "server", Value: st.engine + " 1"}}, Host: []observe.Fact{{Name: "kernel", Value: "6.12"}},
	}
	for _, p := range steps {
		t.Steps = append(t.Steps, p.step(rnd, st, t))
	}
	return t
}

func (p sweepStep) step(rnd *rand.Rand, st sweepTarget, t *result.Trial) result.Step {
	name := p.base
	for _, a := range p.axes {
		name += fmt.Sprintf(".%c%g", a.Name[0], a.Value)
	}
	s := result.Step{Name: name, Doc: "What " + p.base + " does.", Base: p.base, Axes: p.axes, Status: result.Complete, Seconds: 30, Primary: "transaction", WritesPer: "transaction", Started: t.Started,
		Groups: []result.Group{{Name: "clients", Clients: int(p.clients), Ops: []string{"transaction"}}}}
	add := rowAdder(t, &s)
	law := st.law
	if p.tables == 1 {
		law.contention *= 3
	}
	rate := law.at(p.clients) / p.weight * math.Exp(0.015*rnd.NormFloat64())
	add("clients", "transaction", "rows", math.Round(rate*30), "count", "")
	add("clients", "transaction", "rows_per_s", rate, "1/s", "")
	add("clients", "transaction", "ops_per_s", rate, "1/s", "")
	fixtureLatency(&s, add, "clients", "transaction", "service", 1e6*p.clients/rate/3*math.Exp(0.03*rnd.NormFloat64()))
	for i := range s.Rows {
		if m := s.Rows[i].Metric; m == "rows" || m == "ops_per_s" {
			s.Rows[i].N = int64(math.Round(rate * 30))
		}
	}
	add("clients", "", "errors", math.Round(rate*30*st.retries*p.clients), "count", "")
	failed := math.Round(rate * 30 * st.retries * p.clients)
	if failed > 0 {
		add("clients", "transaction", "attempts", math.Round(rate*30)+failed, "count", "")
		add("clients", "transaction", "retries", failed, "count", "")
		add("clients", "transaction", "given_up", 0, "count", "")
		add("clients", "transaction", "unfinished", 0, "count", "")
		add("clients", "transaction", "wasted_statements", 9*failed, "count", "")
		add("clients", "transaction", "errors_deadlock", failed, "count", "")
	}
	attempts := p.clients * 29 * rate * 30 / (rate*30 + failed)
	add("clients", "transaction", "service_total_s", p.clients*29, "s", "")
	add("clients", "transaction", "attempt_total_s", attempts, "s", "")
	for i, name := range []string{"point", "update", "commit"} {
		add("clients", name, "statements_per_s", rate*float64(10/(1+9*i)), "1/s", "")
		add("clients", name, "statement_total_s", attempts*[]float64{0.6, 0.2, 0.17}[i], "s", "")
		fixtureLatency(&s, add, "clients", name, "statement", 1e6*p.clients/rate/30)
	}
	for _, m := range []string{"cpu_us", "server_cpu_us", "client_cpu_us", "context_switches", "write_kb", "read_kb"} {
		add("", "", m, 100*p.weight*math.Exp(0.02*rnd.NormFloat64()), metric.ByName(m).Unit, "transaction")
	}
	add("", "", "db_bytes", 1<<30, "B", "")
	add("", "", "space_amplification", 1.4, "ratio", "")
	for k := range 100 {
		s.Counters = append(s.Counters, result.CounterChange{Name: fmt.Sprintf("%s.counter_%d", t.Engine, k), Kind: engine.Counter, Unit: "count", Value: math.Floor(math.Exp(20 * rnd.Float64()))})
	}
	return s
}
