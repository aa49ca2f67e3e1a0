package serverkit

import (
	"context"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// Sums are of what all servers have. One that was started again, whose counters have fallen, is no part of a sum.
func TestSumsOfGateways(t *testing.T) {
	values := []map[string]float64{{"commits": 1000, "syncs": 3}, {"commits": 5000, "only.here": 7}}
	d := &DB{setup: &Setup{}}
	for i := range values {
		d.gateways = append(d.gateways, &gateway{sample: func(_ context.Context, s *engine.Sample) error {
			for name, v := range values[i] {
				s.Counter(name, "count", v)
			}
			s.Gauge("engine.dirty_bytes", "bytes", 10)
			s.Gauge("mysql.page_size", "bytes", 16384)
			return nil
		}})
	}
	var s engine.Sample
	expect.NoError(t, d.Counters(t.Context(), &s))
	found := map[string]float64{}
	for _, p := range s.Points {
		found[p.Name] = p.Value
	}
	expect.True(t, len(found) == 2 && found["commits"] == 6000 && found["engine.dirty_bytes"] == 20, "sums", found)
	values[0]["commits"], values[1]["commits"] = 9000, 100
	s.Reset()
	expect.Error(t, d.Counters(t.Context(), &s), "number 2 of its dsns: its counter commits", "after a start")
	values[1]["commits"] = 200
	if err := d.Counters(t.Context(), &s); err != nil {
		t.Errorf("later: %v", err)
	}
}
