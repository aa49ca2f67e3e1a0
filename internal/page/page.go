// Package page is a document of headings, prose, facts, tables, drawings, notes
// and folds, and what it looks like as HTML, Markdown and text.
//
// It knows nothing of what a document is about, and computes nothing: numbers
// come formatted, in the order in which they are to stand.
package page

import "encoding/json"

// Document is a page.
type Document struct {
	Title    string
	Lead     []Block // before the contents
	Sections []Section
	Data     []Data   // what the scripts of a page in HTML read
	Style    string   // rules beside those that every page has
	Scripts  []string // programs beside those that draw charts
}

// Data is JSON that a page in HTML carries, in an element with an id.
type Data struct {
	ID   string
	JSON json.RawMessage
}

// Section is a part of a page under a heading, to which addresses lead.
type Section struct {
	ID, Title string
	Class     string
	Nav       string // its name in the contents; "" keeps it out
	Step      bool   // one of a row of sections that can be hidden
	Folded    bool   // shown when asked for
	Blocks    []Block
}

// Block is a part of a section.
type Block interface {
	kind() string // names its template
}

// Heading stands above blocks; with an ID, addresses lead to it.
type Heading struct {
	ID, Text string
	Level    int // 2 and more
}

// Paragraph is prose.
type Paragraph struct {
	Class  string
	Spans  []Span
	Strong bool // what must not be missed
}

// Span is a piece of prose.
type Span struct {
	Text, Class string
	Screen      bool // only of use where there are colours and a pointer: in HTML
}

// Prose is a paragraph of one style.
func Prose(class, text string) Paragraph { return Paragraph{Class: class, Spans: []Span{{Text: text}}} }

// Banner is what a reader must know before anything else.
type Banner string

// List is items below each other.
type List struct {
	Class string
	Items []Item
}

// Item is a line of a list; Link is the id of what Name names.
type Item struct{ Name, Link, Text string }

// Facts are names with their values.
type Facts struct {
	Class string
	Facts []Fact
}

// Fact is a name with a value.
type Fact struct{ Name, Value, Warning string }

// Legend names the series by their markers.
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

// Terms are words and what they mean; addresses lead to each.
type Terms []Term

// Term is a word and what it means.
type Term struct{ ID, Name, Aside, Text string }

// Code is a text to be shown as it is.
type Code struct{ Title, Language, Text string }

// Download offers the page's data as a file, in HTML.
type Download struct{ Title, Text string }

// Beside are blocks that stand beside each other where there is room.
type Beside []Block

// Tabs are tables of which a reader looks at one at a time.
type Tabs []Table

// Grid is tables that stand beside each other where there is room; addresses
// lead to each, by its place.
type Grid struct {
	ID     string
	Tables []Table
}

// Plots are drawings beside each other.
type Plots struct {
	ID, Title string
	Folded    bool
	Plots     []Plot
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
func (Tabs) kind() string      { return "tabs" }
func (Grid) kind() string      { return "grid" }
func (Plots) kind() string     { return "plots" }
func (Table) kind() string     { return "table" }
func (*Notes) kind() string    { return "notes" }
func (Bars) kind() string      { return "bars" }
func (Stacks) kind() string    { return "stacks" }
func (Charts) kind() string    { return "charts" }
