package hist_test

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/stat/hist"
)

// A percentile is within 0.1 % of the exact one.
func TestPercentile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(1, int64(hist.Longest)), 1, 200).Draw(t, "latencies")
		d := hist.NewDist()
		for _, v := range values {
			d.Record(v)
		}
		slices.Sort(values)
		for _, p := range []float64{1, 50, 90, 99, 99.9, 100} {
			want := values[int(math.Ceil(p/100*float64(len(values))))-1]
			got := d.Percentile(p)
			expect.True(t, math.Abs(float64(got-want)) <= 0.001*float64(want)+1, "p of is", p, values, got, want)
		}
		var sum int64
		for _, v := range values {
			sum += v
		}
		expect.True(t, d.Least() == values[0] && d.Total() == float64(sum),
			"min, sum", d.Least(), d.Total(), values[0], sum)
		expect.Equal(t, d.Max(), values[len(values)-1], "max is")
	})
}

// Merging equals recording into one distribution.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, parts := hist.NewDist(), []*hist.Dist{hist.NewDist(), hist.NewDist(), hist.NewDist()}
		for i, v := range rapid.SliceOf(rapid.Int64Range(-5, 2*int64(hist.Longest))).Draw(t, "latencies") {
			all.Record(v)
			parts[i%3].Record(v)
		}
		merged := hist.NewDist()
		for _, p := range parts {
			merged.Merge(p)
		}
		if merged.Count() != all.Count() || merged.Least() != all.Least() || merged.Max() != all.Max() || merged.Total() != all.Total() ||
			merged.Overflow() != all.Overflow() || merged.Percentile(99) != all.Percentile(99) {
			t.Fatalf("merged %d %d %d, want %d %d %d", merged.Count(), merged.Max(), merged.Overflow(), all.Count(), all.Max(), all.Overflow())
		}
	})
}

// Latencies beyond the range are counted, and exact in maximum and sum.
func TestOverflow(t *testing.T) {
	d := hist.NewDist()
	d.Record(1000)
	d.Record(int64(2 * hist.Longest))
	if d.Count() != 2 || d.Overflow() != 1 || d.Max() != int64(2*hist.Longest) || d.Percentile(99) != int64(2*hist.Longest) ||
		d.Total() != float64(1000+2*hist.Longest) {
		t.Errorf("count %d, overflow %d, max %d, p99 %d, sum %v", d.Count(), d.Overflow(), d.Max(), d.Percentile(99), d.Total())
	}
	expect.True(t, hist.NewDist().Total() == 0 && (*hist.Dist)(nil).Total() == 0, "an empty distribution has a sum")
}

func TestCurve(t *testing.T) {
	d := hist.NewDist()
	for i := range int64(100) {
		d.Record(i * 1000)
	}
	c := d.Curve()
	expect.True(t, slices.IsSortedFunc(c, func(a, b [2]float64) int { return int(a[1] - b[1]) }), "the curve decreases")
	last := c[len(c)-1]
	expect.True(t, last[0] == 100 && last[1] == 99_000, "the curve ends at", last)
	expect.True(t, c[len(c)-2][0] <= 99.5, "100 samples do not determine p", c[len(c)-2][0])
}

// A truncated log is read up to the truncation.
func TestLog(t *testing.T) {
	var buf bytes.Buffer
	base := time.UnixMilli(1_700_000_000_000)
	l := expect.Value(hist.NewLog(&buf, base))(t)
	d := hist.NewDist()
	d.Record(5_000_000)
	for i := range 2 {
		start := base.Add(time.Duration(i) * time.Second)
		expect.NoError(t, l.Write("step/group/op/service", start, start.Add(time.Second), d))
	}
	read := func(b []byte) *hist.Dist {
		m := expect.Value(hist.ReadLog(bytes.NewReader(b)))(t)
		return m["step/group/op/service"]
	}
	if got := read(buf.Bytes()); got == nil || got.Count() != 2 || math.Abs(float64(got.Percentile(50))-5e6) > 5e3 {
		t.Errorf("read back %+v", got)
	}
	if got := read(buf.Bytes()[:buf.Len()-20]); got == nil || got.Count() != 1 {
		t.Errorf("of a log truncated in the second line: %+v", got)
	}
}
