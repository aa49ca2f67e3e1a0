package result

// Hook is a command of the plan that was run, outside of all that is measured.
type Hook struct {
	When    string  `json:"when"` // "before step l.i1"
	Command string  `json:"command"`
	Seconds float64 `json:"seconds"`
	Failed  string  `json:"failed,omitempty"` // how it ended, if it failed
}

// HooksFile has what the plan's commands print: in the campaign's directory, and in a trial's.
const HooksFile = "hooks.log"
