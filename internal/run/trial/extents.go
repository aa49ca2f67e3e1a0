package trial

import (
	"strconv"

	"rumbench/internal/observe"
	"rumbench/internal/observe/blockio"
)

// noteExtents notes in how many extents the data's files are, if their file system reports it.
func noteExtents(t *trial) {
	if extents, files, err := blockio.Extents(t.dir); err == nil && files > 0 {
		mean := strconv.FormatFloat(float64(extents)/float64(files), 'f', 1, 64)
		t.res.Host = append(t.res.Host, observe.Fact{Name: observe.ExtentsFact, Value: mean})
	}
}
