package report

import (
	"fmt"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/quantity"
)

// unknown stands for what was not measured. It is never a 0.
const unknown = quantity.Unknown

// String is the number rounded for display.
func (n number) String() string {
	if n.Missing != "" {
		return unknown
	}
	switch {
	case isLatency(n.Metric):
		return duration(n.Value)
	case n.Unit == "B":
		return byteSize(n.Value)
	case n.Unit == "count" && n.Per == "", n.Unit == "s":
		return amount(n.Value)
	case n.Unit == "bool":
		return map[bool]string{true: "yes", false: "no"}[n.Value != 0]
	}
	return decimal(n.Value)
}

func isLatency(name string) bool { return metric.IsLatency(name) }

// full is the number as its row has it.
func full(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// decimal rounds to three or so significant digits, never below the point
// once there are three before it.
func decimal(v float64) string { return quantity.Digits(v) }

// grouped is v without decimals, its thousands apart.
func grouped(v float64) string { return quantity.Whole(v) }

// duration shows microseconds in the unit that fits.
func duration(us float64) string { return quantity.Micros(us) }

// byteSize shows bytes in the binary unit that fits.
func byteSize(b float64) string { return sizeIn(b, decimal) }

func sizeIn(b float64, format func(float64) string) string { return quantity.BytesAs(b, format) }

// amount is decimal for numbers that may well be whole.
func amount(v float64) string { return quantity.Amount(v) }

func seconds(s float64) string { return amount(s) + " s" }

func times(r float64) string { return decimal(r) + "×" }

func percent(share float64) string { return amount(100*share) + " %" }

// plural makes the units of a rate from a denominator: "insert row" → "rows",
// "query" → "queries".
func plural(per string) string {
	word := per[strings.LastIndex(per, " ")+1:]
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		return stem + "ies"
	}
	return word + "s"
}

// units are what a step's throughput counts: "rows" or "queries".
func (s *step) units(op string) string {
	for _, m := range metric.All() {
		if k, ok := s.Cost(m.Name, op); ok && metric.IsCost(m.Name) && (k.Per == op || strings.HasPrefix(k.Per, op+" ")) {
			return plural(k.Per)
		}
	}
	switch op {
	case "insert", "delete", "update", "index":
		return "rows"
	}
	return plural(op)
}

// joined is a list in a sentence.
func joined(parts []string) string {
	switch len(parts) {
	case 0:
		return ""
	case 1:
		return parts[0]
	}
	last := len(parts) - 1
	return fmt.Sprintf("%s and %s", strings.Join(parts[:last], ", "), parts[last])
}
