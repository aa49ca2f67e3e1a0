package watch

import (
	"bytes"
	"context"
	_ "embed" // for the dashboard
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// Exporter exports the latest frame to Prometheus: counters as sampled, with
// _total, gauges and derived metrics as gauges, all in base units.
type Exporter struct {
	mu    sync.Mutex
	frame *Frame
	names map[identity]string // assigned so far: a name never changes its meaning
	taken map[string]bool
}

// identity identifies a metric of the endpoint.
type identity struct {
	name, unit string
	kind       engine.CounterKind
}

// NewExporter returns an exporter that has no frame yet.
func NewExporter() *Exporter {
	return &Exporter{names: make(map[identity]string), taken: make(map[string]bool)}
}

// Frame makes a frame the latest one.
func (e *Exporter) Frame(f *Frame) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.frame = f
	return nil
}

// Describe describes nothing: the series are known only from samples.
func (e *Exporter) Describe(chan<- *prometheus.Desc) {}

// Collect sends the numbers of the latest frame.
func (e *Exporter) Collect(out chan<- prometheus.Metric) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.frame == nil {
		return
	}
	up := identity{"source.up", "", engine.Gauge}
	for i := range e.frame.Sources {
		s := &e.frame.Sources[i]
		value := 1.0
		if s.Err != nil {
			value = 0
		}
		if s.Name != DerivedSource {
			e.send(out, up, "whether the source answered at the latest sample", `source="`+s.Name+`"`, value)
		}
	}
	sent := make(map[string]bool)
	for _, r := range e.frame.each {
		// Two sources may have the same series; one bad number must not break
		// the whole response.
		if key := string(r.Kind) + r.Key(); !sent[key] && quantity.Finite(r.Value) &&
			(r.Kind != engine.Counter || r.Value >= 0) {
			sent[key] = true
			e.send(out, identity{r.Name, r.Unit, r.Kind}, help(r), r.Labels, r.Value)
		}
	}
}

// help returns the help text of a metric, with the name of its series.
func help(r *Row) string {
	text := r.Name
	if i := slices.IndexFunc(engine.Meanings(), r.Means); i >= 0 {
		text = engine.Meanings()[i].Title + ": " + text
	}
	if unit := baseUnit(r.Unit); unit.name != "" {
		text += ", in " + unit.name
	}
	if r.Kind == Derived {
		text += ", derived"
	}
	return text
}

func (e *Exporter) send(out chan<- prometheus.Metric, id identity, help, labels string, value float64) {
	kind := prometheus.GaugeValue
	name := e.name(id)
	if id.kind == engine.Counter {
		kind = prometheus.CounterValue
		name += "_total"
	}
	var names, values []string
	for _, l := range observe.ParseLabels(labels) {
		names = append(names, sanitise(l.Name))
		values = append(values, strings.ToValidUTF8(l.Value, "\uFFFD"))
	}
	m, err := prometheus.NewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value/baseUnit(id.unit).by,
		values...)
	if err == nil { // otherwise its labels collide after sanitising
		out <- m
	}
}

// name returns the name of a metric without _total. Series whose names collide
// after sanitising get a number appended.
func (e *Exporter) name(id identity) string {
	if name, ok := e.names[id]; ok {
		return name
	}
	base := "rumbench_" + sanitise(id.name)
	base = strings.TrimSuffix(base, "_total") // which only counters have, and have all
	if id.kind != engine.Counter {
		base = strings.TrimSuffix(base, "_count") // which only histograms have
	}
	base = baseUnit(id.unit).suffixed(base)
	name := base
	for n := 2; e.isTaken(name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	e.names[id], e.taken[name] = name, true
	return name
}

// unit is a base unit of Prometheus and its conversion from one of our units.
type unit struct {
	name string
	by   float64  // values are divided by it
	old  []string // suffixes of names in our unit
}

func baseUnit(ours string) unit {
	switch ours {
	case "ns":
		return unit{"seconds", 1e9, []string{"_ns"}}
	case "us":
		return unit{"seconds", 1e6, []string{"_us", "_micros"}}
	case "ms":
		return unit{"seconds", 1e3, []string{"_ms"}}
	case "s":
		return unit{"seconds", 1, []string{"_s"}}
	case "percent":
		return unit{"ratio", 100, []string{"_percent"}}
	case "bytes", "ratio":
		return unit{ours, 1, nil}
	}
	return unit{by: 1}
}

// suffixed returns a name that ends with the unit: sent_bytes, not bytes_sent.
func (u unit) suffixed(name string) string {
	if u.name == "" || strings.HasSuffix(name, "_"+u.name) {
		return name
	}
	for _, old := range u.old {
		name = strings.TrimSuffix(name, old)
	}
	name = strings.Replace(name, "_"+u.name+"_", "_", 1)
	return name + "_" + u.name
}

// isTaken reports whether a name is taken. A gauge x_total and a counter x would
// collide in the counter's sample.
func (e *Exporter) isTaken(name string) bool {
	return e.taken[name] || e.taken[name+"_total"] || e.taken[strings.TrimSuffix(name, "_total")]
}

var illegal = regexp.MustCompile(`[^A-Za-z0-9_]|^$`)

func sanitise(name string) string {
	if name = illegal.ReplaceAllString(name, "_"); name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// Handler serves /metrics, and a pointer to it at the root.
func (e *Exporter) Handler() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(e)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "rumbench stat: the latest sample is at /metrics")
	})
	return mux
}

func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, hint.Errorf("choose another port, or port 0 to be given a free one; ss -ltnp shows who uses it",
			"--listen %s: the port is in use", address)
	}
	if err != nil {
		return nil, hint.Errorf("an address is HOST:PORT, such as 127.0.0.1:9464", "--listen %s: %w", address, err)
	}
	return l, nil
}

// Endpoint returns the URL of the listener's metrics, and whether it listens on all
// interfaces of this host.
func Endpoint(l net.Listener) (url string, everywhere bool) {
	at := l.Addr().String()
	if address, ok := l.Addr().(*net.TCPAddr); ok && address.IP.IsUnspecified() {
		at, everywhere = fmt.Sprintf("localhost:%d", address.Port), true
	}
	return "http://" + at + "/metrics", everywhere
}

// Serve serves metrics at the listener until the context is done.
func (e *Exporter) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: e.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

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
