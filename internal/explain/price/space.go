package price

import (
	"cmp"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// disk sets the space for the number of rows asked for: tables and indexes grow with them;
// logs, undo and system files do not.
func (m measured) disk(ask Ask) {
	n := m.need
	all := m.whole(metric.DBBytes)
	live, rows := m.whole(metric.LiveBytes), m.whole(metric.LiveRows)
	n.Rows, n.Live, n.Disk = cmp.Or(ask.Rows, rows.Value), live.Value, all
	if n.Rows == rows.Value || all.Value == 0 {
		return
	}
	if rows.Value == 0 {
		n.Disk = Range{}
		m.missing(metric.DBBytes, "it cannot be scaled, as the number of rows is not known")
		return
	}
	grow := n.Rows / rows.Value
	n.Live *= grow
	data, apart, caveat := m.data(all)
	dirty := m.step.Number(m.target, compare.Key{Metric: metric.DirtyBytes})
	written := data.Value
	if !apart {
		written = min(written, live.Value) // the rest may be the log of what is in memory
	}
	structure := m.step.Runs[m.target][0].Step.Structure // dirty pages of some have their place in files
	allocated := apart && data.Value >= live.Value && structure.Shape == engine.InPlace
	if dirty.Missing == "" && dirty.Value > mostUnwritten*written && !allocated {
		n.Disk = Range{}
		m.missing(metric.DBBytes, fmt.Sprintf("it cannot be scaled: %s of the data were in memory only, and %s in files; "+
			"load more rows", quantity.Bytes(int64(dirty.Value)), quantity.Bytes(int64(written))))
		return
	}
	if caveat != "" {
		n.Remarks = append(n.Remarks, caveat)
	}
	fixed := max(0, all.Value-data.Value)
	grown := data.times(grow)
	n.Disk = Range{grown.Value + fixed, grown.Low + fixed, grown.High + fixed}
}

// mostUnwritten is how much may be in memory only, as a share of what is in files, where space is scaled.
const mostUnwritten = 0.1

// data returns the space of tables and indexes: by their files, by the engine's report on
// each, or, if neither is known apart from logs, all space.
func (m measured) data(all Range) (data Range, apart bool, caveat string) {
	if files := m.step.Number(m.target, compare.Key{Metric: metric.DataBytes}); files.Missing == "" {
		return rangeOf(files), true, ""
	}
	var list []float64
	estimated := false
	for _, r := range m.step.Runs[m.target] {
		var sum float64
		for _, row := range r.Step.Rows {
			if row.Metric != metric.ObjectBytes || row.Labels.Object == "" {
				continue
			}
			sum += row.Value
			estimated = estimated || metric.Has(row.Warnings, remark.EstimatedSize)
		}
		if sum > 0 {
			list = append(list, sum)
		}
	}
	switch {
	case len(list) == 0:
		return all, false, "all files are scaled with the rows, logs as well: what tables and indexes take is not known"
	case estimated:
		caveat = "what tables and indexes take of the disk is the engine's estimate"
	}
	return Range{stat.Median(list), slices.Min(list), slices.Max(list)}, true, caveat
}

// amplifications sets the amplifications, and Unlike if their product is meaningless.
func (m measured) amplifications() {
	n := m.need
	var space, write string
	n.Space, space = m.about(metric.SpaceAmplification)
	n.Write, write = m.about(metric.WriteAmplification)
	if media, unknown := m.about(metric.MediaRatio); unknown == "" {
		n.Media = media
		n.Remarks = append(n.Remarks, "the drive wrote "+quantity.Four(media.Value)+
			" bytes to its media for each byte that it was sent: endurance is counted in these")
	}
	switch {
	case space != "":
		n.Unlike = Gap{metric.SpaceAmplification, space}.String()
	case write != "":
		n.Unlike = Gap{metric.WriteAmplification, write}.String()
	case n.Write.Value < 1:
		n.Unlike = "fewer bytes were written than users wrote: the rest overwrote each other in memory, or were written " +
			"after the step"
	case n.Space.Value < 1:
		n.Unlike = "the data takes less space than its bytes: it is compressed, or was not yet written"
	}
}

// Demand returns the demand of the need on an index+log structure.
func (n *Need) Demand(c *Card) Demand {
	d := Demand{GB: n.Live / c.gb(), MBps: n.UserBytes() / mb, Reads: 1}
	if c.IOKB == 0 {
		d.IOKB = 4 // as in the source
	}
	return d
}
