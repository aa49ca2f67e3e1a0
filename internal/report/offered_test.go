package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/text/quantity"
)

// otherRate returns the fixture with other rates promised to the writers of a step on
// one target.
func otherRate() Input {
	in := fixture(4)
	for _, trial := range in.Trials {
		for i := range trial.Steps {
			if s := &trial.Steps[i]; trial.Target == "bbolt" && s.Name == "qr100" {
				s.Groups = slices.Clone(s.Groups)
				s.Groups[0].Rate = 900
			}
		}
	}
	return in
}

// Work that differs is compared with nothing on the whole page, whatever base its
// reader takes.
func TestOtherWork(t *testing.T) {
	in := otherRate()
	text := markdown(t, in)
	expect.All(t, text,
		"bbolt is not compared with pebble in qr100: other work: rate of insert: 100/s and 900/s.",
		"not compared: bbolt (other work: rate of insert: 100/s and 900/s)",
	)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| qr100 |") {
			continue
		}
		if cells := strings.Split(line, "|"); strings.TrimSpace(cells[3]) == quantity.Unknown || !strings.HasPrefix(strings.TrimSpace(cells[4]), quantity.Unknown) {
			t.Errorf("the relative table has %s", line)
		}
	}
	c := newCampaign(in.Trials)
	s, bbolt, pebble := stepNamed(c, "qr100"), c.Target("bbolt"), c.Target("pebble")
	k, _ := s.Rate(s.Primary)
	cell := s.cell(bbolt, pebble, k, &page.Notes{})
	expect.True(t, cell.Tag == "not compared" && cell.Ratio == "" && cell.Sign == "", cell)
	var j embeddedJudgements
	expect.NoError(t, json.Unmarshal([]byte(judgementsPattern.FindStringSubmatch(render(t, in))[1]), &j))
	got := j.Apart["qr100"]
	expect.True(t, len(j.Apart) == 1 && slices.Equal(got, []int{0, 0, 1}), j.Apart)
	in.Across.Work = true
	expect.Lacks(t, markdown(t, in), "other work", "other work is not compared although that was asked for")
}

// Targets of one plan may differ in durability; the first line says so.
func TestDurabilityDiffers(t *testing.T) {
	in := fixture(4)
	for _, trial := range in.Trials {
		if trial.Target == "bbolt" {
			trial.Durability, trial.Promise = "none", "nothing survives"
		}
	}
	const want = "Durability differs: pebble: process (commits survive kill -9 of the engine), sqlite: process (commits survive kill -9 of the engine), bbolt: none (nothing survives). Ratios between them compare different durability."
	expect.Equal(t, banners(in.campaign())[0], want, "the first banner is")
	b := plainText(t, in, 0)
	if first, _, _ := strings.Cut(b, "\n"); first != "⚠ "+want || strings.Count(b, "Durability differs") != 1 {
		t.Errorf("the summary begins with %q", first)
	}
	c := in.campaign()
	expect.Equal(t, stepNamed(c, "l.i0").Unlike(c.Targets[0], c.Targets[2]), "", "targets of one plan are not compared")
}

// A percentile of too few samples is the greatest of them wherever it is shown.
func TestFewSamples(t *testing.T) {
	in := fixture(4)
	changeRows(in.Trials, func(r *metric.Row) {
		if r.Step == "l.x" && r.Metric == "service_p99_us" && r.Target == "bbolt" {
			r.N = 6
		}
	})
	c := in.campaign()
	s, bbolt, pebble := stepNamed(c, "l.x"), c.Target("bbolt"), c.Target("pebble")
	k, _ := s.Latency(s.Primary, "p99")
	greatest, _ := s.Latency(s.Primary, "max")
	cell := s.cell(bbolt, pebble, k, &page.Notes{})
	expect.True(t, cell.Text == s.number(bbolt, greatest).String() && cell.Tag == "max of 6" && cell.Ratio == "" &&
		cell.Sign == "", cell)
	if cell := s.cell(pebble, pebble, k, &page.Notes{}); cell.Tag != "" || cell.Text != s.number(pebble, k).String() {
		t.Errorf("%+v", cell)
	}
	expect.Contains(t, markdown(t, in), ", max of 6 |", "the report has no")
	b := plainText(t, in, 0)
	expect.Contains(t, b, ", max of 6 ", "the summary has a percentile of six samples")
	n := checkNumbers(t, render(t, in))
	expect.True(t, n != 0, "no cells")
}

func stepNamed(c *campaign, name string) *step {
	return c.steps[slices.IndexFunc(c.steps, func(s *step) bool { return s.Name == name })]
}
