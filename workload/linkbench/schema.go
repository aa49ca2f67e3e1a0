package linkbench

import "rumbench/model"

// The tables and their columns, as in the original.
const (
	nodeTable  = "nodetable"
	linkTable  = "linktable"
	countTable = "counttable"
	linkIndex  = "id1_type"

	colID         = "id"
	colType       = "type"
	colVersion    = "version"
	colTime       = "time"
	colData       = "data"
	colID1        = "id1"
	colID2        = "id2"
	colLinkType   = "link_type"
	colVisibility = "visibility"
	colCount      = "count"
)

// The maximum lengths of data. The original allows a mebibyte for nodes, but not even one
// of a billion is that large: sizes are log-normal with a median of 168 bytes.
const (
	nodeWidth = 32_000
	linkWidth = 255
	linkLimit = 254 // as the original truncates them
)

// The user bytes of rows without their data, and of an entry of a plain index.
const (
	nodeBytes  = 8 + 4 + 8 + 8
	linkBytes  = 3*8 + 4 + 8 + 4
	countBytes = 5 * 8
	indexBytes = 4*8 + 4
)

const (
	nodeType      = 2048
	firstLinkType = 123456789
	visible       = 1
	hidden        = 0
)

var (
	nodeColumns  = []string{colType, colVersion, colTime, colData}
	linkColumns  = []string{colLinkType, colID1, colID2, colVisibility, colData, colTime, colVersion}
	countColumns = []string{colID, colLinkType, colCount, colTime, colVersion}
)

// Schema returns the three tables of the original, with the key from its README and the
// index from its last commits, which contains id2.
func (r *run) Schema() model.Schema {
	long := func(name string) model.Column { return model.Column{Name: name, Type: model.Int, NotNull: true} }
	short := func(name string) model.Column {
		return model.Column{Name: name, Type: model.Int, Width: 4, NotNull: true}
	}
	data := func(width int) model.Column {
		return model.Column{Name: colData, Type: model.Bytes, Width: width, NotNull: true}
	}
	index := model.Index{Name: linkIndex, Columns: []string{colID1, colLinkType, colVisibility, colTime, colID2}}
	if r.covering {
		index.Include = []string{colVersion, colData}
	}
	return model.Schema{Tables: []model.Table{
		{
			Name: nodeTable, Key: []string{colID},
			Columns: []model.Column{{Name: colID, Type: model.Int, NotNull: true, Auto: true}, short(colType), long(colVersion),
				long(colTime), data(nodeWidth)},
		},
		{
			Name: linkTable, Key: []string{colLinkType, colID1, colID2},
			Columns: []model.Column{long(colLinkType), long(colID1), long(colID2), short(colVisibility), data(linkWidth),
				long(colTime), short(colVersion)},
			Indexes: []model.Index{index},
		},
		{
			Name: countTable, Key: []string{colID, colLinkType},
			Columns: []model.Column{long(colID), long(colLinkType), long(colCount), long(colTime), long(colVersion)},
		},
	}}
}
