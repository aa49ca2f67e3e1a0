package watch

import (
	"bytes"
	_ "embed" // for the dashboard
	"encoding/json"
	"io"
)

// dashboard is a Grafana dashboard of the metrics that the Exporter exports, ready to
// be imported: its panels, the most important first, and their lines.
//
//go:embed dashboard.json
var dashboard []byte

func Dashboard(w io.Writer) error {
	var b bytes.Buffer
	if err := json.Indent(&b, dashboard, "", "  "); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}
