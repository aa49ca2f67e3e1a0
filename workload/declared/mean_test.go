package declared

import (
	"math"
	"testing"
)

// The mean bytes of a column are those of its rows, also where its generator does not
// know them: the space of a table is compared with them.
func TestMeans(t *testing.T) {
	for _, value := range []string{
		"{text: {size: {uniform: [10, 30]}}}", "{text: {size: row % 100 + 50}}", "{text: {size: {normal: {mean: 100, deviation: 10}}}}",
		"{text: {size: {uniform: [10, row / 10 + 20]}}}", "{json: {a: {text: {size: row % 100 + 1}}, b: 5}}",
	} {
		r := small(t, "x: {max: 5000, value: "+value+"}", "", map[string]any{"rows": int64(10_000)})
		values, _ := columnValues(r, "x", 10_000)
		sum := 0
		for _, v := range values {
			sum += v.Size()
		}
		want := float64(sum) / float64(len(values))
		if got := r.tables[0].means[r.tables[0].Column("x")]; math.Abs(got/want-1) > 0.1 {
			t.Errorf("%s has %.1f bytes on average, and is said to have %.1f", value, want, got)
		}
	}
}
