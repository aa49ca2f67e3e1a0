package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"rumbench/internal/need"
	"rumbench/internal/page/browsertest"
	"rumbench/internal/result"
)

// crowded lists what is wider than its place and pairs of pictures that lie over
// each other. Everything is unfolded first: charts are drawn when they are seen.
const crowded = `(async () => {
	for (const d of document.querySelectorAll("main details")) d.open = true;
	await ` + drawAll + `;
	const wrong = [], name = (e) => (e.closest("section")?.id || "") + " " + (e.querySelector("h4, figcaption")?.textContent || e.tagName + "." + e.className);
	const box = (e) => e.getBoundingClientRect();
	const pictures = [...document.querySelectorAll(".chart, figure")].filter(e => e.checkVisibility() && box(e).height);
	for (const e of [...document.querySelectorAll(".chart .uplot, .chart canvas, figure svg, figure .bar")].filter(e => e.checkVisibility())) {
		const place = e.closest(".chart, figure");
		if (box(e).right > box(place).right + 1 || box(e).left < box(place).left - 1) wrong.push(name(place) + " is wider than its cell: " + box(e).width + " of " + box(place).width);
	}
	for (const e of pictures) {
		if (box(e).right > document.documentElement.clientWidth) wrong.push(name(e) + " is wider than the page");
		const around = box(e.parentElement);
		if (box(e).right > around.right + 1) wrong.push(name(e) + " leaves its row");
	}
	pictures.forEach((a, i) => pictures.slice(i + 1).forEach((b) => {
		const x = Math.min(box(a).right, box(b).right) - Math.max(box(a).left, box(b).left);
		const y = Math.min(box(a).bottom, box(b).bottom) - Math.max(box(a).top, box(b).top);
		if (x > 1 && y > 1) wrong.push(name(a) + " lies over " + name(b));
	}));
	return wrong;
})()`

// No picture lies over another, and none is wider than its place, as the page
// was opened and after the window became another size.
func TestPicturesHaveTheirPlaces(t *testing.T) {
	in := fixture(4)
	in.Published = publishedFixture().Published
	address := write(t, in)
	b := openBrowser(t)
	check := func(t *testing.T) {
		t.Helper()
		for _, wrong := range evaluate[[]string](t, b, crowded) {
			t.Error(wrong)
		}
		b.CheckWidth(t)
	}
	for _, width := range []int64{390, 1024, 1440, 1920} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			if width == 1024 || width == 1920 {
				need.Long(t)
			}
			b.Show(t, address, browsertest.Screen{Width: width, Theme: "light"})
			check(t)
			b.shoot(t, fmt.Sprintf("layout-%d", width), math.Inf(1))
		})
	}
	t.Run("resized", func(t *testing.T) {
		b.Resize(t, 1100)
		check(t)
	})
}

// The numbers and the main tables fit a screen of 1300 pixels, though their heads are
// long; no words make a table wider than a page of them.
func TestTablesFit(t *testing.T) {
	in := fixture(4)
	for i := range in.Trials {
		steps := in.Trials[i].Steps
		for j := range steps {
			steps[j].Status = result.Invalid
			for k := range steps[j].Settle {
				steps[j].Settle[k].Detail = strings.Repeat("levels before and after\n", 50)
			}
		}
	}
	b := openBrowser(t)
	b.Show(t, write(t, in), browsertest.Screen{Width: 1300, Theme: "light"})
	wide := evaluate[[]string](t, b, `(() => {
		for (const d of document.querySelectorAll("main details")) d.open = true;
		const settle = [...document.querySelectorAll("h3")].filter(h => h.textContent.startsWith("Settle actions")).map(h => h.parentElement.querySelector(".scroll"));
		const main = [...document.querySelectorAll("#numbers .scroll, .step > .scroll, .step > details > .scroll")];
		if (main.length < 6 || settle.length !== 1) return ["the page has " + main.length + " main tables, " + settle.length + " of settle actions"];
		return [...main, ...settle].filter(e => e.scrollWidth > e.clientWidth).map(e => e.scrollWidth + " of " + e.clientWidth + ": " + e.textContent.slice(0, 80));
	})()`)
	for _, w := range wide {
		t.Error(w)
	}
}
