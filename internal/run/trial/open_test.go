package trial

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// scripted is a run of one step with one group, whose clients do what do says.
type scripted struct {
	workload.Run
	group workload.Group
	do    func(out *workload.Outcome, value, attempt int) error
}

func (r scripted) Steps() []workload.Step {
	return []workload.Step{{Name: "s", Primary: "transaction", Seconds: 0.6, Groups: []workload.Group{r.group},
		Open: func(context.Context, workload.Env) (workload.Stage, error) { return r, nil }}}
}

func (r scripted) Client(context.Context, workload.Seat) (workload.Client, error) {
	return &scriptedClient{run: r}, nil
}

func (r scripted) Finish(context.Context, workload.Totals) (workload.Finding, error) {
	return workload.Finding{}, nil
}

// statementTime is about a millisecond, and does not end with an interval: in simulated
// time that would be the same moment.
const statementTime = 1003 * time.Microsecond

type scriptedClient struct {
	run            scripted
	value, attempt int
}

func (c *scriptedClient) Do(_ context.Context, out *workload.Outcome) error {
	c.attempt++
	out.Parts.Reset()
	for part := range 2 {
		out.Parts.Start()
		time.Sleep(statementTime)
		out.Parts.Stop(part)
		out.Reads++
	}
	if err := c.run.do(out, c.value, c.attempt); err != nil {
		return err
	}
	out.Rows, out.Writes, out.Others = 1, 3, 2
	c.Abandon()
	return nil
}

func (c *scriptedClient) Abandon() { c.value, c.attempt = c.value+1, 0 }

func script(t *testing.T, g workload.Group, do func(out *workload.Outcome, value, attempt int) error, sets ...string) Spec {
	s := spec(t, "memory", sets...)
	g.Name = "t"
	if g.Ops == nil {
		g.Ops = []workload.OpKind{{Name: "transaction", Unit: "transaction"}}
	}
	s.Plan.Run, s.coarse = scripted{s.Plan.Run, g, do}, true
	return s
}

// every4th value meets a deadlock at its first attempt.
func every4th(_ *workload.Outcome, value, attempt int) error {
	if value%4 == 3 && attempt == 1 {
		return engine.Errorf(engine.Deadlock, "in the way")
	}
	return nil
}

// Retries are reported, with statements, attempts and fairness, and does not
// make a step invalid.
func TestRetriesAreTold(t *testing.T) { synctest.Test(t, testRetriesAreTold) }

