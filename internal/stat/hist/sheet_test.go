package hist

import (
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// A sheet has the same buckets as a distribution, and loses nothing.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Of every magnitude, not only the greatest.
		latency := rapid.Custom(func(t *rapid.T) int64 {
			return rapid.Int64Range(-1, int64(1)<<rapid.IntRange(0, 43).Draw(t, "bits")).Draw(t, "ns")
		})
		values := rapid.SliceOf(latency).Draw(t, "latencies")
		direct, h, got := NewDist(), newSheet(Shape{Parts: 1}), NewDist()
		for range 2 { // a drained sheet is as good as a new one
			for _, v := range values {
				direct.Record(v)
				h.record(&h.parts[0], v)
			}
			h.drain(&h.parts[0], got)
		}
		expect.List(t, got.h.Export().Counts, direct.h.Export().Counts, "the buckets differ")
		if got.Least() != direct.Least() || got.Max() != direct.Max() || got.Total() != direct.Total() ||
			got.Overflow() != direct.Overflow() || got.Count() != direct.Count() {
			t.Fatalf("min %d, max %d, sum %v, overflow %d, count %d", got.Least(), got.Max(), got.Total(), got.Overflow(), got.Count())
		}
		expect.Equal(t, len(h.pages)-1, len(h.free), "of")
	})
}

// Every bucket holds its least latency, and the layout is no longer than the
// library's.
func TestEveryBucket(t *testing.T) {
	whole := hdr.New(1, int64(Longest), digits).ByteSize()
	for b := range pageCount * pageSize {
		if got := bucketOf(leastOf(b)); got != b {
			t.Fatalf("bucket %d begins at %d, which is in %d", b, leastOf(b), got)
		}
	}
	n := pageCount * pageSize * 8
	expect.True(t, n <= whole, "pages of bytes, the library has", n, whole)
}

// A distribution on its way takes no more memory than its text, and one that cannot have been encoded is refused.
func TestForgedDist(t *testing.T) {
	d := NewDist()
	for _, ns := range []int64{1, 1, 5_000, 70_000_000, 2 * int64(Longest)} {
		d.Record(ns)
	}
	text := expect.Value(d.MarshalJSON())(t)
	var got Dist
	expect.NoError(t, got.UnmarshalJSON(text))
	expect.True(t, got.h == nil && got.Count() == 5, got.Count())
	expect.List(t, got.held().Export().Counts, d.h.Export().Counts, "buckets")
	expect.Equal(t, string(expect.Value(got.MarshalJSON())(t)), string(text))
	for _, forged := range []string{
		`{"bars":"AQE=","low":9,"high":1,"sum":1}`, `{"bars":"AQE=","low":1,"high":1,"sum":900}`, `{"bars":"AQ=="}`,
		`{"bars":"AQA=","low":1,"high":1}`, `{"bars":"/////wcB","low":1,"high":1,"sum":1}`, `{"overflow":-1}`, `{"sum":5}`,
		`{"bars":"Af////////////8B","low":1,"high":1,"sum":1}`,
	} {
		expect.Error(t, (&Dist{}).UnmarshalJSON([]byte(forged)), "", forged)
	}
	var empty Dist
	expect.NoError(t, empty.UnmarshalJSON([]byte(`{}`)))
	empty.Record(5)
	expect.Equal(t, empty.Percentile(50), int64(5))
}
