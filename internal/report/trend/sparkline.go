package trend

import (
	"math"
	"slices"
	"strings"

	"rumbench/internal/stat"
)

// sparkline draws values with a character each; if there are more than sixty, a
// character is the median of some neighbours. The height represents at least a
// tenth of the greatest value, so that noise looks flat.
func sparkline(values []float64) string {
	const width = 60
	var v []float64
	for group := range slices.Chunk(values, (len(values)+width-1)/width) {
		v = append(v, stat.Median(group))
	}
	low, high := slices.Min(v), slices.Max(v)
	lowest := 0.1 * math.Max(math.Abs(low), math.Abs(high))
	if lowest == 0 {
		lowest = 1 // nothing but zeros
	}
	if high-low < lowest {
		middle := (low + high) / 2
		low, high = middle-lowest/2, middle+lowest/2
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, x := range v {
		i := int((x - low) / (high - low) * float64(len(bars)))
		b.WriteRune(bars[min(i, len(bars)-1)])
	}
	return b.String()
}