func testRetriesAreTold(t *testing.T) {
	s := script(t, workload.Group{Clients: 3, Parts: []string{"select", "update"}, Retry: workload.Retry{Policy: workload.RetrySame}}, every4th)
	tr := run(t, s, result.Complete)
	st := step(t, tr, "s")
	v := func(op, metric string) float64 { return value(t, st, "t", op, metric) }
	ops := v("transaction", "rows")
	seconds := value(t, st, "", "", "duration_s")
	errs := v("transaction", "errors_deadlock")
	if errs == 0 || v("transaction", "attempts") != ops+errs || math.Abs(v("transaction", "retries")-errs) > 3 || v("transaction", "given_up") != 0 {
		t.Errorf("%v operations, %v errors, %v attempts, %v retries", ops, errs, v("transaction", "attempts"), v("transaction", "retries"))
	}
	expect.True(t, v("", "errors") == errs && v("transaction", "wasted_statements") == 2*errs,
		"errors, wasted statements", v("", "errors"), v("transaction", "wasted_statements"))
	for metric, each := range map[string]float64{"queries_per_s": 7, "reads_per_s": 2, "writes_per_s": 3, "others_per_s": 2} {
		got := v("transaction", metric) * seconds / ops
		expect.True(t, math.Abs(got-each) <= 1e-9, "for each operation", metric, got, each)
	}
	for _, part := range []string{"select", "update"} {
		if n := row(t, st, "t", part, "statement_p99_us").N; float64(n) != ops || v(part, "statement_p50_us") < 1000 || math.Abs(v(part, "statements_per_s")*seconds-ops) > 1e-6 {
			t.Errorf("%s: %d of %v", part, n, ops)
		}
	}
	// An operation that was tried twice took two attempts.
	expect.True(t, v("transaction", "attempt_max_us") >= 2000 && v("transaction", "service_max_us") >= 4000 && v("transaction", "service_p50_us") >= v("transaction", "attempt_p50_us"), dump(st.Rows))
	// The statements are nearly all of the attempts that succeeded; the others
	// took time too.
	statements := v("select", "statement_total_s") + v("update", "statement_total_s")
	if attempts, service := v("transaction", "attempt_total_s"), v("transaction", "service_total_s"); statements > attempts || service-attempts < 0.002*errs-0.002*3 {
		t.Errorf("statements took %v of %v, operations %v", statements, attempts, service)
	}
	if n := v("transaction", "unfinished"); n > 3 || n == 0 && !has(metric.Texts(st.Notes), "all were tried again") || n > 0 && !has(metric.Texts(st.Notes), "all others were tried again") {
		t.Errorf("%v unfinished: %q", n, st.Notes)
	}
	mean := v("", "fairness_ops_mean")
	expect.True(t, math.Abs(mean*3-ops) <= 1e-6 && v("", "fairness_ops_stddev") <= mean, "mean of", mean, ops)
	measures := map[string]int{}
	for _, c := range st.Curves {
		measures[c.Measure]++
	}
	expect.Equal(t, fmt.Sprint(measures), "map[attempt:1 service:1 statement:2]", "curves", measures)
	var sum result.Line
	for _, l := range lines(t, s.Dir, "ops") {
		sum.Ops, sum.Reads, sum.Writes, sum.Others, sum.Retries, sum.Errors = sum.Ops+l.Ops, sum.Reads+l.Reads, sum.Writes+l.Writes, sum.Others+l.Others, sum.Retries+l.Retries, sum.Errors+l.Errors
		expect.True(t, l.Ops <= 0 || l.P95 >= l.P50 && l.P99 >= l.P95, l)
	}
	if float64(sum.Ops) != ops || float64(sum.Reads) != 2*ops || float64(sum.Writes) != 3*ops || float64(sum.Others) != 2*ops || float64(sum.Errors) != errs || float64(sum.Retries) != v("transaction", "retries") {
		t.Errorf("the series sum up to %+v, the step to %v operations, %v errors, %v retries", sum, ops, errs, v("transaction", "retries"))
	}
}

// Operations that are given up after all their attempts did fail: more than
// allowed make a step invalid. If nothing is retried, that is reported.
func TestGivenUp(t *testing.T) { synctest.Test(t, testGivenUp) }

func testGivenUp(t *testing.T) {
	g := workload.Group{Clients: 1, Retry: workload.Retry{Max: 1}}
	st := step(t, run(t, script(t, g, every4th), result.Invalid), "s")
	if n := value(t, st, "t", "transaction", "given_up"); n == 0 || n != value(t, st, "t", "transaction", "errors_deadlock") || value(t, st, "t", "transaction", "retries") != 0 {
		t.Errorf("%s", dump(st.Rows))
	}
	if n := row(t, st, "t", "transaction", "failed_p50_us").N; float64(n) != value(t, st, "t", "transaction", "given_up") || value(t, st, "t", "transaction", "failed_max_us") < 2000 {
		t.Errorf("%s", dump(st.Rows))
	}
	if st := step(t, run(t, script(t, g, every4th, "errors_allowed=50%"), result.Complete), "s"); !has(metric.Texts(st.Warnings), "1 failed") && !has(metric.Texts(st.Warnings), "deadlock") {
		t.Errorf("%q", st.Warnings)
	}
	g.Retry = workload.Retry{Policy: workload.RetryNone}
	if st := step(t, run(t, script(t, g, every4th), result.Complete), "s"); !has(metric.Texts(st.Warnings), "were given up because of “retry: none”") || value(t, st, "t", "transaction", "given_up") == 0 {
		t.Errorf("%q", st.Warnings)
	}
	g.Retry.Policy = workload.RetryNew
	st = step(t, run(t, script(t, g, every4th), result.Complete), "s")
	expect.True(t, value(t, st, "t", "transaction", "retries") != 0 && value(t, st, "t", "transaction", "given_up") == 0 && has(metric.Texts(st.Notes), "were tried again"), dump(st.Rows))
}

