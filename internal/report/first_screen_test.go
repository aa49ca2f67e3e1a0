package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/page/browsertest"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// onlyTarget returns a campaign of the first target alone.
func onlyTarget(in Input) Input {
	var own []Trial
	for _, t := range in.Trials {
		if t.Target == in.Trials[0].Target {
			own = append(own, t)
		}
	}
	in.Trials = own
	return in
}

// firstScreens are campaigns of every kind that a first screen shows.
func firstScreens() map[string]Input {
	answers := map[string]*result.Search{
		"innodb":   {Promise: "p99_ms < 20", Kept: 800, Took: 16, Broke: 1600, Why: "p99 313 ms"},
		"postgres": {Promise: "p99_ms < 20", Kept: 400, Took: 12, Broke: 800, Why: "12 operations were shed"},
	}
	return map[string]Input{
		"targets": fixture(4), "one": onlyTarget(fixture(4)), "sweep": sweepFixture(3, 1, someClients...), "search": searched(answers, "innodb", "postgres"),
	}
}

// The answer, the panels and the maps are seen without scrolling, on a phone the
// answer and the first panel are, and each choice shows its picture without a script.
func TestFirstScreen(t *testing.T) {
	b := openBrowser(t)
	browsertest.Call(t, b.Tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	for name, in := range firstScreens() {
		t.Run(name, func(t *testing.T) {
			address := write(t, in)
			b.Show(t, address, desktop)
			bottom := evaluate[float64](t, b, `Math.max(...[...document.querySelectorAll("header .panels")].map(e => e.getBoundingClientRect().bottom))`)
			expect.True(t, bottom >= 300 && bottom <= 1000, "the first screen ends at of 1000 pixels", bottom)
			clipped := evaluate[[]string](t, b, outside)
			expect.True(t, len(clipped) == 0, "texts reach out of their pictures", clipped)
			b.shoot(t, "first-"+name, 1000)
			for _, id := range evaluate[[]string](t, b, `[...document.querySelectorAll("header .choice input")].map(e => e.id)`) {
				shown := evaluate[bool](t, b, fmt.Sprintf(`(() => {
					const input = document.getElementById(%q), choice = input.parentElement;
					input.checked = true;
					const all = [...choice.querySelectorAll(":scope > input")], options = [...choice.querySelectorAll(":scope > .option")];
					return options.every((o, i) => o.checkVisibility() === (all[i] === input)) || !choice.checkVisibility();
				})()`, id))
				expect.True(t, shown, "does not show its picture alone", id)
			}
			b.Show(t, address, browsertest.Screen{Width: 390, Theme: "dark"})
			top := evaluate[float64](t, b, `document.querySelector("header .panels svg").getBoundingClientRect().bottom`)
			expect.True(t, top <= 844, "on a phone the first picture ends at of 844 pixels", top)
			b.CheckWidth(t)
			b.shoot(t, "first-390-"+name, 1000)
		})
	}
}

// outside returns the texts of visible pictures of the first screen that reach out of
// them.
const outside = `[...document.querySelectorAll("header .picture svg")].filter(s => s.checkVisibility()).flatMap(s => {
	const box = s.getBoundingClientRect();
	return [...s.querySelectorAll("text")].filter(e => { const r = e.getBoundingClientRect(); return r.left < box.left - 3 || r.right > box.right + 3; }).map(e => e.textContent);
})`

// The badge is poor where targets cannot be compared, fair where something limits what
// is said, and good otherwise; what limits it is in its line.
func TestTrust(t *testing.T) {
	clean := func(trials int) Input {
		in := fixture(trials)
		in.Warnings = nil
		for i := range in.Trials {
			tr := in.Trials[i].Trial
			tr.Status, tr.Warnings, tr.Durability, tr.Promise, tr.Knobs = result.Complete, nil, "os", "commits survive", map[string]string{"cache": "1MiB"}
			tr.Settings = nil
			tr.Asked = result.Question{Steps: []string{"l.i1"}}
			for j := range tr.Steps {
				tr.Steps[j].Warnings = nil
			}
		}
		changeRows(in.Trials, func(r *metric.Row) { r.Warnings = nil })
		return in
	}
	disturbed := clean(4)
	changeRows(disturbed.Trials[:1], func(r *metric.Row) {
		r.Warnings = []metric.Warning{metric.Warn(remark.WrongResult, metric.Values{"what": "x"})}
	})
	broken := clean(4)
	broken.Trials[1].Status = result.Partial
	running := clean(4)
	running.Running, running.Trials[1].Status = []string{"trial 2 of 12"}, result.Running
	unlike := clean(4)
	for i := range unlike.Trials {
		if unlike.Trials[i].Target == unlike.Trials[1].Target {
			unlike.Trials[i].Durability = "none"
		}
	}
	refused := func(target int, change func(s *result.Step)) Input {
		in := clean(1)
		change(&in.Trials[target].Steps[2])
		return in
	}
	check := refused(0, func(s *result.Step) {
		s.Refuse(metric.Warn(remark.WrongResult, metric.Values{"what": "no message is lost: 9 == 10"}))
	})
	missed := refused(1, func(s *result.Step) {
		s.Rows = slices.DeleteFunc(s.Rows, func(r metric.Row) bool { return metric.FamilyOf(r.Metric) == metric.Promise })
		var b account.Builder
		b.Promise(s.Groups[0].Name, &metric.SLA{Target: 100, Achieved: 57, Saturated: true})
		s.Rows = append(s.Rows, b.Rows...)
	})
	elsewhere := refused(0, func(*result.Step) {})
	elsewhere.Trials[0].Status = result.Invalid
	for _, c := range []struct {
		name  string
		in    Input
		level page.Level
		line  string
	}{
		{"a check", check, page.Poor, "pebble in l.i1 cannot be compared: wrong result: no message is lost: 9 == 10."},
		{"a promise", missed, page.Poor, "sqlite in l.i1 cannot be compared: SLA missed: group insert was to do 100/s and did 57/s; saturated."},
		{"another step", elsewhere, page.Poor, "pebble in l.i1 cannot be compared: another step of the trial is invalid."},
		{"clean", clean(4), page.Good, "4 trials each, of equal work"},
		{"one trial", clean(1), page.Fair, "One trial each"},
		{"remarks", disturbed, page.Fair, "wrong result"},
		{"partial", broken, page.Poor, "1 of 12 trials did not end normally."},
		{"running", running, page.Fair, "The campaign is running: trial 2 of 12."},
		{"durability", unlike, page.Poor, "Durability differs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := trust(c.in.campaign())
			expect.Equal(t, b.Level, c.level, c.name)
			expect.Contains(t, b.Line, c.line, c.name)
		})
	}
}

