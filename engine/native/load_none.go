//go:build !native || !cgo || !linux

package native

// Built reports whether this binary has the native engines.
const Built = false
