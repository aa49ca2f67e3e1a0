package result

import (
	"testing"

	"rumbench/internal/expect"
)

// A trial that was killed while an operation with a rate hung: its response time
// is at least as long as it had been in flight. A closed loop has none.
func TestKilledInAStall(t *testing.T) {
	dir := t.TempDir()
	running(t, dir)
	s := expect.Value(CreateSeries(dir))(t)
	defer s.Close()
	if err := s.Write(Line{Step: "q", Source: "ops", T: 8, DT: 4, Group: "insert", Op: "insert", OldestInFlight: 3.9e6},
		Line{Step: "q", Source: "ops", T: 8, DT: 4, Group: "query", Op: "range a", OldestInFlight: 3.8e6}); err != nil {
		t.Fatal(err)
	}
	tr := expect.Value(ReadTrial(dir))(t)
	if r := find(&tr.Steps[1], "insert", "insert", "response_max_us"); r == nil || r.Value != 3.9e6 || len(r.Warnings) == 0 {
		t.Errorf("%+v", r)
	}
	if r := find(&tr.Steps[1], "query", "range a", "response_max_us"); r != nil {
		t.Errorf("a closed loop: %+v", r)
	}
}
