package account

import (
	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
)

// DebtOf returns the bytes of work that an engine has put off: what compactions have still to rewrite,
// or the dirty pages of an engine without compactions, or the log since its last checkpoint. The
// memtables of an LSM tree are bounded, and no debt.
func DebtOf(points []observe.Change) (bytes float64, known bool) {
	for _, gauge := range []string{engine.CompactionDebt, engine.DirtyBytes, engine.CheckpointAge} {
		if v, ok := Gauge(points, gauge); ok {
			return v, true
		}
	}
	return 0, false
}

// onCredit is the share of the bytes written in a window by which the debt may grow without a remark.
const onCredit = 0.1

// judgeDebt records by what share of the bytes written the debt grew, and warns if that is much: the rate
// was kept on credit, and a longer step would be slower.
func (s *costing) judgeDebt() []metric.Warning {
	if s.Debt == nil {
		return nil
	}
	grown := (s.Debt[1] - s.Debt[0]) / kb
	written := find(s.all, metric.EngineWriteKB)
	if written == nil {
		written = find(s.all, metric.ProcessWriteKB)
	}
	switch {
	case written == nil:
		return nil
	case max(grown, 0) <= littleIO:
		s.Credit = new(float64)
		return nil
	}
	share := grown / max(written.Value, littleIO)
	s.Credit = &share
	if share <= onCredit {
		return nil
	}
	return []metric.Warning{s.Warn(metric.OnCredit, metric.Values{"grown": grown / kb, "written": written.Value / kb,
		"share": 100 * share})}
}
