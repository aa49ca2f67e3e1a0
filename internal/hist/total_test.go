package hist

import (
	"math"
	"testing"
	"time"
)

func TestTotal(t *testing.T) {
	d := NewDist()
	if (*Dist)(nil).Total() != 0 || d.Total() != 0 {
		t.Error("nothing takes time")
	}
	want := 0.0
	for i := int64(1); i <= 1000; i++ {
		d.Record(i * 997)
		want += float64(i * 997)
	}
	if got := d.Total(); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("%v, not %v", got, want)
	}
	d.Record(int64(3 * time.Hour))
	if got := d.Total(); math.Abs(got/(want+float64(3*time.Hour))-1) > 1e-3 {
		t.Errorf("with one above an hour: %v", got)
	}
}
