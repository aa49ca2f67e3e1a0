package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/page/browsertest"
)

// tap touches an element in its middle; script names it.
func (b browser) tap(t *testing.T, script string) {
	t.Helper()
	at := evaluate[[2]float64](t, b, `(() => {
		const e = `+script+`;
		e.scrollIntoView({ block: "center", inline: "center" });
		window.tapped = new Promise((done) => addEventListener("click", () => setTimeout(done), { once: true, capture: true }));
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`)
	browsertest.Call(t, b.Tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at[0], Y: at[1]}}})
	browsertest.Call(t, b.Tab, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
	evaluate[chromedp.Void](t, b, `tapped`)
}

// On a phone nothing needs a pointer that hovers.
func TestTouch(t *testing.T) {
	b := openBrowser(t)
	browsertest.Call(t, b.Tab, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	b.Show(t, write(t, fixture(4)), browsertest.Screen{Width: 390, Theme: "light"})
	b.CheckWidth(t)
	evaluate[int](t, b, drawAll) // a chart that is drawn moves what is below it
	card := func() string {
		return evaluate[string](t, b, `document.querySelector(".card")?.innerText || ""`)
	}
	for _, c := range []struct{ name, script, want string }{
		{"a number", `document.querySelector("section.step td[data-n]")`, "median of 4 trials"},
		{"a cell with a reason", `[...document.querySelectorAll("td[title].absent")].find((e) => e.checkVisibility())`, ""},
		{"a column's head without a link", `[...document.querySelectorAll("th[title]")].find((e) => e.checkVisibility() && !e.querySelector("a"))`, ""},
		{"a bar", `document.querySelector(".bar .track")`, "median of 4 trials"},
	} {
		evaluate[chromedp.Void](t, b, `hideCard()`)
		if !evaluate[bool](t, b, "!!("+c.script+")") {
			t.Logf("%s: none on the page", c.name)
			continue
		}
		want := c.want
		if want == "" {
			want = strings.Split(evaluate[string](t, b, "saidOf("+c.script+`.closest("[data-n], [title], .bar")).join("\n")`), "\n")[0]
		}
		b.tap(t, c.script)
		got := card()
		expect.True(t, want != "" && strings.Contains(got, want), c.name, got, want)
	}
	n := b.Visible(t, ".take")
	expect.True(t, n >= 10, "buttons to take things away", n)
	b.tap(t, `document.querySelector("section.step figure .take")`)
	expect.Equal(t, b.Visible(t, ".takes button"), 4, "choices after a touch")
	b.CheckWidth(t)
	left := evaluate[[]string](t, b, `[...document.querySelectorAll(".takes *")].filter((e) => e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().left < 0).map((e) => e.outerHTML)`)
	expect.True(t, len(left) == 0, "beside the screen", left)

	// Of many targets a chart has its legend only when it is touched.
	in, rnd := Input{Title: "six servers"}, rand.New(rand.NewPCG(5, 6))
	for i := range 6 {
		trial := bigTrial(rnd, i, 1)
		trial.Steps = trial.Steps[:1]
		in.Trials = append(in.Trials, Trial{Trial: trial, Series: bigSeries(trial)})
	}
	b.Show(t, write(t, in), browsertest.Screen{Width: 390, Theme: "light"})
	evaluate[any](t, b, crowded)
	b.CheckWidth(t)
	expect.Equal(t, b.Visible(t, ".many .u-legend"), 0, "legends before a touch")
	b.tap(t, `document.querySelector(".many .chart .u-over")`)
	expect.Equal(t, b.Visible(t, ".many .u-legend"), 1, "legends after a touch")
	text := evaluate[string](t, b, `document.activeElement.querySelector(".u-legend").innerText`)
	expect.True(t, strings.Contains(text, " s") && strings.Contains(text, "my800"), "the legend says", text)
}

// What a link leads to is below the bar that stays at the top, however high that is.
func TestBarHidesNothing(t *testing.T) {
	b := openBrowser(t)
	address := write(t, fixture(4))
	for _, width := range []int64{390, 700, 1440} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			if width == 700 {
				need.Long(t)
			}
			b.Show(t, address, browsertest.Screen{Width: width, Theme: "light"})
			hidden := evaluate[[]string](t, b, `(async () => {
				const out = [], bar = document.querySelector(".tools");
				const sticky = getComputedStyle(bar).position === "sticky";
				if (sticky && parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) !== Math.max(16, bar.offsetHeight)) out.push("the padding is " + getComputedStyle(document.documentElement).scrollPaddingTop + " of a bar of " + bar.offsetHeight);
				const links = [...document.querySelectorAll("#contents a"), ...[...document.querySelectorAll("h3 .anchor")].slice(0, 12), ...[...document.querySelectorAll("thead th a")].slice(0, 3)];
				for (const link of links) {
					await (`+follow+`)(() => link.click());
					const target = document.getElementById(link.hash.slice(1)), head = target.matches("section") ? target.querySelector("h2") : target;
					const top = head.getBoundingClientRect().top, edge = sticky ? bar.getBoundingClientRect().bottom : 0;
					if (!head.checkVisibility()) out.push(link.hash + " is folded");
					else if (top < edge - 1 || top > innerHeight) out.push(link.hash + " is at " + top + ", the bar ends at " + edge);
				}
				return out;
			})()`)
			for _, h := range hidden {
				t.Error(h)
			}
		})
	}
}
