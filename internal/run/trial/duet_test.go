package trial

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// fakePartner is the other trial of a duet: it remembers what was said to it, and
// says that its steps were over for a while, or that it has ended.
type fakePartner struct {
	heard []string
	alone time.Duration
	gone  string // the step before which it has ended
}

var errGone = errors.New("the other has ended")

func (p *fakePartner) Meet(_ context.Context, step string) error {
	p.heard = append(p.heard, "meet "+step)
	if step == p.gone {
		return errGone
	}
	return nil
}

func (p *fakePartner) Done(step string)     { p.heard = append(p.heard, "done "+step) }
func (p *fakePartner) Alone() time.Duration { return p.alone }

const duetSteps = "params.steps=[l.i0, l.x, settle, qr100]"

// A trial of a duet meets the other before every step, and has no figures that
// are of both.
func TestDuet(t *testing.T) {
	s := spec(t, "bbolt", duetSteps)
	p := &fakePartner{}
	s.Partner, s.Order, s.Slot = p, "duet", 3
	tr := run(t, s, result.Complete)
	want := []string{"meet l.i0", "done l.i0", "meet l.x", "done l.x", "meet settle", "done settle", "meet qr100", "done qr100"}
	expect.List(t, p.heard, want, "the partner heard")
	expect.True(t, tr.Order == "duet" && tr.Slot == 3 && tr.CPUs != "" && has(metric.Texts(tr.Warnings), "a duet: another target ran at the same time"), tr.Order, tr.Slot, tr.CPUs, tr.Warnings)
	common := []string{
		"host_cpu_us", "context_switches", "cpu_accounted", "device_reads", "read_kb", "write_kb", "discard_kb",
		"after_write_kb", "read_amplification", "drain_s", "others_read_kb", "others_write_kb",
	}
	for i := range tr.Steps {
		st := &tr.Steps[i]
		for _, r := range st.Rows {
			expect.True(t, !slices.Contains(common, r.Metric) && !strings.HasPrefix(r.Source, "host") && !strings.HasPrefix(r.Source, "device"), st.Name, r.Metric, r.Source)
		}
		for _, c := range st.Counters {
			expect.True(t, !strings.HasPrefix(c.Name, "host.") && !strings.HasPrefix(c.Name, "device."),
				"step has counter", st.Name, c.Name)
		}
		expect.Equal(t, st.Alone, 0, "step", st.Name)
	}
	load := step(t, tr, "l.i0")
	for _, name := range []string{"server_cpu_us", "process_write_kb", "server_memory_bytes"} {
		expect.True(t, load.Find(name, "", "") != nil || name == metric.ProcessWriteKB && metric.Has(load.Warnings, remark.ImpossibleIO), name)
	}
	expect.True(t, len(lines(t, s.Dir, "host")) == 0 && len(lines(t, s.Dir, "device")) == 0,
		"the series has figures of the machine")
	page(t, s.Dir, tr)
}

// What was measured while the other was over gets a warning, if it is much.
func TestAloneInDuet(t *testing.T) {
	t.Parallel()
	s := spec(t, "memory", duetSteps, "params.query_seconds=1")
	s.Partner = &fakePartner{alone: 50 * time.Millisecond}
	tr := run(t, s, result.Complete)
	q := step(t, tr, "qr100") // takes a second: a twentieth is little
	expect.True(t, q.Alone == 0.05 && has(metric.Texts(q.Notes), "it ran alone for the last 0.05 s, ") && !has(metric.Texts(q.Warnings), "alone"), q.Alone, q.Notes, q.Warnings)

	s = spec(t, "memory", duetSteps, "params.query_seconds=1")
	s.Partner = &fakePartner{alone: 500 * time.Millisecond}
	tr = run(t, s, result.Complete)
	q = step(t, tr, "qr100")
	expect.True(t, q.Alone == 0.5 && has(metric.Texts(q.Warnings), "it ran alone for the last 0.5 s, "),
		"alone for s, warnings", q.Alone, q.Warnings)
	for _, name := range []string{"rows_per_s", "service_p99_us"} {
		r := row(t, q, "query", "query", name)
		expect.True(t, has(metric.Texts(r.Warnings), "it ran alone"), "carries no warning", name)
	}
	if l := step(t, tr, "l.i0"); l.Alone > l.Seconds || l.Alone <= 0 { // it is shorter than the partner's answer
		t.Errorf("alone for %v of %v s", l.Alone, l.Seconds)
	}
}

// A trial whose partner has ended does not go on; what it measured stays.
func TestPartnerEnded(t *testing.T) {
	s := spec(t, "memory", duetSteps)
	s.Partner = &fakePartner{gone: "qr100"}
	tr := run(t, s, result.Failed)
	expect.Equal(t, tr.Reason, "step qr100: "+errGone.Error(), "reason")
	expect.True(t, len(tr.Steps) == 3 && tr.Steps[2].Status == result.Complete, "steps", len(tr.Steps), dump(tr.Steps))
}
