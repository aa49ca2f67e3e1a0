//go:build demo

package all

import "rumbench/engine"

// servers is empty in the program of make demo, which is compiled in half the time.
var servers []engine.Engine
