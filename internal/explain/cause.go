package explain

import "slices"

// Cause is an item of a sum, and the rule that names it.
type Cause struct {
	Contribution
	// Share is the part of the sum's difference that the cause accounts for, with an
	// interval; NaN if that difference is not proven.
	Share, ShareLow, ShareHigh float64
	Rule                       Rule
	Evidence                   Evidence
	Sentence                   string // about the item
	detail                     string // of it, that follows the share
	// Driver is what makes the item differ, a clause that follows “because”, or “probably because”
	// if it is a pattern. It is "" if that is not known, or if the item is the reason itself.
	Driver string
}

// Reason reports whether the item by itself says why. Others only say where time or bytes go:
// that is to be explained.
func (c *Cause) Reason() bool { return c.Driver == "" && c.Evidence != Pattern && !c.Rule.place() }

// place reports whether a cause without a driver says where the time goes, and not why.
func (r Rule) place() bool { return slices.Contains([]Rule{"", RuleCPU, RuleClient, RulePauses}, r) }

// Text is the sentence with its driver.
func (c *Cause) Text() string { return c.with("") }

// with is the sentence with the share of the difference, and its driver.
func (c *Cause) with(share string) string {
	switch {
	case c.Driver == "":
		return c.Sentence + share + c.detail
	case c.Evidence == Pattern:
		return c.Sentence + share + c.detail + ", probably because " + c.Driver
	}
	return c.Sentence + share + c.detail + ", because " + c.Driver
}
