package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"rumbench/internal/plain"
	"rumbench/internal/registry"
	"rumbench/internal/watch"
)

type statOptions struct {
	interval time.Duration
	count    int
	devices  []string
	dirs     []string
	pids     []int
	attach   []string
	exprs    []string
	exprFile string
	filter   []string
	top      int
	format   string
	out      string
	listen   string
	list     bool
}

func (a *App) statCommand() *cobra.Command {
	var o statOptions
	c := &cobra.Command{
		Use:   "stat",
		Short: "watch this machine and running database servers live",
		Long: `stat samples the host, its devices, processes and running database servers, all
at one interval: counters as rates at the true elapsed time, gauges as they are.

Without flags it shows the host and all physical disks until it is interrupted.`,
		Example: `  rumbench stat
  rumbench stat --attach prod=postgres:postgres://me@localhost/ --interval 10s
  rumbench stat --format csv --out samples.csv --count 3600
  rumbench stat --expr 'kb_per_write = rate("device.write_bytes") / rate("device.writes") / 1024'
  rumbench stat --listen 127.0.0.1:9464 --format none`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.stat(c.Context(), &o) },
	}
	f := c.Flags()
	f.DurationVar(&o.interval, "interval", time.Second, "time from sample to sample")
	f.IntVar(&o.count, "count", 0, "end after that many intervals (default: when interrupted)")
	f.StringArrayVar(&o.devices, "device", nil, "watch the device of that `name`, such as nvme0n1 (default: all physical disks); may be repeated")
	f.StringArrayVar(&o.dirs, "dir", nil, "watch the device under a `directory`; may be repeated")
	f.IntSliceVar(&o.pids, "pid", nil, "watch a process and its descendants; may be repeated")
	f.StringArrayVar(&o.attach, "attach", nil, "watch a running server, its processes and its device: `[NAME=]ENGINE:DSN`; may be repeated")
	f.StringArrayVar(&o.exprs, "expr", nil, "compute `'name = EXPRESSION'`, see docs/stat.md; may be repeated")
	f.StringVar(&o.exprFile, "exprs", "", "compute the expressions in a YAML `file`: a map of names to expressions")
	f.StringArrayVar(&o.filter, "filter", nil, "show and write only the series that a `selector` matches, such as 'device.*_bytes'; may be repeated")
	f.IntVar(&o.top, "top", 10, "show the `n` most active series of a server in tables; 0 shows all")
	f.StringVar(&o.format, "format", "table", "of the output: table, csv, jsonl or none")
	f.StringVar(&o.out, "out", "", "write to a new `file` instead of standard output")
	f.StringVar(&o.listen, "listen", "", "offer the latest sample to Prometheus at `HOST:PORT`; port 0 is a free one")
	f.BoolVar(&o.list, "list", false, "print the names of all series that would be sampled, and end")
	return c
}

func (o *statOptions) check() error {
	switch {
	case o.interval < 10*time.Millisecond:
		return fmt.Errorf("--interval %v: less than 10ms, which would measure rumbench itself", o.interval)
	case o.count < 0:
		return fmt.Errorf("--count %d: less than 0", o.count)
	case o.top < 0:
		return fmt.Errorf("--top %d: less than 0", o.top)
	case !slices.Contains([]string{"table", "csv", "jsonl", "none"}, o.format):
		return fmt.Errorf("--format %s: there are table, csv, jsonl and none", o.format)
	case o.format == "none" && o.listen == "" && !o.list:
		return errors.New("--format none without --listen: nobody would see anything")
	case o.format == "none" && o.out != "":
		return errors.New("--format none goes with no --out")
	}
	return nil
}

// stat checks everything that the user wrote before it starts anything.
func (a *App) stat(ctx context.Context, o *statOptions) error {
	if err := o.check(); err != nil {
		return usageError{err}
	}
	exprs, err := o.expressions()
	if err != nil {
		return usageError{err}
	}
	filter, err := o.selectors()
	if err != nil {
		return usageError{err}
	}
	attachments, err := parseAttachments(o.attach, registry.Catalog{})
	if err != nil {
		return usageError{err}
	}
	w := &watching{app: a, options: o, filter: filter}
	defer w.close()
	if err := w.attach(ctx, attachments); err != nil {
		return err
	}
	w.config = watch.Config{Interval: o.interval, Count: o.count, Targets: w.targets, Expressions: append(watch.Builtins(), exprs...)}
	if w.config.Collectors, err = w.collectors(); err != nil {
		return usageError{err}
	}
	if o.list {
		return w.list(ctx)
	}
	return w.run(ctx)
}

