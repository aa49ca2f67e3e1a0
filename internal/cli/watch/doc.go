// Package watch samples collectors at one interval and turns the samples into
// frames: counters as rates over the true elapsed time, gauges as they are, and
// metrics derived from both by expressions. It also writes frames as tables, lines
// or a Prometheus endpoint.
//
// It knows no command line, runs no load and stores nothing.
package watch
