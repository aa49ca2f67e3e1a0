package engine

// Protocol is how operations reach a server.
type Protocol string

// The protocols.
const (
	Prepared Protocol = "prepared" // the server parses a statement once for a session; values are sent in binary form
	Text     Protocol = "text"     // every execution is a statement with its values in it, parsed anew
)

// Protocols lists the protocols.
func Protocols() []Protocol { return []Protocol{Prepared, Text} }
