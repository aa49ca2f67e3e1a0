package picture

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
)

// Style names how a shape looks.
type Style string

// The styles of shapes. Those of series have the series' colour.
const (
	Label   Style = "label" // quiet text
	Strong  Style = "strong"
	Plain   Style = "plain" // text in ink
	Inverse Style = "inverse"
	Grid    Style = "grid"
	Level   Style = "level" // a value that matters
	Line    Style = "line"
	Fill    Style = "fill"
	Pale    Style = "pale" // a light area
	Band    Style = "band"
	Stall   Style = "stall"
	Tick    Style = "tick"
	Whisker Style = "whisker"
	Ring    Style = "ring"
	Mark    Style = "mark"  // the series' marker
	Range   Style = "range" // a whisker in ink
	Track   Style = "track" // the background of a bar
	Paper   Style = "paper"
	Heading Style = "heading"
	// Cells of a heat map: better and worse, each in three strengths and hollow.
	Better1, Better2, Better3 Style = "better1", "better2", "better3"
	Worse1, Worse2, Worse3    Style = "worse1", "worse2", "worse3"
	MaybeBetter, MaybeWorse   Style = "maybe-better", "maybe-worse"
	BetterText, WorseText     Style = "better-text", "worse-text"
	Good, Fair, Poor          Style = "good", "fair", "poor" // of a badge
)

// look is the appearance of a style. Colours are names of the palette; "series"
// is the colour of the shape's series.
type look struct {
	fill, stroke string
	width        float64 // of the stroke
	opacity      float64 // 0: opaque
	dash         []float64
	size         float64 // of text and marks; 0: textSize
	bold         bool
}

var looks = map[Style]look{
	Label: {fill: "soft"}, Plain: {fill: "ink"}, Strong: {fill: "ink", bold: true}, Inverse: {fill: "inverse", bold: true},
	Heading: {fill: "ink", size: 22, bold: true},
	Grid:    {stroke: "rule", width: 1}, Level: {stroke: "soft", width: 1, dash: []float64{3, 3}},
	Line: {stroke: "series", width: 1.6}, Fill: {fill: "series"}, Pale: {fill: "series", opacity: .3},
	Band: {fill: "series", opacity: .16}, Stall: {fill: "series", opacity: .16}, Tick: {stroke: "series", width: 1.4},
	Whisker: {stroke: "series", width: 1.1, opacity: .75}, Ring: {stroke: "series", width: 1.2},
	Mark: {fill: "series", size: 10}, Range: {stroke: "ink", width: 1.4}, Track: {fill: "tint"}, Paper: {fill: "paper"},
	Better1: {fill: "better1"}, Better2: {fill: "better2"}, Better3: {fill: "better3"},
	Worse1: {fill: "worse1"}, Worse2: {fill: "worse2"}, Worse3: {fill: "worse3"},
	MaybeBetter: {stroke: "better", width: 1.5}, MaybeWorse: {stroke: "worse", width: 1.5},
	BetterText: {fill: "better", bold: true}, WorseText: {fill: "worse", bold: true},
	Good: {fill: "good"}, Fair: {fill: "fair"}, Poor: {fill: "poor"},
}

const textSize = 12

func (s Style) look() look {
	l := looks[s]
	l.size = cmp.Or(l.size, textSize)
	return l
}

// colour is a colour of the palette on light and on dark paper.
type colour struct{ light, dark string }

// palette has the colours of pages and drawings. The colours of series are
// Okabe and Ito's, which most colour-blind people can tell apart; blue is
// better and orange worse for the same reason.
var palette = map[string]colour{
	"paper": {"#fff", "#15171a"}, "ink": {"#1c1e21", "#e6e8eb"}, "soft": {"#5c6370", "#9aa3af"},
	"rule": {"#dfe2e6", "#32363c"}, "tint": {"#f5f6f8", "#1e2125"},
	"inverse": {"#fff", "#15171a"},
	"better":  {"#0b5cad", "#8ec5ff"}, "better-tint": {"#e3effb", "#14304d"}, "worse": {"#9a4a00", "#ffb066"},
	"worse-tint": {"#fdeedd", "#43290d"},
	"alarm":      {"#8a1c1c", "#ff9c9c"}, "alarm-tint": {"#fbeaea", "#3c1717"},
	"better1": {"#d5e7f8", "#173a5e"}, "better2": {"#86b8e6", "#2a5f93"}, "better3": {"#1f6fbf", "#8ec5ff"},
	"worse1": {"#fbe3c8", "#4f3110"}, "worse2": {"#f0ad62", "#84501a"}, "worse3": {"#b85a00", "#ffb066"},
	"good": {"#1f7a4d", "#4fc08d"}, "fair": {"#b07800", "#e6b422"}, "poor": {"#b3261e", "#ff8a80"},
	"t0": {"#0072b2", "#56b4e9"}, "t1": {"#d55e00", "#ff8a3d"}, "t2": {"#009e73", "#2fc79a"}, "t3": {"#b85a93", "#e39ac4"},
	"t4": {"#a87900", "#e6b422"}, "t5": {"#2f8fc4", "#9ad3f5"}, "t6": {"#555", "#b8b8b8"}, "t7": {"#7a3db8", "#c39bf0"},
}

