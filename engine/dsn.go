package engine

import "regexp"

// Hidden replaces what must not be shown.
const Hidden = "***"

// Attacher is an engine that can attach to a running server.
type Attacher interface {
	// ReadDSN parses a data source name as the engine's driver does. Its error
	// reveals nothing of the name.
	ReadDSN(dsn string) (Address, error)
}

// Address is what may be shown of a data source name: user and server.
type Address struct {
	User     string
	Network  string // "tcp" or "unix"
	Host     string // with the port, or the socket's path
	Database string // "" for none
}

// The parts of an address match these unless something else slipped into them,
// such as a password after a missing separator.
var (
	plainName = regexp.MustCompile(`^[\w.-]*$`)
	plainHost = regexp.MustCompile(`^[\w./:\[\]-]*$`)
	network   = regexp.MustCompile(`^(tcp|unix)$`)
)

// String returns the address as MySQL's driver writes it. A part that may hold
// a secret is hidden.
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

// ShowDSN returns what may be shown of a data source name, Hidden if the engine
// cannot parse it.
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

// shownDSN matches what ShowDSN returns; older builds wrote *** for the password.
var shownDSN = regexp.MustCompile(`^((\*\*\*|[\w.-]+)(:\*\*\*)?@)?(tcp|unix)\((\*\*\*|[\w./:\[\]-]*)\)/(\*\*\*|[\w.-]*)$`)

// ShownDSN returns a text found in a file if ShowDSN could have written it,
// else Hidden: older builds could leave a password there.
func ShownDSN(text string) string {
	if shownDSN.MatchString(text) {
		return text
	}
	return Hidden
}
