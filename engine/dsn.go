package engine

import (
	"regexp"
	"strings"

	"rumbench/internal/text/escape"
)

// Attacher is an engine that can attach to a running server.
type Attacher interface {
	// ReadDSN parses a data source name as the engine's driver does. Its error
	// reveals no part of the name.
	ReadDSN(dsn string) (Address, error)
}

// Address is the part of a data source name that may be shown: user and server.
type Address struct {
	User     string
	Network  string // "tcp" or "unix"
	Host     string // with the port, or the socket's path
	Database string // "" for none
}

// The parts of an address match these unless something else slipped into them,
// such as a password after a missing separator.
var (
	safeName = regexp.MustCompile(`^[\w.-]*$`)
	safeHost = regexp.MustCompile(`^[\w./:\[\]-]*$`)
	network  = regexp.MustCompile(`^(tcp|unix)$`)
)

// String returns the address as MySQL's driver writes it. A part that may hold
// a secret is hidden.
func (a Address) String() string {
	text := show(network, a.Network) + "(" + show(safeHost, a.Host) + ")/" + show(safeName, a.Database)
	if a.User == "" {
		return text
	}
	return show(safeName, a.User) + "@" + text
}

func show(safe *regexp.Regexp, part string) string {
	if safe.MatchString(part) {
		return part
	}
	return escape.Hidden
}

// ShowDSN returns the part of a data source name that may be shown, escape.Hidden if
// the engine cannot parse it.
func ShowDSN(e Engine, dsn string) string {
	if dsn == "" {
		return ""
	}
	if a, ok := e.(Attacher); ok {
		if address, err := a.ReadDSN(dsn); err == nil {
			return address.String()
		}
	}
	return escape.Hidden
}

// shownDSN matches the results of ShowDSN.
var shownDSN = regexp.MustCompile(`^((\*\*\*|[\w.-]+)@)?(tcp|unix)\((\*\*\*|[\w./:\[\]-]*)\)/(\*\*\*|[\w.-]*)$`)

// ShownDSN returns a text found in a file if ShowDSN could have written it,
// else escape.Hidden.
func ShownDSN(text string) string {
	for part := range strings.SplitSeq(text, ", ") { // of each gateway
		if !shownDSN.MatchString(part) {
			return escape.Hidden
		}
	}
	return text
}
