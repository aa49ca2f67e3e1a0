package explain

import (
	"math"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/explain/costmodel"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/model"
	"rumbench/workload"
)

// models predict KB per unit; NaN if they do not apply.
var models = []struct {
	metric string
	model  func(structured, compare.Key) float64
}{
	{metric.ReadKB, structured.treeReads}, {metric.ReadKB, structured.mergeReads},
	{metric.WriteKB, structured.treeWrites}, {metric.WriteKB, structured.copyWrites},
	{metric.WriteKB, structured.mergeWrites},
}

// predict returns the predicted costs of both sides' structures.
func (s *Step) predict() (out []Prediction) {
	for _, side := range s.sides() {
		for _, entry := range models {
			k, ok := s.Of.Own(entry.metric)
			if !ok {
				continue
			}
			if k, ok = compare.Undisturbed(s.Of, k, side.Target); !ok {
				continue // bytes that other programs read or wrote are no deviation from a model
			}
			p := Prediction{Side: side, Metric: entry.metric, Per: k.Per,
				Predicted: side.mean(func(r *run) float64 { return entry.model(structured{r}, k) }),
				Measured:  side.mean(func(r *run) float64 { return r.value(k.Metric, "", k) })}
			pending := entry.metric == metric.WriteKB && p.Measured < p.Predicted && !p.Fits() // not written yet
			if p.Predicted > littleKB && !math.IsNaN(p.Measured) && !pending {
				out = append(out, p)
			}
		}
	}
	return out
}

// structured is a run as its engine's structure predicts it.
type structured struct{ *run }

// tree returns the indexes of a B-tree that a run touches at random, in the order of its touches, and the shares of
// these whose page is not in the cache. An engine that relies on the page cache does not report its contents; without
// them no page misses. There are none if the engine has no such tree.
func (r structured) tree() (indexes []costmodel.Leaves, misses []float64) {
	page := float64(r.Structure.Page)
	if r.Structure.Shape != engine.InPlace || page <= 0 {
		return nil, nil
	}
	for _, t := range r.Touches {
		index := costmodel.Leaves{Pages: r.size(t) / page, PerUnit: t.PerUnit}
		if index.Pages <= 0 {
			return nil, nil
		}
		indexes = append(indexes, index)
	}
	if held := gauge(r.Step, engine.CacheHeld); !math.IsNaN(held) {
		return indexes, costmodel.Misses(held/page, indexes)
	}
	return indexes, make([]float64, len(indexes))
}

// missedKB returns the KB of pages, or blocks, that are not in the cache, per unit.
func missedKB(size float64, indexes []costmodel.Leaves, misses []float64) (kb float64) {
	for i, index := range indexes {
		kb += index.PerUnit * misses[i] * size / 1024
	}
	return kb
}

// treeReads predicts reads: each touch of a page that is not in the cache.
func (r structured) treeReads(compare.Key) float64 {
	indexes, misses := r.tree()
	if len(indexes) == 0 || math.IsNaN(gauge(r.Step, engine.CacheHeld)) {
		return math.NaN()
	}
	return missedKB(float64(r.Structure.Page), indexes, misses)
}

// treeWrites predicts writes: a changed page is written when it has to leave the cache, or
// once for all changes while the log fills, whichever is more often; then twice if the
// engine writes pages twice, or logs them whole; and the log.
func (r structured) treeWrites(k compare.Key) float64 {
	part := func(p account.Part) float64 { return orZero(r.part(p, k)) }
	if r.trial.Hosting == result.Embedded && r.trial.Durability != string(model.DurabilityOS) {
		return math.NaN() // the page cache combines overwrites into one write
	}
	indexes, misses := r.tree()
	room := float64(r.Structure.LogRoom)
	log, whole := part(account.LogPart), part(account.FullPagesPart)
	if len(indexes) == 0 || room <= 0 || log+whole == 0 {
		return math.NaN()
	}
	units := room / 1024 / (log + whole) // while the log fills
	pages := 0.0
	for i, index := range indexes {
		again := costmodel.Distinct(units*index.PerUnit, index.Pages)
		switch {
		case !r.Touches[i].Changes:
		case units > r.units && again > misses[i]:
			return math.NaN() // the step is too short: pages are written after it
		default:
			pages += index.PerUnit * max(misses[i], again)
		}
	}
	copies := 1.0
	if whole > 0 || part(account.DoublewritePart) > 0 {
		copies = 2
	}
	return pages*float64(r.Structure.Page)/1024*copies + log
}

