package metric

import (
	"fmt"
	"strings"
)

// Labels say of which part of a step a number is. The zero value: of all of it.
type Labels struct {
	Machine   string `json:"machine,omitempty"`   // of a fleet or of a cluster
	Event     string `json:"event,omitempty"`     // that sessions waited for, as the server calls it
	State     string `json:"state,omitempty"`     // of the sessions
	Object    string `json:"object,omitempty"`    // "table", "table.index"
	Subsystem string `json:"subsystem,omitempty"` // that used CPU time, see profile.Subsystem
}

// String returns the labels as counters have them: machine="s2".
func (l Labels) String() string {
	var parts []string
	for _, label := range []struct{ name, value string }{
		{"machine", l.Machine}, {"event", l.Event}, {"state", l.State}, {"object", l.Object},
		{"subsystem", l.Subsystem},
	} {
		if label.value != "" {
			parts = append(parts, fmt.Sprintf("%s=%q", label.name, label.value))
		}
	}
	return strings.Join(parts, ",")
}
