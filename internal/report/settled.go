package report

import (
	"fmt"
	"io"
)

// textSettled prints what a row cost in KB written once all that was put off
// had been written, after a settle step.
func (c *campaign) textSettled(w io.Writer, s *step) {
	k, ok := s.Cost("settled_write_kb", "")
	if !ok {
		return
	}
	fmt.Fprintf(w, "  KB written per %s so far → with the writes that were put off:\n", k.Per)
	for _, t := range c.Targets {
		without, with := s.number(t, key{Metric: "unsettled_write_kb", Per: k.Per}), s.number(t, k)
		if with.Missing == "" && without.Missing == "" {
			fmt.Fprintf(w, "    %s %s → %s\n", t.Name, decimal(without.Value), decimal(with.Value))
		}
	}
}
