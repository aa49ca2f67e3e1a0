package engine

// Protocol is how operations reach a server.
type Protocol string

// The protocols.
const (
	// server-side prepared statements, parsed once per session; values are sent in binary form
	Prepared Protocol = "prepared"
	Text     Protocol = "text" // every execution is a statement with literal values, parsed each time
)

func Protocols() []Protocol { return []Protocol{Prepared, Text} }
