package page

// What only pages have that are parts of a site. Addresses are relative to the page.

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

func (Links) kind() string { return "links" }
func (Form) kind() string  { return "form" }
