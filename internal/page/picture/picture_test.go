package picture

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// A path read back goes through its points, and has a gap where one is unknown.
func TestPath(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		coordinate := rapid.OneOf(rapid.Float64Range(-500, 500), rapid.Just(math.NaN()))
		s := Shape{}
		for i, y := range rapid.SliceOfN(coordinate, 3, 30).Draw(r, "y") {
			s.Points = append(s.Points, Point{float64(i), y})
		}
		got := readPath(r, s.path())
		i := 0
		for k, p := range s.Points {
			if p.gap() {
				continue
			}
			want := [2]float64{p.X, rounded(p.Y)}
			begins := k == 0 || s.Points[k-1].gap()
			if i >= len(got) || got[i].at != want || got[i].begins != begins {
				r.Fatalf("point %d of %q is not at %v", i, s.path(), want)
			}
			i++
		}
		if i != len(got) {
			r.Fatalf("%d points of %d", len(got), i)
		}
	})
}

type pathPoint struct {
	at     [2]float64
	begins bool
}

var pathParts = regexp.MustCompile(`[Mlhvz]|-?(?:\d*\.)?\d+`)

func readPath(t rapid.TB, path string) (out []pathPoint) {
	var at [2]float64
	var numbers []float64
	mode := ""
	for _, part := range pathParts.FindAllString(path, -1) {
		if strings.ContainsAny(part, "Mlhvz") {
			mode = part
			continue
		}
		v := expect.Value(strconv.ParseFloat(part, 64))(t)
		switch numbers = append(numbers, v); {
		case mode == "h":
			numbers = append(numbers, 0)
		case mode == "v":
			numbers = append([]float64{0}, v)
		case len(numbers) < 2:
			continue
		case mode == "M":
			at = [2]float64{}
		}
		at = [2]float64{at[0] + numbers[0], at[1] + numbers[1]}
		out = append(out, pathPoint{at, mode == "M"})
		numbers = nil
	}
	return out
}

// No two series of sixteen have the same colour, dashes and marker.
func TestSeries(t *testing.T) {
	seen := map[string]bool{}
	for i := range len(markers) {
		seen[Class(i)], seen[Marker(i)] = true, true
		expect.True(t, signs[[]rune(Marker(i))[0]] != nil, "marker cannot be drawn", Marker(i))
	}
	expect.True(t, len(seen) == 2*len(markers) && Class(3) == "t3" && Class(11) == "t3 u" &&
		Class(16) == "t0", "different styles and markers", len(seen))
}

// sample has a shape of every style.
func sample() *Picture {
	p := New(300, 200, `bars & "lines"`)
	i := 0
	for style := range looks {
		y := float64(4 + 4*i)
		switch {
		case style == Mark:
			p.Of(i%16, style, Point{10, y}, Point{X: math.NaN()}, Point{60, y})
		case style.look().fill != "" && i%2 == 0:
			p.Write(style, 150, y, Middle, "a < b △ ≈ µs")
		case style.look().stroke == "":
			p.Rect(i%16, style, 10, y, 90, 3)
		default:
			p.Of(i%16, style, Point{10, y}, Point{200, y + 20}, Point{290, y})
		}
		i++
	}
	return p
}

// A file needs nothing from outside: it is XML, and each class has a rule and
// each colour a value.
func TestFile(t *testing.T) {
	text := sample().File()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if token == nil {
			break
		}
		expect.NoError(t, err)
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			if a.Name.Local == "class" {
				for _, class := range strings.Fields(a.Value) {
					expect.Contains(t, text, "."+class, "class has no rule", class)
				}
			}
		}
	}
	expect.True(t, !strings.Contains(text, "var(") && !strings.Contains(text, "http://www.w3.org/1999/xlink") &&
		!strings.Contains(text, "style="), "the file refers to something that it does not contain")
}

// Every name that a style gives a colour is in the palette.
func TestPalette(t *testing.T) {
	for style, l := range looks {
		for _, name := range []string{l.fill, l.stroke} {
			_, ok := palette[name]
			expect.True(t, !(name != "" && name != "series" && !ok), style, name)
		}
	}
}

// An image shows each shape: without it the image is another one.
func TestPNG(t *testing.T) {
	all := render(t, sample())
	for i := range sample().Shapes {
		p := sample()
		only := &Picture{Width: p.Width, Height: p.Height, Shapes: p.Shapes[i : i+1]}
		if s := p.Shapes[i].Style; bytes.Equal(render(t, only), render(t, New(p.Width, p.Height, ""))) && s != Paper && s != Inverse {
			t.Errorf("%s cannot be seen", s)
		}
	}
	im := expect.Value(png.Decode(bytes.NewReader(all)))(t)
	b := im.Bounds()
	expect.True(t, b.Dx() == 600 && b.Dy() == 400, b)
}

func render(t *testing.T, p *Picture) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.NoError(t, p.PNG(&b, 2))
	return b.Bytes()
}

// A text that was cut or wrapped is no wider than asked for, and wrapping keeps
// every word.
func TestFit(t *testing.T) {
	text := "InnoDB with a page size of 16 KiB and doublewrite off"
	expect.Equal(t, Fit(Label, 0, 1000, text), text, "was cut")
	got := Fit(Label, 0, 100, text)
	expect.True(t, Width(Label, 0, got) <= 100 && strings.HasSuffix(got, "…"), got, Width(Label, 0, got))
	lines := Wrap(Strong, 14, 120, text)
	expect.True(t, strings.Join(lines, " ") == text && len(lines) >= 3, lines)
	for _, line := range lines {
		expect.True(t, Width(Strong, 14, line) <= 120, "is too wide", line)
	}
}
