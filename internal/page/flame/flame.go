// Package flame draws trees of costs as flame graphs in SVG: the root on top, the
// width of a box its cost. For two trees in one graph the width is the mean of both,
// so that boxes that vanished stay visible. It does not know the meaning of the
// costs.
package flame

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

//go:embed flame.js
var script string

//go:embed flame.css
var style string

// hatching is the pattern of boxes on one side only.
const hatching = `<defs><pattern id="h" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<path d="M0 0V6" stroke="#0006" stroke-width="2"/></pattern></defs>`

// Graph is the content of a drawing.
type Graph struct {
	Title string
	Unit  string // of costs: "µs per insert row"
	Base  string // whose costs are the nodes' first
	New   string // the owner of the second costs; "" if there is only one
	Root  *Node
	Least float64 // boxes below this share of the root are not drawn; 0: 0.2 %
}

// Node is a box with its parts below it.
type Node struct {
	Name      string
	Base, New float64
	Differs   bool // the costs differ by more than chance
	Children  []*Node
}

// The size of a drawing.
const (
	width, row, head = 1200, 17, 46
	letter           = 6.6   // width of a letter
	minimum          = 0.002 // of the root: smaller boxes are not drawn
	maxNodes         = 2000
	maxBytes         = 250_000
	maxDepth         = 150 // the kernel records 127 functions of a stack
)

// Draw writes the graph. It leaves out the smallest boxes to make the graph fit: at
// most 2,000 boxes and 250 KB.
func (g *Graph) Draw(w io.Writer) error {
	for share := cmp.Or(g.Least, minimum); ; share *= 1.25 {
		d := drawing{Graph: g, lowest: share * g.width(g.Root),
			scale: width / max(g.width(g.Root), math.SmallestNonzeroFloat64)}
		d.boxes(g.Root, 0, 0)
		if text := d.file(); d.count <= maxNodes && len(text) <= maxBytes {
			_, err := io.WriteString(w, text)
			return err
		}
	}
}

func (g *Graph) width(n *Node) float64 {
	if g.New == "" {
		return n.Base
	}
	return (n.Base + n.New) / 2
}

type drawing struct {
	*Graph
	lowest, scale float64
	body          bytes.Buffer
	count, deep   int
}

// boxes draws a node and those below it, starting at x.
func (d *drawing) boxes(n *Node, depth int, x float64) {
	wide := d.width(n)
	if wide < d.lowest || depth > maxDepth {
		return
	}
	d.count, d.deep = d.count+1, max(d.deep, depth)
	d.box(n, depth, x*d.scale, wide*d.scale)
	below := slices.Clone(n.Children)
	slices.SortStableFunc(below, func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range below {
		d.boxes(c, depth+1, x)
		x += d.width(c)
	}
}

func (d *drawing) box(n *Node, depth int, x, wide float64) {
	y := head + depth*row
	rect := func(class string) {
		fmt.Fprintf(&d.body, `<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`, class, x, y, wide, row-1)
	}
	fmt.Fprintf(&d.body, `<g><title>%s</title>`, html.EscapeString(d.about(n)))
	rect(d.class(n))
	if d.onOneSide(n) {
		rect("h")
	}
	if text := Fit(d.sign(n)+n.Name, wide); text != "" {
		fmt.Fprintf(&d.body, `<text x="%.1f" y="%d">%s</text>`, x+3, y+12, html.EscapeString(text))
	}
	d.body.WriteString("</g>\n")
}

// Fit returns as much of a name as fits into a box, "" if that is too little to read.
func Fit(name string, wide float64) string {
	room, letters := int((wide-6)/letter), []rune(name)
	switch {
	case room < 3:
		return ""
	case room < len(letters):
		return string(letters[:room-1]) + "…"
	}
	return name
}

// about is the text shown when the pointer is on a box.
func (d *drawing) about(n *Node) string {
	if d.New == "" {
		return fmt.Sprintf("%s\n%s %s (%.1f %%)", n.Name, digits(n.Base), d.Unit, 100*n.Base/d.Root.Base)
	}
	text := fmt.Sprintf("%s\n%s %s, %s %s, %+.3g %s", n.Name, d.Base, digits(n.Base), d.New, digits(n.New), n.New-n.Base,
		d.Unit)
	if !n.Differs {
		text += " (may be chance)"
	}
	return text
}

func digits(v float64) string { return fmt.Sprintf("%.3g", v) }

// class is the style of a box: without comparison shades by name; otherwise red for
// more and blue for less, the stronger the larger the changed part of the box.
func (d *drawing) class(n *Node) string {
	if d.New == "" {
		sum := 0
		for _, b := range []byte(n.Name) {
			sum += int(b)
		}
		return fmt.Sprintf("p%d", sum%4)
	}
	if !n.Differs {
		return "o"
	}
	shade := 1
	if change := math.Abs(n.New - n.Base); change > 0.5*d.width(n) {
		shade = 3
	} else if change > 0.15*d.width(n) {
		shade = 2
	}
	if n.New > n.Base {
		return fmt.Sprintf("r%d", shade)
	}
	return fmt.Sprintf("b%d", shade)
}

// sign shows without colour in which direction a box differs.
func (d *drawing) sign(n *Node) string {
	switch {
	case d.New == "" || !n.Differs:
		return ""
	case n.New > n.Base:
		return "+ "
	}
	return "− "
}

func (d *drawing) onOneSide(n *Node) bool { return d.New != "" && (n.Base == 0) != (n.New == 0) }

// file returns the drawing as a file.
func (d *drawing) file() string {
	var b strings.Builder
	height := head + (d.deep+1)*row + 4
	about := "Width: " + d.Unit + "."
	if d.New != "" {
		about = fmt.Sprintf("Width: the mean of %s and %s in %s. Red, +: %s needs more; blue, −: less; gray: may be chance; "+
			"hatched: on one side only.", d.Base, d.New, d.Unit, d.New)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">
<style>%s</style>%s
<rect width="100%%" height="100%%" fill="#fff"/>
<text class="t" x="4" y="18">%s</text><text class="s" x="4" y="37">%s</text>
<text class="link s" id="search" x="%d" y="18" text-anchor="end"></text>
<g id="boxes">
%s</g>
<script><![CDATA[
%s]]></script>
</svg>
`, width, height, width, height, style, hatching, html.EscapeString(d.Title), html.EscapeString(about), width-6, d.body.String(), script)
	return b.String()
}
