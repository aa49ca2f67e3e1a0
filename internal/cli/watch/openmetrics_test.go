package watch

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/text/hint"
)

const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// awkward is some, with names and values that a scraper might choke on.
func awkward() *Frame {
	f := some()
	add := func(kind engine.CounterKind, name, labels, unit string, value float64) {
		f.Sources[0].Rows = append(f.Sources[0].Rows, Row{Known: true, Point: engine.Point{Name: name, Labels: labels, Kind: kind, Unit: unit, Value: value}})
	}
	add(engine.Counter, "my.a.b", "", "count", 1)
	add(engine.Counter, "my.a_b", "", "count", 2)
	add(engine.Counter, "my.a_b", `x="1"`, "bytes", 3)
	add(engine.Gauge, "my.a.b", "", "count", 4)
	add(engine.Gauge, "my.pages.total", "", "count", 5)
	add(engine.Counter, "my.pages", "", "count", 6)
	add(engine.Counter, "my.reads.total", "", "count", 7)
	add(engine.Gauge, "my.reads", "", "count", 8)
	add(engine.Gauge, "my.created", "", "count", 9)
	add(engine.Gauge, "my.count", "", "count", 10)
	add(engine.Gauge, "my.x_bucket", "", "count", 11)
	add(engine.Gauge, "my.x_info", "", "count", 12)
	add(engine.Gauge, "1st-name µ", `päge="ü\n\xff",1x="y"`+"", "count", 13)
	add(engine.Counter, "my.negative", "", "count", -1)
	add(engine.Gauge, "my.nan", "", "count", math.NaN())
	add(engine.Gauge, "my.inf", "", "count", math.Inf(1))
	add(engine.Gauge, "my.twice", "", "count", 14)
	add(engine.Gauge, "my.twice", "", "count", 15)
	add(engine.Gauge, "my.labels", `a.b="1",a_b="2"`, "count", 16) // the same label, once legal
	add(engine.Gauge, "my.le", `le="1",quantile="2"`, "count", 17)
	add(engine.Gauge, "my.bad_utf8", "table=\"\xff\xfe\"", "count", 18)
	add(Derived, "my.share", "", "percent", 12.5)
	return f
}

// scrape asks the endpoint for the latest frame.
func scrape(t *testing.T, e *Exporter, accept string) (body, contentType string) {
	t.Helper()
	server := httptest.NewServer(e.Handler())
	defer server.Close()
	req := expect.Value(http.NewRequestWithContext(t.Context(), "GET", server.URL+"/metrics", nil))(t)
	req.Header.Set("Accept", accept)
	client := server.Client()
	defer client.CloseIdleConnections()
	resp := expect.Value(client.Do(req))(t)
	defer resp.Body.Close()
	b := expect.Value(io.ReadAll(resp.Body))(t)
	expect.Must(t, resp.StatusCode == http.StatusOK, resp.Status, b)
	return string(b), resp.Header.Get("Content-Type")
}

func TestOpenMetrics(t *testing.T) {
	e := NewExporter()
	if body, _ := scrape(t, e, openMetrics); strings.TrimSpace(body) != "# EOF" {
		t.Errorf("before the first frame: %s", body)
	}
	expect.NoError(t, e.Frame(awkward()))
	body, contentType := scrape(t, e, openMetrics)
	expect.True(t, strings.HasPrefix(contentType, "application/openmetrics-text; version=1.0.0"),
		"content type", contentType)
	expect.Golden(t, *update, "frame.openmetrics", body)
	if again, _ := scrape(t, e, openMetrics); again != body {
		t.Error("the second answer differs")
	}
}

// TestExpfmt: Prometheus's own parser reads every value of the older format, which are those of the golden file.
func TestExpfmt(t *testing.T) {
	e := NewExporter()
	expect.NoError(t, e.Frame(awkward()))
	body, _ := scrape(t, e, "text/plain")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families := expect.Value(parser.TextToMetricFamilies(strings.NewReader(body)))(t)
	var got []string
	for name, family := range families {
		for _, m := range family.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+strconv.Quote(l.GetValue()))
			}
			v := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			got = append(got, fmt.Sprintf("%v %s{%s} %v %s", family.GetType(), name, strings.Join(labels, ","), v, family.GetHelp()))
		}
	}
	slices.Sort(got)
	expect.Golden(t, *update, "frame.expfmt", strings.Join(got, "\n")+"\n")
}

// Names end with their unit, and say nothing of what it was before.
func TestBaseUnits(t *testing.T) {
	for name, want := range map[[2]string]string{
		{"device.read_ns", "ns"}:                "rumbench_device_read_seconds_total",
		{"mysql.rocksdb_stall_micros", "us"}:    "rumbench_mysql_rocksdb_stall_seconds_total",
		{"host.pressure.io.some_us", "us"}:      "rumbench_host_pressure_io_some_seconds_total",
		{"mysql.innodb_row_lock_time", "ms"}:    "rumbench_mysql_innodb_row_lock_time_seconds_total",
		{"mysql.uptime", "s"}:                   "rumbench_mysql_uptime_seconds_total",
		{"mysql.bytes_sent", "bytes"}:           "rumbench_mysql_sent_bytes_total",
		{"device.read_bytes", "bytes"}:          "rumbench_device_read_bytes_total",
		{"engine.queries", "count"}:             "rumbench_engine_queries_total",
		{"device.util_percent", "percent"}:      "rumbench_device_util_ratio",
		{"engine.write_amplification", "ratio"}: "rumbench_engine_write_amplification_ratio",
	} {
		kind := engine.Counter
		if !strings.HasSuffix(want, "_total") {
			kind = Derived
		}
		got := NewExporter().name(identity{name[0], name[1], kind})
		if kind == engine.Counter {
			got += "_total"
		}
		expect.Equal(t, got, want, name)
	}
}

// strict prints how many samples the strict parser of Debian's
// python3-prometheus-client finds.
const strict = `
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
print(sum(len(f.samples) for f in text_string_to_metric_families(sys.stdin.read())))
`

// TestStrictParser: the parser that is the reference of OpenMetrics accepts
// the answer.
func TestStrictParser(t *testing.T) {
	const python = "/usr/bin/python3"
	need.Installed(t, exec.CommandContext(t.Context(), python, "-c", "import prometheus_client").Run())
	e := NewExporter()
	expect.NoError(t, e.Frame(awkward()))
	body, _ := scrape(t, e, openMetrics)
	cmd := exec.CommandContext(t.Context(), python, "-c", strict)
	cmd.Stdin = strings.NewReader(body)
	out, err := cmd.CombinedOutput()
	expect.Must(t, err == nil, err, out, body)
	samples := 0
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "#") {
			samples++
		}
	}
	if got := strings.TrimSpace(string(out)); samples < 20 || got != strconv.Itoa(samples) {
		t.Errorf("%s samples of %d", got, samples)
	}
}

func TestListen(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	expect.NoError(t, err)
	if _, err := Listen(l.Addr().String()); !strings.Contains(fmt.Sprint(err), "the port is in use") || !strings.Contains(hint.Of(err), "another port") {
		t.Error(err)
	}
	if _, err := Listen("nonsense"); !strings.Contains(hint.Of(err), "HOST:PORT") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- NewExporter().Serve(ctx, l) }()
	resp := expect.Value(http.Get("http://" + l.Addr().String() + "/"))(t)
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	expect.True(t, err == nil && strings.Contains(string(b), "/metrics"), b, err)
	cancel()
	expect.NoError(t, <-done)
	http.DefaultClient.CloseIdleConnections()
}
