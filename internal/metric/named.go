package metric

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
)

// nicknames are the common names of metrics, with the metrics in order of
// preference: a step's number is that of the first metric it has.
var nicknames = map[string][]string{
	"throughput": {"rows_per_s"}, "rate": {"rows_per_s"}, "rows/s": {"rows_per_s"},
	"tps": {"ops_per_s"}, "ops": {"ops_per_s"}, "transactions/s": {"ops_per_s"},
	"qps": {"queries_per_s"}, "queries/s": {"queries_per_s"},
	"p50": latency(P50), "median": latency(P50), "p95": latency(P95), "p99": latency(P99), "p99.9": latency(P999),
	"p999": latency(P999), "max": latency(Max),
	"cpu": costOf("cpu_us"), "written": costOf("write_kb"), "read": costOf("read_kb"),
	"space": {"space_amplification"}, "size": {"db_bytes"}, "memory": {"server_memory_bytes"},
}

// latency returns the metrics of a quantile of an operation's latency: the response
// time if a rate was promised, else the service time.
func latency(q Quantile) []string { return []string{latencyName(Response, q), latencyName(Service, q)} }

// costOf returns a cost and the metric that replaces it if it is unknown.
func costOf(name string) []string { return []string{name, StandIn(name).Name} }

// ambiguous are names that may mean one of several numbers, with the names of these.
var ambiguous = map[string][]string{
	"latency": {"p50", "p95", "p99", "p99.9", "max"}, "percentile": {"p50", "p95", "p99", "p99.9"},
	"reads": {"read_kb", "reads_per_s", "device_reads"}, "writes": {"write_kb", "writes_per_s", "write_amplification"},
	"io": {"read_kb", "write_kb"},
}

// Nickname is a short name that users may write for a metric.
type Nickname struct {
	Name  string
	Means []string // as Named returns them
}

// Nicknames returns all nicknames, sorted.
func Nicknames() (out []Nickname) {
	for name, means := range nicknames {
		out = append(out, Nickname{name, means})
	}
	slices.SortFunc(out, func(a, b Nickname) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Named returns the metrics that a user means by a name: a metric's own name, a nickname
// such as throughput or p99, or the heading of one metric's column. Several are in order
// of preference: a step's number is that of the first metric it has. The error has a hint.
func Named(text string) ([]string, error) {
	name := strings.ToLower(strings.TrimSpace(text))
	if byName[name] != nil {
		return []string{name}, nil
	}
	if means := nicknames[name]; means != nil {
		return slices.Clone(means), nil
	}
	headed := underHeading(name)
	if len(headed) == 1 {
		return headed, nil
	}
	return nil, hint.Errorf(suggestion(name, headed), "there is no metric %q", text)
}

// underHeading returns the metrics whose columns have the heading.
func underHeading(heading string) (out []string) {
	for i := range catalogue {
		if m := &catalogue[i]; m.Label != "" && strings.ToLower(m.Label) == heading {
			out = append(out, m.Name)
		}
	}
	return out
}

// suggestion returns a hint at the possible meanings of a name: those of an
// ambiguous name, the metrics under such a heading, or similar names.
func suggestion(name string, headed []string) string {
	if means := slices.Concat(ambiguous[name], headed); len(means) > 0 {
		return hint.AnyOf(means)
	}
	names := slices.Concat(Names(), slices.Sorted(maps.Keys(nicknames)), slices.Sorted(maps.Keys(ambiguous)))
	near := hint.Near(name, names)
	if len(near) == 1 && ambiguous[near[0]] != nil {
		near = ambiguous[near[0]]
	}
	return cmp.Or(hint.AnyOf(near), Listed)
}

// AllNamed returns the metrics that a user means by any of the names.
func AllNamed(names []string) (out []string, err error) {
	for _, name := range names {
		means, err := Named(name)
		if err != nil {
			return nil, err
		}
		for _, m := range means {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

// JudgedAs returns the metric that is judged under a name that a user may write for it. For
// a latency it is the metric of the response times; if there are none, service times replace
// them.
func JudgedAs(name string) (string, error) {
	names, err := Named(name)
	if err != nil {
		return "", err
	}
	m := ByName(names[0])
	switch {
	case m.Better != "":
		return m.Name, nil
	case m.JudgedBy != "":
		return "", hint.Errorf("write "+m.JudgedBy, "%s is shown and never judged", m.Name)
	}
	return "", hint.Errorf("rumbench list metrics names the direction of each", "neither direction of %s is better",
		m.Name)
}

// ErrorsOf returns the name of the metric that counts the errors of a class.
func ErrorsOf(class string) string { return "errors_" + strings.ReplaceAll(class, " ", "_") }
