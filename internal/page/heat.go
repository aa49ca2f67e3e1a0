package page

import "rumbench/internal/page/picture"

// Heat is a map of ratios, rows × columns, in colours that show which are
// better and which worse.
type Heat struct {
	Title   string
	About   string // how to read it
	Columns []HeatColumn
	Rows    []HeatRow
}

// HeatColumn is a column's heading.
type HeatColumn struct {
	Name   string
	Series int
}

// HeatRow is a row of cells.
type HeatRow struct {
	Name, Link string
	Strong     bool // it sums up others
	Cells      []HeatCell
}

// HeatCell is a ratio.
type HeatCell struct {
	Text string
	Tone Tone
	Why  string // it cannot be compared, for this reason
}

// Tone is how much better or worse a number is: 1 to 3, and -1 to -3. The
// hollow tones are for differences that are not proven.
type Tone int

// The tones in addition to those of proven differences.
const (
	NoTone       Tone = 0
	HollowGood   Tone = 10
	HollowBad    Tone = -10
	maxHeatRows       = 12 // rows in a block; longer maps have several side by side
	heatRow           = 24
	heatHead          = 22
	heatGap           = 28
	heatMinWidth      = 330 // wide
)

var tones = map[Tone]picture.Style{
	1: picture.Better1, 2: picture.Better2, 3: picture.Better3, -1: picture.Worse1, -2: picture.Worse2, -3: picture.Worse3,
	HollowGood: picture.MaybeBetter, HollowBad: picture.MaybeWorse,
}

// Picture draws the map, without its title.
func (h *Heat) Picture() *picture.Picture {
	blocks := (len(h.Rows) + maxHeatRows - 1) / maxHeatRows
	each := (len(h.Rows) + blocks - 1) / blocks
	name, cell := 0.0, 62.0
	for _, r := range h.Rows {
		name = max(name, picture.Width(picture.Strong, 0, r.Name)+14)
	}
	for _, c := range h.Columns {
		cell = max(cell, min(110, picture.Width(picture.Plain, 0, c.Name)+26))
	}
	name = min(name, 190)
	wide := name + cell*float64(len(h.Columns))
	p := picture.New(max(heatMinWidth, wide*float64(blocks)+heatGap*float64(blocks-1)), 0, h.Title)
	for b := range blocks {
		left := float64(b) * (wide + heatGap)
		for i, c := range h.Columns {
			x := left + name + cell*float64(i)
			p.Of(c.Series, picture.Mark, picture.Point{X: x + 6, Y: 11})
			p.Write(picture.Plain, x+14, 15, picture.Start, picture.Fit(picture.Plain, 0, cell-16, c.Name))
		}
		for i, r := range h.Rows[b*each : min((b+1)*each, len(h.Rows))] {
			r.draw(p, left, heatHead+heatRow*float64(i), name, cell)
		}
	}
	writeAbout(p, h.About, heatHead+heatRow*float64(each)+aboutLine+2, 4)
	return p
}

func (r *HeatRow) draw(p *picture.Picture, x, y, name, cell float64) {
	style := picture.Plain
	if r.Strong {
		style = picture.Strong
	}
	p.Write(style, x, y+16, picture.Start, picture.Fit(style, 0, name-8, r.Name)).Link = r.Link
	for i, c := range r.Cells {
		left := x + name + cell*float64(i)
		text := picture.Plain
		switch style, ok := tones[c.Tone]; {
		case c.Why != "":
			text = picture.Label
		case !ok:
			p.Rect(-1, picture.Track, left+1, y+1, cell-3, heatRow-3)
		case c.Tone == HollowGood || c.Tone == HollowBad:
			p.Rect(-1, style, left+2, y+2, cell-5, heatRow-5)
		default:
			p.Rect(-1, style, left+1, y+1, cell-3, heatRow-3)
			if c.Tone == 3 || c.Tone == -3 {
				text = picture.Inverse
			}
		}
		p.Write(text, left+cell/2-1, y+16, picture.Middle, c.Text)
	}
}
