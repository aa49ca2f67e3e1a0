//go:build demo

package export

import (
	"io"

	"rumbench/internal/text/hint"
)

func write[L any](io.Writer, string, []Trial, func(Trial, func(...L) error) error) (int64, error) {
	return 0, hint.Errorf("make build builds all of rumbench", "this rumbench, built for the demo, writes no Parquet")
}
