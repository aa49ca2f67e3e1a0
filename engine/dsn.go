package engine

import "regexp"

// Hidden stands for what is not shown.
const Hidden = "***"

// Attacher is an engine that can attach to a server that runs already.
type Attacher interface {
	// ReadDSN reads a data source name as the engine's driver does. The error
	// holds nothing of the name.
	ReadDSN(dsn string) (Address, error)
}

// Address is what may be shown of a data source name: who connects to where.
type Address struct {
	User     string
	Network  string // "tcp" or "unix"
	Host     string // with the port, or the socket's path
	Database string // "" for none
}

// What the parts of an address look like that nothing secret got into by a slip,
// such as a password behind a forgotten separator.
var (
	plainName = regexp.MustCompile(`^[\w.-]*$`)
	plainHost = regexp.MustCompile(`^[\w./:\[\]-]*$`)
	network   = regexp.MustCompile(`^(tcp|unix)$`)
)

// String is the address, written as mysql's driver would. A part that may hold
// more than it should is hidden.
func (a Address) String() string {
	text := show(network, a.Network) + "(" + show(plainHost, a.Host) + ")/" + show(plainName, a.Database)
	if a.User == "" {
		return text
	}
	return show(plainName, a.User) + "@" + text
}

func show(plain *regexp.Regexp, part string) string {
	if plain.MatchString(part) {
		return part
	}
	return Hidden
}

// ShowDSN returns what may be shown of a data source name: all of it is hidden
// if the engine cannot read it.
func ShowDSN(e Engine, dsn string) string {
	if dsn == "" {
		return ""
	}
	if a, ok := e.(Attacher); ok {
		if address, err := a.ReadDSN(dsn); err == nil {
			return address.String()
		}
	}
	return Hidden
}

// shownDSN is what ShowDSN returns; older builds wrote a mark for the password.
var shownDSN = regexp.MustCompile(`^((\*\*\*|[\w.-]+)(:\*\*\*)?@)?(tcp|unix)\((\*\*\*|[\w./:\[\]-]*)\)/(\*\*\*|[\w.-]*)$`)

// ShownDSN returns a text that ShowDSN has made, as it is found in a file. What
// it has not made is hidden: older builds could leave a password there.
func ShownDSN(text string) string {
	if shownDSN.MatchString(text) {
		return text
	}
	return Hidden
}
