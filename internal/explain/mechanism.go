package explain

import (
	"fmt"
	"math"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// Where two structures differ in kind, what each of them does for a unit of work says more than
// a list of items that only one of them has.

// writing returns what each side writes for a unit: “innodb writes 94.0 KB of pages, as much
// again to the doublewrite buffer, and 2.27 KB of log; …”. It is "" unless the structures
// differ in kind, and both are known.
func writing(s *Step) string {
	k, ok := s.Of.Own(metric.WriteKB)
	if !ok || !s.shapesDiffer() {
		return ""
	}
	base, other := writes(&s.Base, k), writes(&s.New, k)
	if base == "" || other == "" {
		return ""
	}
	return fmt.Sprintf("%s %s; %s %s.", name(&s.Base), base, name(&s.New), other)
}

// mechanism returns what two structures that differ in kind do to cause a cost; "" if they do
// not, or nothing is known of it.
func mechanism(s *Step, name string) string {
	switch k, ok := s.Of.Own(name); {
	case !ok:
	case name == metric.WriteKB:
		return writing(s)
	case name == metric.ReadKB:
		return readsToWrite(s, k)
	}
	return ""
}

// writes returns what a side writes for a unit.
func writes(s *Side, k compare.Key) string {
	if own, ok := compare.Undisturbed(s.step.Of, k, s.Target); ok {
		k = own
	}
	all, counted := s.per(k.Metric, "", k), 0.0
	for _, p := range account.Parts() {
		counted += s.part(p)
	}
	if math.IsNaN(all) && counted > 0 {
		all = counted // others used the device
	}
	if !(all > 0) {
		return ""
	}
	switch s.shape() {
	case engine.InPlace:
		return inPlace(s, k, all)
	case engine.Leveled:
		return mergeText(s, k, all)
	case engine.CopyOnWrite:
		page := bytes(float64(s.runs[0].Structure.Page))
		return fmt.Sprintf("copies the pages of %s from leaf to root: %s per %s%s", page, kb(all), k.Per,
			expected(s, metric.WriteKB))
	}
	return ""
}

// inPlace names what a B-tree writes that changes pages where they are.
func inPlace(s *Side, k compare.Key, all float64) string {
	pages, twice := s.part(account.PagesPart), s.part(account.DoublewritePart)
	log, whole := s.part(account.LogPart), s.part(account.FullPagesPart)
	sum := pages + twice + log + whole
	if sum == 0 {
		return ""
	}
	var list []string
	add := func(value float64, format string) {
		if value >= 0.01*sum {
			list = append(list, fmt.Sprintf(format, kb(value)))
		}
	}
	add(pages, "%s of pages")
	switch {
	case twice > 0 && !unequal(twice, pages, tolerance):
		list = append(list, "as much again to the doublewrite buffer")
	default:
		add(twice, "%s to the doublewrite buffer")
	}
	add(whole, "%s of whole pages to its log")
	add(log, "%s of log")
	if all-sum > tolerance*all {
		add(all-sum, "%s that its counters do not cover")
	}
	return fmt.Sprintf("writes %s per %s", quantity.Joined(list), k.Per)
}

// mergeText names what an LSM tree writes. In a short step it may be the log alone.
func mergeText(s *Side, k compare.Key, all float64) string {
	log, flush := s.part(account.LogPart), s.part(account.FlushPart)
	merged := s.part(account.CompactionPart)
	const uncounted = "%s that its counters do not cover"
	left := all - (log + flush + merged)
	if left < tolerance*all {
		left = 0
	}
	switch {
	case flush+merged < tolerance*log && left == 0:
		return fmt.Sprintf("wrote only its log here, %s per %s: flushes and merges come later", kb(log), k.Per)
	case flush+merged < tolerance*log:
		return fmt.Sprintf("wrote %s of log here and "+uncounted+" per %s: flushes and merges come later", kb(log), kb(left),
			k.Per)
	}
	var list []string
	for _, part := range []struct {
		format string
		kb     float64
	}{{"appends %s to its log", log}, {"flushes %s", flush}, {"merges %s", merged}, {"writes " + uncounted, left}} {
		if part.kb >= 0.01*all {
			list = append(list, fmt.Sprintf(part.format, kb(part.kb)))
		}
	}
	return quantity.Joined(list) + " per " + k.Per
}

// costAtRest returns what a written unit cost in the end, once the engines had come to rest; "" if
// no settle step shows it, or it is much the same.
func costAtRest(s *Step) string {
	k, _ := s.Of.Own(metric.WriteKB)
	base, other := s.Base.mean(settled), s.New.mean(settled)
	now, then := s.Base.per(k.Metric, "", k), s.New.per(k.Metric, "", k)
	if math.IsNaN(base+other) || !unequal(base, now, tolerance) && !unequal(other, then, tolerance) {
		return ""
	}
	return fmt.Sprintf("Over all steps up to the next rest, loads included, a written row costs %s.",
		instead(kb, base, other))
}

// settled returns the KB that a written row cost up to the next rest, which the settle step
// reports; NaN if there is none.
func settled(r *run) float64 {
	for i := r.place() + 1; i < len(r.trial.Steps); i++ {
		step := &r.trial.Steps[i]
		if step.Primary != "" {
			continue
		}
		for row := range rowsOf(step, metric.SettledWriteKB) {
			return row.Value
		}
		break
	}
	return math.NaN()
}

// expected returns the prediction beside a measurement, “ (46.4 expected)”; "" if there is none.
func expected(s *Side, name string) string {
	for _, p := range s.step.Predicted {
		switch {
		case p.Metric != name || p.Side != s:
		case p.Fits():
			return fmt.Sprintf(" (%s expected of the structure)", quantity.Digits(p.Predicted))
		default:
			return fmt.Sprintf(" (%s× what is expected of the structure)", quantity.Digits(p.Measured/p.Predicted))
		}
	}
	return ""
}

// readsToWrite reports that one structure reads pages before it changes them, and the other
// writes without reading; "" if that is not so.
func readsToWrite(s *Step, k compare.Key) string {
	if compare.GroupOf(s.Of) != compare.Group(workload.WriteAccess) || !s.shapesDiffer() {
		return ""
	}
	reads, writes := &s.Base, &s.New
	if s.New.shape() == engine.InPlace {
		reads, writes = writes, reads
	}
	amount := reads.per(metric.ReadKB, "", k)
	if reads.shape() != engine.InPlace || writes.shape() != engine.Leveled || !(amount > leastBlock) ||
		!(writes.per(metric.ReadKB, "", k) < tolerance*amount) {
		return ""
	}
	return fmt.Sprintf("%s must read the pages that it changes, %s per %s%s; %s writes the new entries without reading.",
		name(reads), kb(amount), k.Per, expected(reads, metric.ReadKB), name(writes))
}
