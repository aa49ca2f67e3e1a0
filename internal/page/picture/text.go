package picture

import (
	"cmp"
	"sort"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// faces are the fonts of PNG files, by weight and size. The fonts of a browser
// are different, but about as wide.
var faces struct {
	sync.Mutex
	made map[faceKey]font.Face
}

type faceKey struct {
	bold bool
	size float64
}

// parsed are the two fonts. They are part of the program: reading them cannot
// fail.
var parsed = sync.OnceValue(func() (out [2]*opentype.Font) {
	for i, data := range [][]byte{goregular.TTF, gobold.TTF} {
		f, err := opentype.Parse(data)
		if err != nil {
			panic(err)
		}
		out[i] = f
	}
	return out
})

// face returns a font; callers hold the lock of faces.
func face(bold bool, size float64) font.Face {
	key := faceKey{bold, size}
	if f := faces.made[key]; f != nil {
		return f
	}
	subject := parsed()[0]
	if bold {
		subject = parsed()[1]
	}
	f, err := opentype.NewFace(subject, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		panic(err)
	}
	if faces.made == nil {
		faces.made = map[faceKey]font.Face{}
	}
	faces.made[key] = f
	return f
}

// widthMargin is the greatest ratio of the width of browsers' fonts to ours.
const widthMargin = 1.15

// Width returns the greatest width of a text, at a size or, for 0, its style's.
func Width(style Style, size float64, text string) float64 {
	size = cmp.Or(size, style.look().size)
	faces.Lock()
	defer faces.Unlock()
	return widthMargin * advance(face(style.look().bold, size), size, text)
}

// advance returns the width of a text. Markers are drawn, as the fonts lack them.
func advance(f font.Face, size float64, text string) (total float64) {
	for _, r := range text {
		if signs[r] != nil {
			total += size
			continue
		}
		a, _ := f.GlyphAdvance(r)
		total += float64(a) / 64
	}
	return total
}

// Fit returns a text cut with an ellipsis to a width.
func Fit(style Style, size, width float64, text string) string {
	if Width(style, size, text) <= width {
		return text
	}
	runes := []rune(text)
	cut := func(n int) string { return strings.TrimRight(string(runes[:n]), " ,;:") + "…" }
	tooLong := sort.Search(len(runes), func(n int) bool { return Width(style, size, cut(n)) > width })
	return cut(max(tooLong-1, 0))
}

// Wrap breaks a text between words into lines of a width.
func Wrap(style Style, size, width float64, text string) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case Width(style, size, line+" "+word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
