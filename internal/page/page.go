// Package page renders documents of headings, prose, facts, tables, drawings,
// notes and folds as HTML, Markdown and text.
//
// It does not know the subject of a document, and computes nothing: numbers
// arrive formatted and in order.
package page

import (
	"encoding/base64"
	"encoding/json"
	"html/template"

	"rumbench/internal/page/picture"
)

// Document is a page.
type Document struct {
	Title    string
	Lead     []Block // before the contents
	Sections []Section
	Data     []Data   // the data that the scripts of an HTML page read
	Style    string   // style rules in addition to those of every page
	Scripts  []string // scripts in addition to those that draw charts
	Links    []Link   // to other pages, above the title
	Plain    bool     // it has no charts that move, and nothing to take away
	Every    int      // after how many seconds a plain page shows what is new; 0: it stays
}

// Data is JSON embedded in an HTML page, in an element with an id.
type Data struct {
	ID   string
	JSON json.RawMessage
}

// Section is a part of a page under a heading that can be linked to.
type Section struct {
	ID, Title string
	Class     string
	Nav       string // its name in the contents; "" keeps it out
	Step      bool   // one of a row of sections that can be hidden
	Folded    bool   // collapsed
	Blocks    []Block
}

// Block is a part of a section.
type Block interface {
	kind() string // names its template
}

// Heading is a heading above blocks; with an ID it can be linked to.
type Heading struct {
	ID, Text string
	Level    int // 2 and more
}

// Paragraph is prose.
type Paragraph struct {
	Class  string
	Spans  []Span
	Strong bool // emphasized
}

// Span is a piece of prose.
type Span struct {
	Text, Class string
	Screen      bool // only useful with colours and a pointer: in HTML
}

// Prose returns a paragraph of one style.
func Prose(class, text string) Paragraph { return Paragraph{Class: class, Spans: []Span{{Text: text}}} }

// Banner is a message to read before anything else.
type Banner string

// List is a list of items.
type List struct {
	Class string
	Items []Item
}

// Item is a line of a list, with more lines below it; Link is the id of the part that
// Name names.
type Item struct {
	Name, Link, Text string
	More             []string
}

// Facts are names with their values.
type Facts struct {
	Class string
	Facts []Fact
}

// Fact is a name with a value.
type Fact struct{ Name, Value, Warning string }

// Legend maps markers to series.
type Legend struct {
	ID, Class string
	Keys      []Key
}

// Key is a series in a legend.
type Key struct {
	Series    int
	Name, Doc string
	Base      bool // the one that others are compared with
}

// Terms are words with their meanings; each can be linked to.
type Terms []Term

// Term is a word with its meaning.
type Term struct{ ID, Name, Aside, Text string }

// Code is a text shown verbatim.
type Code struct{ Title, Language, Text string }

// Download offers the page's data as a file, in HTML.
type Download struct{ Title, Text string }

// Beside is blocks shown side by side if there is room.
type Beside []Block

// Folds are parts that are shown on request.
type Folds []Fold

// Fold is a collapsed part. Its title describes the content.
type Fold struct {
	Title  string
	Blocks []Block
}

// Grid is tables shown side by side if there is room; each can be linked to by
// its index.
type Grid struct {
	ID     string
	Tables []Table
}

// Plots are drawings side by side.
type Plots struct {
	Title string
	Plots []Plot
}

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

// Link leads to another page; without an address it is the page itself.
type Link struct{ Text, To string }

// Links are links in a line.
type Links []Link

// Form asks for a page with values in its address.
type Form struct {
	To     string // the page; "" is the same
	Fields []Field
	Button string
	Blocks []Block // which may have fields too
}

// Field is a value in the address; with choices, one of them.
type Field struct {
	Name, Label, Value string
	Choices            []FieldChoice
	Hidden             bool
}

// FieldChoice is a value that a field can have.
type FieldChoice struct{ Value, Text string }

// Box is a box in a cell that puts a value into the address: a radio button, of which one
// with a name is chosen, or a check box.
type Box struct {
	Name, Value, Label string
	One, Chosen        bool
}

func (Heading) kind() string   { return "heading" }
func (Paragraph) kind() string { return "paragraph" }
func (Banner) kind() string    { return "banner" }
func (List) kind() string      { return "list" }
func (Facts) kind() string     { return "facts" }
func (Legend) kind() string    { return "legend" }
func (Terms) kind() string     { return "terms" }
func (Code) kind() string      { return "code" }
func (Download) kind() string  { return "download" }
func (Beside) kind() string    { return "beside" }
func (Folds) kind() string     { return "folds" }
func (Grid) kind() string      { return "grid" }
func (Plots) kind() string     { return "plots" }
func (Table) kind() string     { return "table" }
func (*Notes) kind() string    { return "notes" }
func (Bars) kind() string      { return "bars" }
func (Stacks) kind() string    { return "stacks" }
func (Charts) kind() string    { return "charts" }
func (Drawing) kind() string   { return "drawing" }
func (Image) kind() string     { return "image" }
func (Choice) kind() string    { return "choice" }
func (Panels) kind() string    { return "panels" }
func (Badge) kind() string     { return "badge" }
func (Medium) kind() string    { return "medium" }
func (Links) kind() string     { return "links" }
func (Form) kind() string      { return "form" }
