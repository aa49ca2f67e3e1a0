package metric

import "strings"

// Find returns the first of the rows without labels that has the metric, operation and
// denominator given; "" matches any operation or denominator. It is nil if there is none.
func Find(rows []Row, metric, op, per string) *Row {
	for i := range rows {
		r := &rows[i]
		if r.Metric == metric && r.Whole() && (op == "" || r.Op == op) && (per == "" || r.Per == per) {
			return r
		}
	}
	return nil
}

// Labelled returns the first of the rows with the metric and labels given; nil if there is none.
func Labelled(rows []Row, metric string, labels Labels) *Row {
	for i := range rows {
		if r := &rows[i]; r.Metric == metric && r.Labels == labels {
			return r
		}
	}
	return nil
}

// PerOf reports whether a denominator belongs to an operation kind, whose name
// it begins with: "insert row" for "insert", and "query" for "query".
func PerOf(per, op string) bool { return op != "" && (per == op || strings.HasPrefix(per, op+" ")) }
