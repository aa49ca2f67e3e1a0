package plan

import (
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
	"rumbench/workload/pace"
)

func TestRate(t *testing.T) {
	for text, want := range map[string]*Rate{
		"rate: 2000":             {At: []float64{2000}, Like: pace.Arrivals{Kind: pace.Poisson}},
		"rate: [0.5, 1_000]":     {At: []float64{0.5, 1000}, Like: pace.Arrivals{Kind: pace.Poisson}},
		"rate: [1.5k, 2000/s]":   {At: []float64{1500, 2000}, Like: pace.Arrivals{Kind: pace.Poisson}},
		"rate: {ramp: [500, 4]}": {Ramp: []float64{500, 4}, Like: pace.Arrivals{Kind: pace.Poisson}},
		"rate: {at: 2000, arrivals: burst, queue: 10000}":    {At: []float64{2000}, Like: pace.Arrivals{Kind: pace.Burst, Queue: 10000}},
		"rate: {at: [1, 2], arrivals: even}":                 {At: []float64{1, 2}, Like: pace.Arrivals{Kind: pace.Even}},
		"rate:\n  steps: [500, 1000, 500]\n  arrivals: even": {Steps: []float64{500, 1000, 500}, Like: pace.Arrivals{Kind: pace.Even}},
	} {
		expect.Same(t, want, load(t, "workload: ibench\ntargets: [pebble]\n"+text+"\n").Rate, text)
	}
}

func TestFind(t *testing.T) {
	for text, want := range map[string]*Find{
		"find: p99_ms < 10": {Promise: "p99_ms < 10", Percentile: 99, Below: 10 * time.Millisecond, Precision: 0.05, Credit: 0.05, Hold: -1, Like: pace.Arrivals{Kind: pace.Poisson, LeadIn: 2}},
		"find: {promise: p999_ms<0.5, from: 100, to: 2500.5, precision: 2%, seconds: 20, credit: 1%, hold: 60s, arrivals: even, queue: 7, lead_in: 500ms}": {
			Promise: "p999_ms < 0.5", Percentile: 99.9, Below: 500 * time.Microsecond, From: 100, To: 2500.5, Precision: 0.02, Seconds: 20, Credit: 0.01, Hold: 60, Like: pace.Arrivals{Kind: pace.Even, Queue: 7, LeadIn: 0.5}},
		"find: max < 1 s": {Promise: "max_ms < 1000", Percentile: 100, Below: time.Second, Precision: 0.05, Credit: 0.05, Hold: -1, Like: pace.Arrivals{Kind: pace.Poisson, LeadIn: 2}},
	} {
		expect.Same(t, want, load(t, "workload: ibench\ntargets: [pebble]\n"+text+"\n").Find, text)
	}
}

// However a promise is written, one text stands for it in results.
func TestPromise(t *testing.T) {
	read := func(text string) (kept, error) { return promise.Read(&strictyaml.Node{Text: text}) }
	for text, want := range map[string]string{
		"p99_ms < 10": "p99_ms < 10", "p99_ms<10.0": "p99_ms < 10", "p99 < 10ms": "p99_ms < 10", "P99 < 10 ms": "p99_ms < 10", "p99_ms < 10ms": "p99_ms < 10", "p99 < 0.01s": "p99_ms < 10",
		"p95 < 500us": "p95_ms < 0.5", "p95_us < 500": "p95_ms < 0.5", "p95 < 500 µs": "p95_ms < 0.5", "p99.9 < 1s": "p999_ms < 1000", "p999 < 2 min": "p999_ms < 120000", "max < 50ms": "max_ms < 50", "p50 < 1.25ms": "p50_ms < 1.25",
	} {
		if got, err := read(text); err != nil || got.text != want {
			t.Errorf("%s: %q, %v, want %q", text, got.text, err, want)
		}
	}
	for text, want := range map[string]string{
		"p99 < 10": "write p99 < 10ms, if", "p99 <= 10ms": "write p99 < 10ms", "p99 ≤ 10 ms": "write p99 < 10 ms", "p90 < 10ms": "did you mean", "p99 > 10ms": "as in find", "fast": "as in find", "p99_ms < 10us": "such as 10ms",
		"p99 < 0ms": "such as", "p99 < 2h": "such as", "p99 < 1.2.3ms": "such as", "p99 < 5 parsecs": "such as", "p99 < -5ms": "as in find",
	} {
		if got, err := read(text); err == nil || !strings.HasPrefix(hint.Of(err), want) {
			t.Errorf("%s: %q, %v, hint %q, want %q", text, got.text, err, hint.Of(err), want)
		}
	}
}

// steps are what is run with a rate: names, bases, and what arrives at whom.
func steps(t *testing.T, rate string) (out [][]any) {
	t.Helper()
	p := load(t, "workload: ibench\ntargets: [pebble]\n"+rate+"\n")
	for _, s := range p.Steps() {
		row := []any{s.Name, s.Base, s.Before, s.Axes}
		for _, g := range s.Groups {
			if g.Arrivals != nil {
				row = append(row, g.Name, *g.Arrivals)
			}
		}
		out = append(out, row)
	}
	for _, s := range p.Run.Steps() {
		for _, g := range s.Groups {
			expect.True(t, g.Arrivals == nil, "the run itself was changed")
		}
	}
	return out
}

func TestSteps(t *testing.T) {
	at := func(segments ...pace.Segment) pace.Arrivals {
		return pace.Arrivals{Kind: pace.Poisson, Segments: segments}
	}
	clients := workload.Axis{Name: "clients", Value: 8}
	axes := func(rate float64, more ...workload.Axis) []workload.Axis {
		return append(more, workload.Axis{Name: "rate", Value: rate})
	}
	var none []workload.Axis
	for rate, want := range map[string][][]any{
		"rate: [5, 0.5]": {
			{"load", "", "", none},
			{"query@5", "query", "", axes(5), "query", at(pace.Segment{Seconds: 60, From: 5, To: 5})},
			{"query@0.5", "query", "", axes(0.5), "query", at(pace.Segment{Seconds: 60, From: 0.5, To: 0.5})},
			{"again@5", "sweep", "query@5", axes(5, clients), "query", at(pace.Segment{Seconds: 30, From: 5, To: 5})},
			{"again@0.5", "sweep", "query@0.5", axes(0.5, clients), "query", at(pace.Segment{Seconds: 30, From: 0.5, To: 0.5})},
		},
		"rate: {ramp: [500, 4000]}": {
			{"load", "", "", none},
			{"query", "", "", none, "query", at(pace.Segment{Seconds: 60, From: 500, To: 4000})},
			{"again", "sweep", "query", []workload.Axis{clients}, "query", at(pace.Segment{Seconds: 30, From: 500, To: 4000})},
		},
		"rate: {steps: [5, 10]}": {
			{"load", "", "", none},
			{"query", "", "", none, "query", at(pace.Segment{Seconds: 30, From: 5, To: 5}, pace.Segment{Seconds: 30, From: 10, To: 10})},
			{"again", "sweep", "query", []workload.Axis{clients}, "query", at(pace.Segment{Seconds: 15, From: 5, To: 5}, pace.Segment{Seconds: 15, From: 10, To: 10})},
		},
	} {
		expect.Same(t, want, steps(t, rate), rate)
	}
}
