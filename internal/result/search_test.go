package result_test

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/result"
)

func TestSearchWords(t *testing.T) {
	for _, c := range []struct {
		search result.Search
		want   string
	}{
		{result.Search{Promise: "p99_ms < 20", Kept: 691, Took: 12.25, Broke: 725, Low: 691, High: 725, Why: "p99 313 ms", Probes: 7, Closed: 900}, "highest rate with p99 < 20 ms: 691/s (691 to 725), 7 probes; closed loop 900/s"},
		{result.Search{Promise: "p99_ms < 20", Broke: 53, High: 53, Why: "p99 40 ms", Probes: 7, Closed: 900}, "no rate that was tried kept p99 < 20 ms in most of its probes (lowest 53/s: p99 40 ms), 7 probes; closed loop 900/s"},
		{result.Search{Promise: "p99_ms < 20", Kept: 1234567, Broke: 1300000, Low: 1234567, High: 1300000, Why: "12 operations were shed", Probes: 7, Closed: 900}, "highest rate with p99 < 20 ms: 1,234,567/s (1,234,567 to 1,300,000), 7 probes; closed loop 900/s"},
		{result.Search{Promise: "p99_ms < 10", Kept: 5230, Broke: 5350, Low: 5100, High: 5350, Probes: 9, Closed: 6900}, "highest rate with p99 < 10 ms: 5,230/s (5,100 to 5,350), 9 probes; closed loop 6,900/s"},
		{result.Search{Promise: "p99_ms < 10", Kept: 400, Low: 400, Probes: 1, Closed: 6900, Capped: true}, "highest rate with p99 < 10 ms: at least 400/s, 1 probe; closed loop 6,900/s"},
		{result.Search{Promise: "p99_ms < 10", Kept: 400, Broke: 420, High: 420, Probes: 20, Closed: 690}, "highest rate with p99 < 10 ms: 400/s (at most 420), 20 probes; closed loop 690/s"},
	} {
		expect.Equal(t, c.search.String(), c.want)
	}
}
