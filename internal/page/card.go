package page

import "rumbench/internal/page/picture"

// Card draws a title and blocks as one picture, for posts: of a choice only the
// first option. Blocks that are not for a first screen are left out.
func Card(title string, blocks []Block) *picture.Picture {
	c := &card{Picture: picture.New(cardWidth, 0, title), y: cardMargin}
	c.y += 22
	c.Write(picture.Heading, cardMargin, c.y, picture.Start,
		picture.Fit(picture.Heading, 0, cardWidth-2*cardMargin, title))
	c.y += 8
	for _, b := range blocks {
		c.block(b)
	}
	c.y += 10
	c.Write(picture.Label, cardWidth-cardMargin, c.y, picture.End, "made with rumbench").Size = 11
	c.Height = c.y + cardMargin/2
	return c.Picture
}

const (
	cardWidth   = 1280
	cardMargin  = 28
	cardBetween = 36 // columns
)

// card is a picture that grows by blocks from top to bottom.
type card struct {
	*picture.Picture
	y float64 // the start of the next block
}

func (c *card) block(b Block) {
	switch b := b.(type) {
	case Paragraph:
		style, size := picture.Plain, 15.0
		if b.Class == "head" {
			style, size = picture.Label, 12.5
		}
		c.paragraph(style, size, cardMargin, b.text())
	case Badge:
		c.y += 26
		c.Add(picture.Style(b.Level), picture.Circle(cardMargin+9, c.y-5, 9)...).Closed = true
		sign := c.Write(picture.Inverse, cardMargin+9, c.y, picture.Middle, b.Level.Sign())
		sign.Size = 13
		c.y -= 18.5
		c.paragraph(picture.Plain, 13.5, cardMargin+26, b.Line)
	case Medium:
		for _, b := range b.Drawn {
			c.block(b)
		}
	case Choice:
		for _, b := range b.Options[0].Blocks {
			c.block(b)
		}
	case Panels:
		c.columns(b)
	}
}

func (c *card) paragraph(style picture.Style, size, x float64, text string) {
	for _, line := range picture.Wrap(style, size, cardWidth-x-cardMargin, text) {
		c.y += size + 5
		c.Write(style, x, c.y, picture.Start, line).Size = size
	}
	c.y += 5
}

// columns draws cells side by side: with equal widths, or with their natural
// widths, in rows.
func (c *card) columns(p Panels) {
	const inside = cardWidth - 2*cardMargin
	equal := (inside - cardBetween*float64(len(p.Cells)-1)) / float64(max(1, len(p.Cells)))
	top, x, bottom := c.y+8, float64(cardMargin), c.y
	for _, blocks := range p.Cells {
		cell := &card{Picture: picture.New(0, 0, "")}
		for _, b := range blocks {
			cell.drawn(b, equal, p.Class == "")
		}
		if x > cardMargin && x+cell.Width > cardWidth-cardMargin+1 {
			top, x = bottom+8, cardMargin
		}
		c.Put(cell.Picture, x, top, 1)
		x, bottom = x+cell.Width+cardBetween, max(bottom, top+cell.y)
	}
	c.y = bottom
}

// drawn adds a block to a column, scaled to a width or in its natural width.
func (c *card) drawn(b Block, width float64, fit bool) {
	switch b := b.(type) {
	case Medium:
		for _, b := range b.Drawn {
			c.drawn(b, width, fit)
		}
	case Choice:
		for _, b := range b.Options[0].Blocks {
			c.drawn(b, width, fit)
		}
	case Drawing:
		scale := 1.0
		if fit {
			scale = width / b.Picture.Width
		} else {
			width = b.Picture.Width
		}
		c.caption(b.Caption, width)
		c.Put(b.Picture, 0, c.y+6, scale)
		c.y += scale*b.Picture.Height + 12
		c.Width = max(c.Width, scale*b.Picture.Width)
	case Table:
		c.caption(b.Title, width)
		c.table(b)
	}
}

func (c *card) caption(text string, width float64) {
	c.y += 16
	c.Write(picture.Strong, 0, c.y, picture.Start, picture.Fit(picture.Strong, 13, width, text)).Size = 13
}

func (c *card) table(t Table) {
	const between, line, widest = 18, 20, 160
	widths := make([]float64, len(t.Columns)+1)
	each := func(write func(i int, text string, style picture.Style)) {
		write(0, t.Head, picture.Label)
		for i, column := range t.Columns {
			write(i+1, column.Name, picture.Label)
		}
		write(-1, "", "")
		for _, g := range t.Groups {
			for _, r := range g.Rows {
				write(0, r.Head, picture.Plain)
				for i, cell := range r.Cells {
					write(i+1, cell.Text, picture.Plain)
				}
				write(-1, "", "")
			}
		}
	}
	each(func(i int, text string, style picture.Style) {
		if i >= 0 {
			widths[i] = max(widths[i], min(widest, picture.Width(style, 0, text)))
		}
	})
	x := 0.0
	c.y += line
	each(func(i int, text string, style picture.Style) {
		if i < 0 {
			c.Width, x = max(c.Width, x), 0
			c.y += line
			return
		}
		c.Write(style, x, c.y, picture.Start, picture.Fit(style, 0, widths[i], text))
		x += widths[i] + between
	})
}
