package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// TestDashboard: every name in the dashboard is one that is exported of this machine,
// a process of it, and a server that knows all that has a meaning.
func TestDashboard(t *testing.T) {
	grown := 0.0
	server := fake{"prod/engine", func(_ context.Context, s *engine.Sample) error {
		grown++
		for _, m := range engine.Meanings() {
			s.Points = append(s.Points, engine.Point{Name: m.Name, Labels: `target="prod"`, Kind: m.Kind, Unit: m.Unit, Value: grown})
		}
		return nil
	}}
	disk := fake{"device/sda", func(_ context.Context, s *engine.Sample) error {
		for _, name := range []string{"reads", "writes", "read_bytes", "write_bytes", "read_ns", "write_ns"} {
			unit := map[bool]string{true: "ns", false: "bytes"}[strings.HasSuffix(name, "_ns")]
			s.Counter("device."+name, unit, grown, "dev", "sda")
		}
		return nil
	}}
	e := NewExporter()
	synctest.Test(t, func(t *testing.T) { // in real time a busy machine answers after the frame
		machine := Machine{PIDs: []int{os.Getpid()}}
		collectors := expect.Value(machine.Collectors(nil, func(text string) { t.Log(text) }))(t)
		expect.NoError(t, Run(t.Context(), Config{Interval: time.Second, Count: 3, Collectors: append(collectors, server, disk), Expressions: Builtins()}, e.Frame))
	})
	body, _ := scrape(t, e, "text/plain")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	exported := expect.Value(parser.TextToMetricFamilies(strings.NewReader(body)))(t)

	var b bytes.Buffer
	expect.NoError(t, Dashboard(&b))
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	expect.NoError(t, json.Unmarshal(b.Bytes(), &dashboard))
	expect.True(t, len(dashboard.Panels) >= 10, len(dashboard.Panels), "panels")
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			names := regexp.MustCompile(`rumbench_\w+`).FindAllString(target.Expr, -1)
			expect.True(t, len(names) != 0, p.Title, target.Expr, "has no metric")
			for _, name := range names {
				expect.True(t, exported[name] != nil, p.Title, name, "is not exported")
				expect.Equal(t, strings.HasSuffix(name, "_total"), strings.Contains(target.Expr, "rate("),
					p.Title, target.Expr, "a counter wants a rate, and nothing else does")
			}
		}
	}
	expect.True(t, strings.Contains(b.String(), "label_values(rumbench_engine_sessions, target)") && exported["rumbench_engine_sessions"] != nil, "the servers to choose from are not exported")
}
