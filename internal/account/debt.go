package account

import (
	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
)

// DebtOf returns the bytes that an engine's compactions have still to rewrite. Dirty pages, the log
// since a checkpoint and memtables are no debt: they are bounded, and full after a while.
func DebtOf(points []observe.Change) (bytes float64, found bool) {
	return Gauge(points, engine.CompactionDebt)
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
	written := find(s.costs, metric.EngineWriteKB)
	if written == nil {
		written = find(s.costs, metric.ProcessWriteKB)
	}
	switch {
	case written == nil:
		return nil
	case max(grown, 0) <= littleIO:
		s.Put(metric.DebtGrowthShare, 0)
		return nil
	}
	share := grown / max(written.Value, littleIO)
	s.Put(metric.DebtGrowthShare, share)
	if share <= onCredit {
		return nil
	}
	return []metric.Warning{s.Warn(remark.OnCredit, metric.Values{"grown": grown / kb, "written": written.Value / kb,
		"share": 100 * share})}
}