// dashes are the dash patterns of the lines of series; the second round of
// colours has different ones.
var dashes = [2 * colours][]float64{
	nil, {7, 3}, {2, 3}, {9, 3, 2, 3}, {12, 4}, {4, 2}, {1, 2}, {9, 2, 2, 2, 2, 2},
	{9, 3, 2, 3}, {12, 4}, {4, 2}, {1, 2}, {9, 2, 2, 2, 2, 2}, nil, {7, 3}, {2, 3},
}

// markers distinguish series without colour; so do dashes. The colours start
// over after the eighth series, with other markers and dashes; everything
// repeats after the sixteenth.
var markers = []string{"●", "■", "▲", "◆", "▼", "★", "○", "□", "◎", "▣", "△", "◇", "▽", "☆", "✚", "✖"}

const colours = 8

// Marker returns the sign of a series.
func Marker(series int) string { return markers[Sign(series)] }

// Sign returns the index of a series' sign.
func Sign(series int) int { return series % len(markers) }

// Class returns the classes of a series' colour and, in the second round, dashes.
func Class(series int) string {
	if series = Sign(series); series < colours {
		return fmt.Sprintf("t%d", series)
	}
	return fmt.Sprintf("t%d u", series-colours)
}

// Palette returns the palette as style rules, for light and dark screens.
// Elements of class light are light on both.
func Palette() string {
	var light, dark strings.Builder
	for _, name := range slices.Sorted(maps.Keys(palette)) {
		fmt.Fprintf(&light, "--%s:%s;", name, palette[name].light)
		fmt.Fprintf(&dark, "--%s:%s;", name, palette[name].dark)
	}
	return fmt.Sprintf(":root,.light{%s}\n@media screen and (prefers-color-scheme: dark){:root{%s}}\n", light.String(),
		dark.String())
}

// rules returns the style rules of drawings. value returns the colour for a name.
func rules(value func(name string) string) string {
	var b strings.Builder
	for i := range colours {
		fmt.Fprintf(&b, ".t%d{color:%s}\n", i, value(fmt.Sprintf("t%d", i)))
	}
	b.WriteString("svg{font-size:12px}svg text{fill:" + value("soft") + ";font-variant-numeric:tabular-nums}\n")
	for _, s := range slices.Sorted(maps.Keys(looks)) {
		fmt.Fprintf(&b, "svg .%s{%s}\n", s, s.look().rule(value))
		if size := s.look().size; size != textSize {
			fmt.Fprintf(&b, "svg .%s:not([font-size]){font-size:%spx}\n", s, number(size))
		}
	}
	for i, d := range dashes {
		if d != nil {
			fmt.Fprintf(&b, "svg .line.%s{stroke-dasharray:%s}\n", strings.ReplaceAll(Class(i), " ", "."), joined(d))
		} else if i >= colours {
			fmt.Fprintf(&b, "svg .line.%s{stroke-dasharray:none}\n", strings.ReplaceAll(Class(i), " ", "."))
		}
	}
	b.WriteString("svg .line.u{stroke-width:1.1}\n")
	return b.String()
}

// Rules returns the style rules of the drawings on a page with the palette.
func Rules() string { return rules(func(name string) string { return "var(--" + name + ")" }) }

func (l look) rule(value func(string) string) string {
	paint := func(name string) string {
		switch name {
		case "":
			return "none"
		case "series":
			return "currentColor"
		}
		return value(name)
	}
	out := "fill:" + paint(l.fill)
	if l.stroke != "" {
		out += fmt.Sprintf(";stroke:%s;stroke-width:%s;stroke-linejoin:round", paint(l.stroke), number(l.width))
	}
	if l.dash != nil {
		out += ";stroke-dasharray:" + joined(l.dash)
	}
	if l.opacity > 0 {
		out += ";opacity:" + number(l.opacity)
	}
	if l.bold {
		out += ";font-weight:600"
	}
	return out
}

func joined(list []float64) string { return strings.Join(quantity.Texts(list, number), " ") }
