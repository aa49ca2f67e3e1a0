// Package watch samples collectors at one interval and turns what they return
// into frames: counters as rates at the true elapsed time, gauges as they are,
// and figures derived from both by expressions. It also writes frames, as
// tables, lines or an endpoint for Prometheus.
//
// It knows no command line, runs no load and stores nothing.
package watch
