package compare

import (
	"math"
	"strconv"
	"strings"

	"rumbench/internal/observe"
)

// farApart returns which facts that vary from trial to trial are far apart: shares of the file system by 20
// points, and extents per file, from 16 on, by a factor of 2.
func farApart(x, y observe.Facts) (names []string) {
	number := func(f observe.Facts, name string) float64 {
		v, _ := strconv.ParseFloat(strings.TrimSuffix(f.Value(name), " %"), 64) // 0: unknown
		return v
	}
	if a, b := number(x, observe.UsedFact), number(y, observe.UsedFact); a > 0 && b > 0 && math.Abs(a-b) >= 20 {
		names = append(names, observe.UsedFact)
	}
	a, b := number(x, observe.ExtentsFact), number(y, observe.ExtentsFact)
	if low, high := min(a, b), max(a, b); low > 0 && high >= 16 && high >= 2*low {
		names = append(names, observe.ExtentsFact)
	}
	return names
}