// The first line shows the machine of the servers, never that of rumbench in its place.
func TestMachine(t *testing.T) {
	in := fixture(1)
	ours := machine(in.campaign())
	name := in.Trials[0].Target
	in.Trials[0].Unseen = true
	got, want := machine(in.campaign()), ours+"; unknown for "+name
	expect.True(t, ours != "" && got == want, got, want)
	for i := range in.Trials {
		in.Trials[i].Unseen = true
	}
	expect.Equal(t, machine(in.campaign()), "server's machine unknown")
	expect.Contains(t, markdown(t, in), "host of rumbench")
}

// A card is a complete picture of the first screen: it has the title, the answer and
// a row for each target; and the summary is short.
func TestCard(t *testing.T) {
	for name, in := range firstScreens() {
		t.Run(name, func(t *testing.T) {
			p := expect.Value(Card(in))(t)
			svg := p.File()
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			for _, tr := range in.Trials {
				expect.True(t, !(len(in.Trials) > 4 &&
					!strings.Contains(svg, ">"+tr.Target+"<")), "the card does not name", tr.Target)
			}
			expect.Contains(t, svg, in.Title)
			expect.True(t, p.Height <= 1.2*p.Width, "the card is ×", p.Width, p.Height)
			text := expect.Written(t, func(w io.Writer) error { return Summary(w, in) })
			n := strings.Count(text, "\n")
			expect.True(t, n <= 36, "the summary has lines", n, text)
		})
	}
}

// SQL of the user's own is beside the targets that executed it, on the first screen and
// in the summary.
func TestOwnSQL(t *testing.T) {
	in := fixture(1)
	in.Trials[1].Steps[2].OwnSQL = []string{"claim", "expire"}
	in.Trials[1].Steps[3].OwnSQL = []string{"expire"}
	first, text := expect.Written(t, func(w io.Writer) error { return Summary(w, in) }), plainText(t, in, 0)
	expect.Equal(t, strings.Count(first, "sqlite (sqlite 3.51.2; own SQL: claim, expire), bbolt (bbolt v1.5.0) ·"), 1, first)
	for _, want := range []string{"\n  sqlite: own SQL: claim, expire\n", "\n  sqlite: own SQL: expire\n"} {
		expect.Equal(t, strings.Count(text, want), 1, want, text)
	}
}

// The first screen says how much data the targets had, from the least to the greatest: in a
// run that inserts, the fastest ends with the most.
func TestDataOfTargets(t *testing.T) {
	trials := fixture(4).Trials
	c := newCampaign(trials)
	if text := extent(c); !strings.HasPrefix(text, "420 MiB of data") {
		t.Fatalf("equal data: %q", text)
	}
	changeRows(trials, func(r *metric.Row) {
		if r.Target == c.Targets[0].Name && r.Metric == "live_bytes" {
			r.Value /= 2
		}
	})
	if text := extent(newCampaign(trials)); !strings.HasPrefix(text, "210 MiB to 420 MiB of data") {
		t.Errorf("unequal data: %q", text)
	}
}
