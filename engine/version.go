package engine

import (
	"cmp"
	"runtime/debug"
)

// ModuleVersion returns the version of a Go module that this binary was built
// with, "unknown" if the build information lacks it.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return cmp.Or(m.Replace, m).Version
			}
		}
	}
	return "unknown"
}
