package picture

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// SVG returns the drawing as an element of a page that has [Palette] and [Rules], as
// wide as the available space, or in its natural size.
func (p *Picture) SVG(natural bool) string {
	var b strings.Builder
	b.WriteString("<svg")
	if natural {
		fmt.Fprintf(&b, ` width="%s" height="%s"`, number(p.Width), number(p.Height))
	}
	fmt.Fprintf(&b, ` viewBox="0 0 %s %s" role="img" aria-label="%s">`, number(p.Width), number(p.Height),
		html.EscapeString(p.Label))
	p.shapes(&b)
	b.WriteString("</svg>")
	return b.String()
}

// File returns the drawing as a separate file, on light paper.
func (p *Picture) File() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s" font-family="%s">`+"\n",
		number(p.Width), number(p.Height),
		`system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif`)
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s</style>\n", html.EscapeString(p.Label),
		rules(func(name string) string { return palette[name].light }))
	fmt.Fprintf(&b, `<path class="paper" d="M0 0H%sV%sH0z"/>`+"\n", number(p.Width), number(p.Height))
	p.shapes(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

func (p *Picture) shapes(b *strings.Builder) {
	for i := range p.Shapes {
		s := &p.Shapes[i]
		class, hint := s.class(), ""
		if s.Hint != "" {
			hint = "<title>" + html.EscapeString(s.Hint) + "</title>"
		}
		if s.Link != "" {
			fmt.Fprintf(b, `<a href="%s">`, html.EscapeString(s.Link))
		}
		switch {
		case s.Style == Mark:
			s.marks(b, class)
		case s.Text != "":
			at := s.Points[0]
			fmt.Fprintf(b, `<text%s x="%s" y="%s"%s%s>%s%s</text>`,
				class, number(at.X), number(at.Y), s.anchor(), s.fontSize(), hint, html.EscapeString(s.Text))
		default:
			switch d := s.path(); {
			case d == "":
			case hint != "":
				fmt.Fprintf(b, `<path%s d="%s">%s</path>`, class, d, hint)
			default:
				fmt.Fprintf(b, `<path%s d="%s"/>`, class, d)
			}
		}
		if s.Link != "" {
			b.WriteString("</a>")
		}
	}
}

// class returns the attribute with the shape's classes. A label needs none.
func (s *Shape) class() string {
	class := string(s.Style)
	if s.Series >= 0 {
		class += " " + Class(s.Series)
	}
	if class == string(Label) {
		return ""
	}
	return ` class="` + class + `"`
}

// marks writes the series' marker at all points, in one element.
func (s *Shape) marks(b *strings.Builder, class string) {
	var x, y []string
	for _, p := range s.Points {
		if !p.gap() {
			x, y = append(x, number(p.X)), append(y, number(p.Y+0.4*s.size()))
		}
	}
	if len(x) > 0 {
		fmt.Fprintf(b, `<text%s text-anchor="middle" x="%s" y="%s"%s>%s</text>`,
			class, strings.Join(x, " "), strings.Join(y, " "), s.fontSize(), strings.Repeat(Marker(s.Series), len(x)))
	}
}

func (s *Shape) anchor() string {
	if s.Anchor == "" || s.Anchor == Start {
		return ""
	}
	return ` text-anchor="` + string(s.Anchor) + `"`
}

func (s *Shape) fontSize() string {
	if s.Size == 0 || s.Size == s.Style.look().size {
		return ""
	}
	return ` font-size="` + number(s.size()) + `"`
}

// path returns the path through the points, each relative to the one before,
// which is short.
func (s *Shape) path() string {
	var b strings.Builder
	var at Point      // the pen's position, rounded
	var previous byte // the last command
	down := false
	for _, p := range s.Points {
		if p.gap() {
			down = false
			continue
		}
		point := Point{rounded(p.X), rounded(p.Y)}
		if len(s.Points) > manyPoints {
			point.X = math.Round(p.X)
		}
		if down {
			previous = step(&b, previous, point.X-at.X, point.Y-at.Y)
		} else {
			b.WriteString("M" + number(point.X) + " " + number(point.Y))
			previous = 'M'
		}
		at, down = point, true
	}
	if s.Closed && b.Len() > 0 {
		b.WriteByte('z')
	}
	return b.String()
}

// step writes a step of a path with the shortest command, and returns the command. A
// command that repeats the previous one needs no letter.
func step(b *strings.Builder, previous byte, dx, dy float64) byte {
	command, text := byte('l'), number(dx)+signed(dy)
	switch {
	case dy == 0:
		command, text = 'h', number(dx)
	case dx == 0:
		command, text = 'v', number(dy)
	}
	if command != previous {
		b.WriteByte(command)
	} else if !strings.HasPrefix(text, "-") {
		b.WriteByte(' ')
	}
	b.WriteString(text)
	return command
}

// manyPoints is the number of points above which a path omits the halves of its
// units across.
const manyPoints = 60

// rounded rounds a length to half units: smaller differences are invisible.
func rounded(v float64) float64 { return math.Round(2*v) / 2 }

func number(v float64) string {
	text := strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64)
	if strings.HasPrefix(text, "0.") {
		return text[1:]
	}
	return strings.Replace(text, "-0.", "-.", 1)
}

// signed formats a number so that it can follow another in a path.
func signed(v float64) string {
	if v < 0 {
		return number(v)
	}
	return " " + number(v)
}
