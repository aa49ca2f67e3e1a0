// Package metric is the catalogue of everything that rumbench measures: the
// meaning of each metric, the rows that hold its values, and the warnings that
// limit their use. It measures nothing and reads no files.
package metric

import (
	"slices"

	"rumbench/internal/text/quantity"
)

// Metric is everything known about a metric. It has many fields because the tables of
// reports, their hover texts, comparisons, histories, the glossary and `list metrics`
// are made from them.
type Metric struct {
	Name    string
	Unit    string
	Better  Direction
	Family  Family
	Section Section // where the report shows its numbers
	Label   string  // the heading of its column; "": its name
	// Per is the denominator of its numbers.
	Per Denominator
	// Headline is its role in judging a step.
	Headline Headline
	// StandsIn is the headline that it replaces in steps without that headline;
	// JudgedBy is the metric that is judged instead of this one.
	StandsIn, JudgedBy string
	// Split marks a number of the engine alone or of its clients alone: if both are one
	// process, the number means something else and is not compared with a server's.
	Split bool
	// Uncompared: its numbers are shown and exported, and in no comparison.
	Uncompared bool
	// Quantile is the quantile of a latency distribution that it holds.
	Quantile Quantile
	Doc      string // its meaning, in sentences
	Formula  string // "operations ÷ duration_s"; "" if Doc is complete
	See      string // the page in docs/ with details
}

// Direction is the better direction of a metric; "" if neither is better. Only
// metrics with a direction are judged.
type Direction string

// The directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Family is a group of metrics of the same kind.
type Family string

// The families. Latency families prefix the names of their metrics:
// service_p99_us.
const (
	Throughput Family = "throughput"
	Failures   Family = "failures" // of attempts and operations
	ErrorClass Family = "errors"   // attempts that failed, by class
	Spread     Family = "spread"   // over the clients
	Service    Family = "service"
	Response   Family = "response"
	Lateness   Family = "lateness"
	Attempt    Family = "attempt"
	GivenUp    Family = "failed"
	Statement  Family = "statement"
	Stalls     Family = "stalls"
	Restarts   Family = "restarts"
	Arrivals   Family = "arrivals"
	Promise    Family = "promise"
	CPU        Family = "cpu"
	Storage    Family = "storage"
	Engine     Family = "engine"
	Space      Family = "space"
	Memory     Family = "memory"
	Waits      Family = "waits"
	Client     Family = "client"
)

// LittleIO, in KB of a window, is too little to be reported or judged: any program causes
// as much.
const LittleIO = 128

// Denominator is the unit that the numbers of a metric are divided by. Each row names its own.
type Denominator string

// The denominators; "" for numbers that are not divided.
const (
	PerUnit      Denominator = "unit"         // of the primary operation, and of others
	PerWritten   Denominator = "written unit" // of the step's writing operation first
	PerOperation Denominator = "operation"
)

// Headline is a metric's role in judging a step.
type Headline int

// The headlines. Few are judged, because each additional one makes all of them
// harder to prove.
const (
	Judged   Headline = iota + 1 // a step is judged by it
	Followed                     // histories follow it too
)

// Quantile is a value of a latency distribution.
type Quantile string

// The quantiles.
const (
	Mean Quantile = "mean"
	P50  Quantile = "p50"
	P95  Quantile = "p95"
	P99  Quantile = "p99"
	P999 Quantile = "p999"
	Max  Quantile = "max"
	Min  Quantile = "min"
)

// All returns all metrics that rows may hold, in the order of the report.
func All() []Metric { return catalogue }

func Names() []string {
	return quantity.Texts(catalogue, func(m Metric) string { return m.Name })
}

// Listed points to the list of all names, which are too many for a message.
const Listed = "rumbench list metrics names them"

// ByName returns the metric of that name, nil if there is none.
func ByName(name string) *Metric { return byName[name] }

// InSection returns the names of the metrics in a section of the report, in the
// order of its columns.
func InSection(s Section) (out []string) {
	for i := range catalogue {
		if catalogue[i].Section == s {
			out = append(out, catalogue[i].Name)
		}
	}
	return out
}

// Headlines returns the metrics that have one of the headline roles given.
func Headlines(ways ...Headline) (out []*Metric) {
	for i := range catalogue {
		if slices.Contains(ways, catalogue[i].Headline) {
			out = append(out, &catalogue[i])
		}
	}
	return out
}

// StandIn returns the metric that replaces a headline; nil if there is none.
func StandIn(headline string) *Metric {
	if i := slices.IndexFunc(catalogue, func(m Metric) bool { return m.StandsIn == headline }); i >= 0 {
		return &catalogue[i]
	}
	return nil
}

// Latency returns the metric of a value of a distribution; nil if there is none.
func Latency(f Family, q Quantile) *Metric { return byName[latencyName(f, q)] }

// Label returns the heading of the metric's column: its label, or else its
// name.
func Label(name string) string {
	if m := byName[name]; m != nil && m.Label != "" {
		return m.Label
	}
	return name
}

// FamilyOf returns the metric's family; "" if there is no such metric.
func FamilyOf(name string) Family {
	if m := byName[name]; m != nil {
		return m.Family
	}
	return ""
}

// IsLatency reports whether the metric is a value of a latency distribution.
func IsLatency(name string) bool {
	m := byName[name]
	return m != nil && m.Quantile != ""
}

// IsCost reports whether the metric is a cost per unit of something.
func IsCost(name string) bool {
	m := byName[name]
	return m != nil && (m.Per == PerUnit || m.Per == PerWritten)
}

// Meaning returns the doc with the denominator and the formula.
func (m Metric) Meaning() string {
	text := m.Doc
	if m.Per != "" {
		text += " Per " + string(m.Per) + "."
	}
	if m.Formula != "" {
		text += " Formula: " + m.Formula + "."
	}
	return text
}

var (
	catalogue = makeCatalogue()
	byName    = func() map[string]*Metric {
		out := make(map[string]*Metric, len(catalogue))
		for i := range catalogue {
			out[catalogue[i].Name] = &catalogue[i]
		}
		return out
	}()
)
