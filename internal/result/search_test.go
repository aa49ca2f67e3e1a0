package result_test

import (
	"testing"

	"rumbench/internal/result"
)

func TestSearchWords(t *testing.T) {
	for _, c := range []struct {
		search result.Search
		want   string
	}{
		{result.Search{Promise: "p99_ms < 20", Kept: 691, Took: 12.25, Broke: 725, Why: "p99 313 ms"}, "p99 < 20 ms holds up to 691/s; broken at 725/s (p99 313 ms)"},
		{result.Search{Promise: "p99_ms < 20", Broke: 53, Why: "p99 40 ms"}, "p99 < 20 ms: no rate that was tried kept it (lowest 53/s: p99 40 ms)"},
		{result.Search{Promise: "max_ms < 1.5", Kept: 400, Took: 1.25}, "max < 1.5 ms kept at the highest rate tried, 400/s (max 1.25 ms)"},
		{result.Search{Promise: "p99_ms < 20", Kept: 1234567, Broke: 1300000, Why: "12 operations were shed"}, "p99 < 20 ms holds up to 1234567/s; broken at 1300000/s (12 operations were shed)"},
	} {
		if got := c.search.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
