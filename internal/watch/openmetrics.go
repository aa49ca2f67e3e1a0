package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"rumbench/engine"
	"rumbench/internal/hint"
	"rumbench/internal/observe"
)

// Exporter offers the latest frame to Prometheus: counters as they were
// sampled, with _total, gauges and derived numbers as gauges.
type Exporter struct {
	mu    sync.Mutex
	frame *Frame
	names map[identity]string // given so far: a name never changes its meaning
	taken map[string]bool
}

// identity is what a metric of the endpoint stands for.
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

// Describe describes nothing: which series there are is seen by sampling.
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
		// Two sources may tell the same series; one bad number must not spoil
		// the whole answer.
		if key := string(r.Kind) + r.Key(); !sent[key] && finite(r.Value) && (r.Kind != engine.Counter || r.Value >= 0) {
			sent[key] = true
			e.send(out, identity{r.Name, r.Unit, r.Kind}, help(r), r.Labels, r.Value)
		}
	}
}

// help tells the name that the series has elsewhere.
func help(r *Row) string {
	text := r.Name
	if r.Unit != "" {
		text += ", in " + r.Unit
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
	m, err := prometheus.NewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	if err == nil { // otherwise its labels cannot be told apart once they are legal
		out <- m
	}
}

// name returns the name of a metric without _total. Different series that are
// the same when made legal get a number behind.
func (e *Exporter) name(id identity) string {
	if name, ok := e.names[id]; ok {
		return name
	}
	base := "rumbench_" + strings.TrimSuffix(sanitise(id.name), "_total")
	if id.kind != engine.Counter {
		base = "rumbench_" + sanitise(id.name)
	}
	name := base
	for n := 2; e.meets(name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	e.names[id], e.taken[name] = name, true
	return name
}

// meets tells whether a name is taken. A gauge x_total and a counter x would
// meet in the counter's sample.
func (e *Exporter) meets(name string) bool {
	return e.taken[name] || e.taken[name+"_total"] || e.taken[strings.TrimSuffix(name, "_total")]
}

// sanitise makes a name legal for Prometheus.
func sanitise(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// Handler answers /metrics, and names that address elsewhere.
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

// Listen opens the address that metrics are served at.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, hint.Errorf("choose another port, or port 0 to be given a free one; ss -ltnp shows who uses it", "--listen %s: the port is in use", address)
	}
	if err != nil {
		return nil, hint.Errorf("an address is HOST:PORT, such as 127.0.0.1:9464", "--listen %s: %w", address, err)
	}
	return l, nil
}

// Endpoint returns an address of the listener's metrics that can be asked, and
// whether all interfaces of this host are listened at.
func Endpoint(l net.Listener) (url string, everywhere bool) {
	at := l.Addr().String()
	if address, ok := l.Addr().(*net.TCPAddr); ok && address.IP.IsUnspecified() {
		at, everywhere = fmt.Sprintf("localhost:%d", address.Port), true
	}
	return "http://" + at + "/metrics", everywhere
}

// Serve answers at the listener until the context is done.
func (e *Exporter) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: e.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}
