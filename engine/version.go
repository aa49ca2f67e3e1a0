package engine

import "runtime/debug"

// ModuleVersion returns the version of a Go module that this binary was built
// with, "unknown" if the build information lacks it.
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == path {
			if m.Replace != nil {
				m = m.Replace
			}
			return m.Version
		}
	}
	return "unknown"
}
