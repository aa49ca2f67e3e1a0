//go:build !demo

package export

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// rowGroup is the number of lines held in memory before they are written.
const rowGroup = 1 << 17

// write writes the lines that each trial yields, in batches, and returns their
// number. The same input produces the same bytes.
func write[L any](w io.Writer, subject string, trials []Trial,
	each func(t Trial, yield func(...L) error) error) (n int64, err error) {
	file := parquet.NewGenericWriter[L](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.CreatedBy("rumbench", "", ""))
	var batch []L
	flush := func() error {
		if _, err := file.Write(batch); err != nil {
			return fmt.Errorf("write %s: %w", subject, err)
		}
		n += int64(len(batch))
		batch = batch[:0]
		return nil
	}
	for _, t := range trials {
		err := each(t, func(extra ...L) error {
			if batch = append(batch, extra...); len(batch) < 1000 {
				return nil
			}
			return flush()
		})
		if err != nil {
			return n, err
		}
	}
	if err := flush(); err != nil {
		return n, err
	}
	if err := file.Close(); err != nil {
		return n, fmt.Errorf("write %s: %w", subject, err)
	}
	return n, nil
}