// copyWrites predicts the writes of a B-tree that copies pages on write: with each commit
// the pages that it changed, and those above them up to the root.
func (r structured) copyWrites(compare.Key) float64 {
	page, bytes, commits := float64(r.Structure.Page), float64(r.Structure.Commit), r.counter(engine.WriteCommits)
	switch {
	case r.Structure.Shape != engine.CopyOnWrite, !(page > 0 && bytes > 0 && commits > 0 && r.units > 0),
		len(r.Touches) == 0:
		return math.NaN()
	case r.trial.Durability != string(model.DurabilityOS):
		return math.NaN() // the page cache combines overwrites into one write
	}
	each := r.units / commits
	for _, t := range r.Touches {
		size := r.size(t)
		if size <= 0 {
			return math.NaN()
		}
		if t.Changes {
			bytes += page * costmodel.Path(each*t.PerUnit, size/page, page)
		}
	}
	return bytes / 1024 / each
}

// mergeWrites predicts the writes of a leveled LSM tree: its log, each memtable, and the
// merges of flushed data.
func (r structured) mergeWrites(k compare.Key) float64 {
	return r.part(account.LogPart, k) + r.part(account.FlushPart, k) + r.merges(k)
}

// merges predicts the bytes that merges of flushed data write.
func (r structured) merges(k compare.Key) float64 {
	memtable, size := float64(r.Structure.Memtable), midway(r.run, metric.DataBytes)
	taken, flushed := r.counter(engine.BytesTaken), r.counter(engine.FlushBytes)
	switch {
	case r.Structure.Shape != engine.Leveled, !(memtable > 0 && taken > 0 && flushed > 0 && size > 0):
		return math.NaN()
	case len(r.Touches) == 0, flushed < size/2:
		return math.NaN() // keys may be in order, which are not merged, and a short step merges less than it defers
	}
	fanout := max(1, size/(memtable*flushed/taken)) // a memtable is compressed when it is flushed
	return r.part(account.FlushPart, k) * costmodel.Leveled(fanout, costmodel.Levels(fanout)).Write
}

// mergeReads predicts the reads of look-ups by key in an LSM tree with filters, a block
// each unless the cache holds it, and the reads of merges, which equal their writes.
// Entries of secondary indexes are put without a look-up; the number of blocks read by a
// search for an entry is unknown, as filters do not help it.
func (r structured) mergeReads(k compare.Key) float64 {
	block, held := float64(r.Structure.Block), gauge(r.Step, engine.CacheHeld)
	if r.Structure.Shape != engine.Leveled || block <= 0 || !r.Structure.Filters || math.IsNaN(held) {
		return math.NaN()
	}
	var blocks []costmodel.Leaves
	for _, t := range r.Touches {
		if t.Index != "" && t.Changes {
			continue
		}
		leaves := costmodel.Leaves{Pages: r.size(t) / block, PerUnit: t.PerUnit}
		if leaves.Pages <= 0 || t.Index != "" {
			return math.NaN()
		}
		blocks = append(blocks, leaves)
	}
	kb := missedKB(block, blocks, costmodel.Misses(held/block, blocks))
	if r.counter(engine.FlushBytes) > 0 {
		kb += r.merges(k)
	}
	return kb
}

// size returns the bytes of the touched object in the middle of the step: from the sizes
// at the end of the step or, as they are not always read, of the next step that has them,
// scaled to the live data.
func (r structured) size(t workload.Touch) float64 {
	object := t.Table
	if t.Index != "" {
		object += "." + t.Index
	}
	for i := r.place(); i < len(r.trial.Steps); i++ {
		s := &r.trial.Steps[i]
		size := metric.Labelled(s.Rows, metric.ObjectBytes, metric.Labels{Object: object})
		if then := number(s, metric.LiveBytes); size != nil && then > 0 {
			return size.Value * midway(r.run, metric.LiveBytes) / then
		}
	}
	return 0
}

// midway returns a number of a run's database in the middle of the step.
func midway(r *run, name string) float64 {
	first := 0.0
	if s := r.previous(); s != nil {
		first = number(s, name)
	}
	return (first + number(r.Step, name)) / 2
}

// number returns a number of the whole of a step; 0 if it has none.
func number(s *result.Step, name string) float64 {
	if row := metric.Find(s.Rows, name, "", ""); row != nil {
		return row.Value
	}
	return 0
}