func (o *statOptions) expressions() ([]*watch.Expression, error) {
	var all []*watch.Expression
	if o.exprFile != "" {
		src, err := os.ReadFile(o.exprFile)
		if err != nil {
			return nil, err
		}
		if all, err = watch.ParseExprFile(o.exprFile, src); err != nil {
			return nil, err
		}
	}
	for _, text := range o.exprs {
		e, err := watch.ParseDefinition("--expr", text)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, watch.CheckNames(all)
}

func (o *statOptions) selectors() (watch.Filter, error) {
	var all watch.Filter
	for _, text := range o.filter {
		s, err := watch.ParseSelector(text)
		if err != nil {
			return nil, fmt.Errorf("--filter: %w", err)
		}
		all = append(all, s)
	}
	return all, nil
}

// watching is one run of the command.
type watching struct {
	app     *App
	options *statOptions
	filter  watch.Filter
	targets []*watch.Target
	config  watch.Config
	named   bool     // devices are watched by name
	file    *os.File // of --out
}

func (w *watching) close() {
	for _, t := range w.targets {
		t.Close() // nothing was written to it
	}
}

func (w *watching) say(format string, values ...any) {
	fmt.Fprintf(w.app.Stderr, "rumbench: "+format+"\n", values...)
}

// run watches until it is told to end, and says what that cost.
func (w *watching) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var outputs []func(*watch.Frame) error
	var served error
	if w.options.listen != "" { // before a file is made, which would be left behind
		l, err := watch.Listen(w.options.listen)
		if err != nil {
			return err
		}
		exporter := watch.NewExporter()
		outputs = append(outputs, exporter.Frame)
		wg.Go(func() {
			defer cancel() // a lost endpoint ends the run: somebody counts on it
			served = exporter.Serve(ctx, l)
		})
		w.say("metrics at http://%s/metrics", listenAddress(l))
		if everywhere(l) {
			w.say("warning: whoever can reach this host can read them; --listen 127.0.0.1:PORT keeps them on it")
		}
	}
	write, err := w.writer()
	if err != nil {
		return err
	}
	if w.file != nil {
		defer func() { err = errors.Join(err, w.file.Close()) }()
	}
	outputs = append(outputs, write)
	var cost watch.Cost
	err = watch.Run(ctx, w.config, func(f *watch.Frame) error {
		if f.Number == 0 {
			w.warn(f)
		}
		cost.Frame(f)
		for _, out := range outputs {
			if err := out(f); err != nil {
				return err
			}
		}
		return nil
	})
	cancel()
	wg.Wait()
	if text := cost.String(); text != "" {
		w.say("stat: %s", text)
	}
	return errors.Join(err, served)
}

// listenAddress is an address that can be asked: one for all interfaces cannot.
func listenAddress(l net.Listener) string {
	if !everywhere(l) {
		return l.Addr().String()
	}
	return fmt.Sprintf("localhost:%d", l.Addr().(*net.TCPAddr).Port)
}

// everywhere tells whether all interfaces of this host are listened at.
func everywhere(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsUnspecified()
}

// warn says what the first sample shows to be amiss.
func (w *watching) warn(f *watch.Frame) {
	for i := range f.Sources {
		switch s := &f.Sources[i]; {
		case s.Err != nil:
			w.say("warning: %s: %v", s.Name, s.Err)
		case s.Name == "device" && len(s.Rows) == 0 && !w.named:
			w.say("warning: no physical disk was found: choose a device with --device or --dir")
		}
	}
	for _, text := range watch.Warnings(f, w.config.Expressions) {
		w.say("warning: %s", text)
	}
}

// writer returns what writes frames as the user wants them.
func (w *watching) writer() (func(*watch.Frame) error, error) {
	out := w.app.Stdout
	if path := w.options.out; path != "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return nil, usageError{fmt.Errorf("--out %s: the file exists, and samples are never written over others", path)}
		}
		if err != nil {
			return nil, err
		}
		out, w.file = plain.NewWriter(f), f
	}
	switch w.options.format {
	case "csv":
		c := watch.NewCSV(out)
		c.Filter = w.filter
		return c.Frame, nil
	case "jsonl":
		j := watch.NewJSONL(out)
		j.Filter = w.filter
		return j.Frame, nil
	case "none":
		return func(*watch.Frame) error { return nil }, nil
	}
	out = plain.Raw(out)
	t := &watch.Table{Out: out, Size: terminal(out), Top: w.options.top, Filter: w.filter, Expressions: w.config.Expressions}
	return t.Frame, nil
}

// terminal tells the size of the terminal that is written to, nil if there is none.
func terminal(w io.Writer) func() (width, height int) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() (int, int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 80, 24
		}
		return width, height
	}
}

// errListed ends a run after its first sample.
var errListed = errors.New("listed")

// list prints the series of the first sample, and what is derived from them.
func (w *watching) list(ctx context.Context) error {
	table := tabwriter.NewWriter(w.app.Stdout, 0, 0, 2, ' ', 0)
	err := watch.Run(ctx, w.config, func(f *watch.Frame) error {
		w.warn(f)
		fmt.Fprintln(table, "source\tseries\tkind\tunit")
		for i := range f.Sources {
			s := &f.Sources[i]
			if s.Name == watch.DerivedSource {
				continue
			}
			for k := range s.Rows {
				if r := &s.Rows[k]; w.filter.Matches(r) {
					fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Name, r.Key(), r.Kind, r.Unit)
				}
			}
		}
		return errListed
	})
	if err != nil && !errors.Is(err, errListed) {
		return err
	}
	for _, e := range w.config.Expressions {
		if len(w.filter) == 0 || slices.ContainsFunc(w.filter, func(s *watch.Selector) bool { return s.Matches(e.Name, "") }) {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t= %s\n", watch.DerivedSource, e.Name, watch.Derived, e.Unit, strings.ReplaceAll(e.Text, "\n", " "))
		}
	}
	return table.Flush()
}
