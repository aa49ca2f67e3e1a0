package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// mostNamed is the number of numbers of a kind that an answer names, and mostBeyond the
// number of those beyond the question.
const mostNamed, mostBeyond = 5, 3

// Answer returns the judgement's answer to its question, a sentence each: the proven
// differences; the open ones, with the best guess and the trials that would decide them;
// the equivalent numbers; those that could not be compared; and if asked for, the
// findings beyond the question.
func Answer(j *compare.Judgement, beyond bool) []string {
	var by = map[compare.Verdict][]*compare.Item{}
	asked := 0
	for i := range j.Items {
		it := &j.Items[i]
		if it.Asked && (it.Base.Missing == "" || it.New.Missing == "") {
			asked++
			by[it.Verdict] = append(by[it.Verdict], it)
		}
	}
	out := []string{verdictOf(j, by, asked)}
	open := slices.Concat(by[compare.Unclear], by[compare.Unstable])
	out = add(out, "Not proven: ", named(open, func(it *compare.Item) string {
		return strings.TrimSuffix(Guess(it)+", "+outlook(j, &it.Effect), ", ")
	}))
	if same := by[compare.Same]; len(same) < asked {
		out = add(out, fmt.Sprintf("Equivalent within %g %%: ", 100*j.Question.Margin()), named(same, Guess))
	}
	out = add(out, "Not compared: ",
		named(by[""], func(it *compare.Item) string { return Subject(it) + " (" + it.Why + ")" }))
	if beyond {
		out = add(out, "Beyond the question, ", unasked(j))
	}
	return out
}

func add(list []string, lead, text string) []string {
	if text == "" {
		return list
	}
	return append(list, lead+text+".")
}

// verdictOf returns the first sentence of an answer.
func verdictOf(j *compare.Judgement, by map[compare.Verdict][]*compare.Item, asked int) string {
	better, worse := by[compare.Better], by[compare.Worse]
	names := "Proven: " + j.New.Name + " is %s " + j.Base.Name
	switch {
	case asked == 0:
		return "None of the numbers asked about was measured."
	case len(by[""]) == asked:
		return "Nothing that was asked about can be compared."
	case len(better) > 0 && len(worse) > 0:
		return fmt.Sprintf(names, "better than") + " in " + named(better, Guess) + ", and worse in " + named(worse, Guess) +
			"."
	case len(better) > 0:
		return fmt.Sprintf(names, "better than") + " in " + named(better, Guess) + "."
	case len(worse) > 0:
		return fmt.Sprintf(names, "worse than") + " in " + named(worse, Guess) + "."
	case len(by[compare.Same]) == asked:
		return fmt.Sprintf(names, "equivalent to") + fmt.Sprintf(" within %g %%: ", 100*j.Question.Margin()) +
			named(by[compare.Same], Guess) + "."
	}
	return fmt.Sprintf("No difference between %s and %s is proven.", j.New.Name, j.Base.Name)
}

// named lists numbers that are asked about, and the number of those omitted.
func named(items []*compare.Item, text func(*compare.Item) string) string {
	return firstOf(items, mostNamed, text)
}

// firstOf lists some numbers: all in their order, or the most extreme if there are too
// many.
func firstOf(items []*compare.Item, limit int, text func(*compare.Item) string) string {
	items = slices.Clone(items)
	apart := func(it *compare.Item) float64 {
		if math.IsNaN(it.Ratio) || it.Ratio <= 0 {
			return 0
		}
		return math.Abs(math.Log(it.Ratio))
	}
	if len(items) > limit {
		slices.SortStableFunc(items, func(a, b *compare.Item) int { return cmp.Compare(apart(b), apart(a)) })
	}
	parts := quantity.Texts(items[:min(limit, len(items))], text)
	if n := len(items) - limit; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return strings.Join(parts, "; ")
}

// Subject names a number and its step for people.
func Subject(it *compare.Item) string {
	k := it.New.Key
	text := ""
	switch m := metric.ByName(k.Metric); {
	case m == nil:
		text = Name(k)
	case k.Metric == metric.RowsPerS:
		text = cmp.Or(k.Op, "overall") + " throughput"
	case m.Quantile != "":
		text = fmt.Sprintf("%s of %s %s time", m.Quantile, cmp.Or(k.Op, "all"), m.Family)
	case k.Per != "" && k.Per != "step":
		text = m.Label + " per " + k.Per
	default:
		text = m.Label
	}
	if it.For != "" {
		text += " (the process's own, as other programs used the device)"
	}
	return it.Step.Name + " " + text
}

// Guess returns a number with its ratio and interval.
func Guess(it *compare.Item) string {
	text := Subject(it)
	if math.IsNaN(it.Ratio) {
		return text
	}
	return text + " " + quantity.Times(it.Ratio) + interval(&it.Effect)
}

// outlook returns the effort to decide an open number: the number of trials that detect a
// difference, or the difference that the existing ones detect; if the noise is unknown, why
// the number is open.
func outlook(j *compare.Judgement, e *compare.Effect) string {
	switch o := j.Outlook(e); {
	case o.Trials > 0 && o.Trials <= o.Have:
		return fmt.Sprintf("%s would mostly have been found", quantity.RoughShare(o.Difference))
	case o.Trials > 0 && o.Seen:
		return fmt.Sprintf("a difference as large as seen takes %s", quantity.Count(o.Trials, "trial"))
	case o.Trials > 0:
		return fmt.Sprintf("a difference of %s takes %s", quantity.RoughShare(o.Difference),
			quantity.Count(o.Trials, "trial"))
	case math.IsNaN(o.Detectable):
		return e.Why
	case o.Detectable > 1:
		return fmt.Sprintf("too noisy: %d trials find only differences by a factor of %s or more", o.Have,
			quantity.Digits(1+o.Detectable))
	default:
		return fmt.Sprintf("too noisy: %d trials find only differences of %s or more", o.Have,
			quantity.RoughShare(o.Detectable))
	}
}

// unasked returns the findings in the headline numbers beyond the question; "" if there are
// none.
func unasked(j *compare.Judgement) string {
	var found []*compare.Item
	tested := 0
	for i := range j.Items {
		it := &j.Items[i]
		if !it.Headline || it.Asked || it.Verdict == "" {
			continue
		}
		tested++
		if it.Sure() {
			found = append(found, it)
		}
	}
	switch {
	case tested == 0:
		return ""
	case len(found) == 0:
		return fmt.Sprintf("no difference in %s is proven", quantity.Count(tested, "headline number"))
	}
	return fmt.Sprintf("%d of %s are different: ", len(found), quantity.Count(tested, "headline number")) +
		firstOf(found, mostBeyond, func(it *compare.Item) string { return string(it.Verdict) + " " + Guess(it) })
}