// A client is not thinking while it does what comes to nothing, and the step is
// as long as its time.
func TestNothingButFailures(t *testing.T) { synctest.Test(t, testNothingButFailures) }

func testNothingButFailures(t *testing.T) {
	first := func(_ *workload.Outcome, value, _ int) error {
		if value > 0 {
			return engine.Errorf(engine.Deadlock, "in the way")
		}
		return nil
	}
	for _, retry := range []workload.Retry{{Policy: workload.RetryNone}, {Policy: workload.RetrySame, Backoff: time.Millisecond}} {
		s := script(t, workload.Group{Clients: 1, Retry: retry}, first, "errors_allowed=100%")
		tr, _ := Run(t.Context(), s)
		st := step(t, tr, "s")
		think := value(t, st, "t", "", "think_share")
		expect.True(t, think <= 0.5, "the client was thinking for of the time", retry, think)
		length := value(t, st, "", "", "duration_s")
		expect.True(t, length >= 0.6, "a window of s of 0.6 s", retry, length)
		n := value(t, st, "t", "transaction", "given_up") + value(t, st, "t", "transaction", "unfinished")
		expect.True(t, n != 0, retry, dump(st.Rows))
	}
}

// Arrivals beyond what the clients can do are shed and reported.
func TestShedding(t *testing.T) { synctest.Test(t, testShedding) }

func testShedding(t *testing.T) {
	a := pace.Constant(pace.Even, 2000) // two clients of 2 ms an operation can do half of it
	a.Queue = 50
	s := script(t, workload.Group{Clients: 2, Arrivals: a}, func(*workload.Outcome, int, int) error { return nil })
	st := step(t, run(t, s, result.Complete), "s")
	v := func(metric string) float64 { return value(t, st, "t", "", metric) }
	offered := row(t, st, "t", "", "offered_per_s").N
	done := value(t, st, "t", "transaction", "rows")
	if offered != 1200 || float64(offered) != done+v("shed")+v("abandoned") || v("shed") < 100 || v("queue_max") != 50 || v("abandoned") > 53 {
		t.Errorf("of %d: %v done, %v shed, %v abandoned, %v waited", offered, done, v("shed"), v("abandoned"), v("queue_max"))
	}
	expect.True(t, v("sla_met") == 0 && v("saturated") == 1 && has(metric.Texts(st.Warnings), "were shed"), st.Warnings)
	if w := row(t, st, "t", "transaction", "response_p99_us").Warnings; !has(metric.Texts(w), "in no response time") {
		t.Errorf("response times: %q", w)
	}
	if w := row(t, st, "t", "transaction", "service_p99_us").Warnings; has(metric.Texts(w), "in no response time") {
		t.Errorf("service times: %q", w)
	}
	var q hist.Queue
	for _, l := range lines(t, s.Dir, "ops") {
		expect.Must(t, l.Queue != nil, l)
		q.Offered, q.Started, q.Shed, q.Waiting = q.Offered+l.Queue.Offered, q.Started+l.Queue.Started, q.Shed+l.Queue.Shed, l.Queue.Waiting
	}
	expect.True(t, q.Offered == offered && float64(q.Shed) == v("shed") && q.Started+q.Shed+q.Waiting == q.Offered,
		"the series sum up to", q)
}

// A list of rates makes a step of each, which differ in the rate only.
func TestRates(t *testing.T) { synctest.Test(t, testRates) }

func testRates(t *testing.T) {
	s := script(t, workload.Group{Clients: 1}, func(*workload.Outcome, int, int) error { return nil })
	s.Plan.Rate = &plan.Rate{At: []float64{50, 100}, Like: pace.Arrivals{Kind: pace.Even}}
	tr := run(t, s, result.Complete)
	for _, rate := range []float64{50, 100} {
		st := step(t, tr, fmt.Sprintf("s@%g", rate))
		expect.True(t, st.Base == "s" && len(st.Axes) == 1 && st.Axes[0].Value == rate, st.Name, st.Base, st.Axes)
		n := row(t, st, "t", "", "offered_per_s").N
		expect.True(t, float64(n) == rate*0.6, "in 0.6 s", st.Name, n)
	}
	expect.Equal(t, len(tr.Steps), 2, "steps")
}
