package layout

// Line is the rate of a configuration in a test.
type Line struct {
	Tag  string  // the configuration
	Rate float64 // NaN: unknown
	// Unlike: the work differs from the base's, so there are no ratios.
	Unlike bool
}

// Test is a test with the lines of all configurations. The first line is the base of the others.
type Test struct {
	Name  string
	Lines []Line
	Note  string // a remark of the analyst; may be empty
}
