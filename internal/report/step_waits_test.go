package report

import (
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// addWaits adds samples of a server's sessions to a step.
func addWaits(t *result.Trial, s *result.Step, shares map[engine.Role]float64, us float64, per string) {
	add := rowAdder(t, s)
	for _, role := range engine.Roles() {
		if share, ok := shares[role]; ok {
			add("", string(role), "wait_share", share, "ratio", "")
			add("", string(role), "wait_us", share*us, "µs", per)
			add("", string(role), "wait_share", share, "ratio", "")
			s.Rows[len(s.Rows)-1].Labels = metric.Labels{State: string(engine.Waiting), Event: "Type:" + string(role)}
		}
	}
	add("", "", "client_share", shares[engine.RoleClient], "ratio", "")
}

// waiting returns a campaign whose first two targets have waits in a step.
func waiting() Input {
	in := fixture(1)
	for i, shares := range []map[engine.Role]float64{
		{engine.RoleCPU: 0.1, engine.RoleRow: 0.2, engine.RoleLog: 0.06, engine.RoleClient: 0.64},
		{engine.RoleExecuting: 0.5, engine.RoleCommit: 0.45, engine.RoleClient: 0.05},
	} {
		t := in.Trials[i].Trial
		s := &t.Steps[2]
		addWaits(t, s, shares, 100*float64(i+1), "insert row")
		if i == 0 {
			s.Warnings = append(s.Warnings, metric.Warn(remark.ClientBound, metric.Values{"share": 64.0, "processors": 2.0, "used": 1.9, "waited": 0.0}))
			rowAdder(t, s)("", string(engine.RoleRow), "timed_wait_us", 17, "µs", "insert row")
		}
	}
	return in
}

func TestWaits(t *testing.T) {
	in := waiting()
	c := newCampaign(in.Trials)
	if w := waitBlocks(c.steps[1]); w != nil {
		t.Errorf("a step without waits has %+v", w)
	}
	blocks := waitBlocks(c.steps[2])
	expect.Must(t, len(blocks) == 4, blocks)
	w, words := blocks[2].(page.Stacks), blocks[3].(page.List).Items
	expect.Must(t, len(w.Rows) == 3 && w.Title == "time of the sessions per insert row", w)
	var legend []string
	for _, p := range w.Legend {
		legend = append(legend, p.Label)
	}
	expect.Equal(t, strings.Join(legend, ", "), "cpu, executing, row lock, log, commit, client", "the roles are")
	for i, b := range w.Rows[:2] {
		length := 0.0
		for _, p := range b.Parts {
			length += p.Length
		}
		want := []float64{50, 100}[i]
		expect.True(t, length >= want-0.01 && length <= want+0.01, "bar is long", i, length)
	}
	if b := w.Rows[2]; b.Absent == "" || len(b.Parts) > 0 {
		t.Errorf("a target that knows nothing has %+v", b)
	}
	expect.True(t, len(words) == 2 && strings.Contains(words[0].Text, "the client was the bottleneck") &&
		!strings.Contains(words[1].Text, "the client was the bottleneck"), words)

	html := render(t, in)
	expect.All(t, html, "Where the time of the sessions went", `class="part w2"`, "row lock: Type:row lock", "timed µs per insert row", "pebble: the server waited for its client for 64 % of the sessions’ time; the client was the bottleneck", "not reported by the engine")
	expect.Equal(t, render(t, waiting()), html, "the same input gave different bytes")
	md := markdown(t, in)
	expect.All(t, md, "### Time of the sessions by role", "- pebble: the server waited for its client for 64 %")
}

// Every role has its words.
func TestRolesHaveWords(t *testing.T) {
	for _, role := range engine.Roles() {
		expect.True(t, role.Doc() != "", "role has no words", role)
	}
}
