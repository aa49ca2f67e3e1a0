package mysql

import (
	"fmt"
	"strings"
)

// release is what a server says that it is.
type release struct {
	text         string
	maria        bool
	major, minor int
}

func parseRelease(text string) release {
	r := release{text: text, maria: strings.Contains(text, "MariaDB")}
	// MariaDB may put 5.5.5- in front, for the sake of old replicas.
	fmt.Sscanf(strings.TrimPrefix(text, "5.5.5-"), "%d.%d", &r.major, &r.minor)
	return r
}

func (r release) atLeast(major, minor int) bool {
	return r.major > major || r.major == major && r.minor >= minor
}

// fractions tells whether times have fractions of seconds.
func (r release) fractions() bool { return r.atLeast(5, 6) }

// redoApart tells whether Innodb_data_written leaves the redo log out.
func (r release) redoApart() bool { return r.maria && r.atLeast(10, 5) }
