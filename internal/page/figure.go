package page

import (
	"encoding/base64"
	"html/template"

	"rumbench/internal/page/picture"
)

// Drawing is a picture under a caption.
type Drawing struct {
	Name    string // a short name; may be ""
	Caption string
	Picture *picture.Picture
	Wide    bool // a small screen scrolls it instead of shrinking it
}

// Image is a drawing of others, in SVG, that is shown without its scripts.
type Image struct{ Caption, SVG string }

// Source returns the address of the image: the image itself as a data URL.
func (i Image) Source() template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(i.SVG)))
}

// Choice is a set of blocks, one of which is shown at a time, initially the
// first.
type Choice struct {
	ID      string // unique on the page
	Name    string // the subject of the choice, for screen readers
	Below   bool   // the names are below the block
	Options []Option
}

// Option is a block that can be chosen.
type Option struct {
	Name   string
	Blocks []Block
}

// Panels are blocks side by side if there is room, each in a cell.
type Panels struct {
	Class string
	Cells [][]Block
}

// Badge is a line on how far the page can be trusted, with details when it is
// opened.
type Badge struct {
	Level Level
	Line  string
	More  []string
}

// Level is a colour of a badge.
type Level string

// The levels.
const (
	Good Level = "good"
	Fair Level = "fair"
	Poor Level = "poor"
)

// Sign returns the level without colour.
func (l Level) Sign() string { return map[Level]string{Good: "✓", Fair: "!", Poor: "✗"}[l] }

// Medium is blocks that are only for some media: drawn ones for pages, written
// ones for Markdown.
type Medium struct{ Drawn, Written []Block }

func (Drawing) kind() string { return "drawing" }
func (Image) kind() string   { return "image" }
func (Choice) kind() string  { return "choice" }
func (Panels) kind() string  { return "panels" }
func (Badge) kind() string   { return "badge" }
func (Medium) kind() string  { return "medium" }
