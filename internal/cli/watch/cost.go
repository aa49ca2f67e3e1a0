package watch

import (
	"fmt"
	"time"

	"rumbench/internal/text/quantity"
)

// Cost adds up the cost of the watching itself.
type Cost struct {
	samples    int
	begin, end time.Time // of this process's own samples
	cpu        float64   // ns between them
	took       time.Duration
	slowest    time.Duration
	by         string
	failed     int
}

// Frame counts a frame.
func (c *Cost) Frame(f *Frame) {
	c.samples++
	for i := range f.Sources {
		s := &f.Sources[i]
		if s.Err != nil {
			c.failed++
			continue
		}
		c.took += s.Took
		if s.Took > c.slowest {
			c.slowest, c.by = s.Took, s.Name
		}
	}
	own := f.Find("client")
	if own == nil || own.Err != nil {
		return
	}
	if c.begin.IsZero() {
		c.begin = own.Time
	}
	c.end = own.Time
	for i := range own.Rows {
		if r := &own.Rows[i]; r.Name == "client.cpu_ns" && r.Known {
			c.cpu += r.Delta
		}
	}
}

// String returns the cost in one line; "" without a sample.
func (c *Cost) String() string {
	if c.samples == 0 {
		return ""
	}
	text := quantity.Count(c.samples-1, "interval")
	if wall := c.end.Sub(c.begin); wall > 0 {
		text += fmt.Sprintf(" in %.1f s: own CPU %s of one core", wall.Seconds(),
			quantity.In(100*c.cpu/float64(wall), "percent"))
	}
	each := float64(c.took) / float64(c.samples)
	text += fmt.Sprintf(", %s per sample, at most %s by %s", quantity.In(each, "ns"),
		quantity.In(float64(c.slowest), "ns"), c.by)
	if c.failed > 0 {
		text += fmt.Sprintf("; %d times a source failed", c.failed)
	}
	return text
}
