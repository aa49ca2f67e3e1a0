package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/cli/watch"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// watching is one run of the command. It has many fields because each flag has one.
type watching struct {
	app      *App
	config   watch.Config
	machine  watch.Machine
	attach   []string
	exprs    []string
	exprFile string
	filters  []string
	filter   watch.Filter // parsed from filters
	all      bool
	top      int
	format   string
	out      string
	file     *os.File // the open file of out
	listen   string
	list     bool

	dashboard bool
	command   []string // whose load is recorded; none records until interrupted
}

func newStatCommand(a *App) *cobra.Command {
	w := &watching{app: a}
	c := command("stat [-- COMMAND...]",
		"watch this machine and running database servers live, or record the load of any program",
		args(w.take, w.check, w.compile), func(c *cobra.Command, _ []string) error {
			if w.dashboard {
				return watch.Dashboard(a.Stdout)
			}
			if w.records() {
				return w.record(c.Context())
			}
			return w.start(c.Context())
		})
	f := c.Flags()
	f.DurationVar(&w.config.Interval, "interval", time.Second, "time from sample to sample")
	f.IntVar(&w.config.Count, "count", 0, "end after that many intervals (default: when interrupted)")
	f.StringArrayVar(&w.machine.Devices, "device", nil,
		"watch the device of that `name`, such as nvme0n1 (default: all physical disks); may be repeated")
	f.StringArrayVar(&w.machine.Dirs, "dir", nil, "watch the device under a `directory`; may be repeated")
	f.IntSliceVar(&w.machine.PIDs, "pid", nil, "watch a process and its descendants; may be repeated")
	f.StringArrayVar(&w.attach, "attach", nil,
		"watch a running server, its processes and its device: `[NAME=]ENGINE:DSN`; may be repeated")
	f.StringArrayVar(&w.exprs, "expr", nil, "compute `'name = EXPRESSION'`, see docs/stat.md; may be repeated")
	f.StringVar(&w.exprFile, "exprs", "", "compute the expressions in a YAML `file`: a map of names to expressions")
	f.StringArrayVar(&w.filters, "filter", nil,
		"show and write only the series that a `selector` matches, such as 'device.*_bytes'; may be repeated")
	f.BoolVar(&w.all, "all", false, "show everything in tables, not only what matters first")
	f.IntVar(&w.top, "top", 10, "with --all, show the `n` most active series of a server; 0 shows all")
	f.StringVar(&w.format, "format", "", "output format: table, csv, jsonl or none (default table)")
	f.StringVar(&w.out, "out", "",
		"record a campaign in a new `directory`; with --format csv or jsonl, write to a new file")
	f.StringVar(&w.listen, "listen", "", "offer the latest sample to Prometheus at `HOST:PORT`; port 0 is a free one")
	f.BoolVar(&w.dashboard, "dashboard", false, "print a Grafana dashboard of what --listen offers, and end")
	f.BoolVar(&w.list, "list", false, "print the names of all series that would be sampled, and end")
	return c
}

// check refuses flags that make no sense.
func (w *watching) check(*cobra.Command, []string) error {
	switch {
	case w.config.Interval < 10*time.Millisecond:
		return fmt.Errorf("--interval %v: less than 10ms, which would measure rumbench itself", w.config.Interval)
	case w.config.Count < 0:
		return fmt.Errorf("--count %d: less than 0", w.config.Count)
	case time.Duration(w.config.Count) > quantity.Longest/w.config.Interval:
		return fmt.Errorf("--count %d of %v: %w", w.config.Count, w.config.Interval, quantity.ErrLong)
	case w.top < 0:
		return fmt.Errorf("--top %d: less than 0", w.top)
	case w.format == "none" && w.listen == "" && !w.list:
		return errors.New("--format none without --listen: nothing would be seen")
	case (w.format == "none" || w.format == "table") && w.out != "":
		return fmt.Errorf("--format %s goes with no --out: csv and jsonl go to a file, and without --format a campaign is "+
			"recorded", w.format)
	case w.records():
		return w.checkRecording()
	}
	return oneOf("format", cmp.Or(w.format, "table"), "table", "csv", "jsonl", "none")
}

// start finds the servers and the series to sample, and watches.
func (w *watching) start(ctx context.Context) error {
	var err error
	if w.config.Targets, err = watch.ParseAttachments(w.attach, catalog.Plugins{}); err != nil {
		return usage(err)
	}
	if err := watch.AttachAll(ctx, w.config.Targets, w.note); err != nil {
		return err
	}
	defer watch.CloseAll(w.config.Targets)
	if w.config.Collectors, err = w.machine.Collectors(w.config.Targets, w.note); err != nil {
		return usage(err)
	}
	if w.list {
		return watch.List(ctx, w.app.Stdout, w.config, w.filter, w.warn)
	}
	return w.run(ctx)
}

func (w *watching) compile(*cobra.Command, []string) error {
	for _, text := range w.filters {
		s, err := watch.ParseSelector(text)
		if err != nil {
			return fmt.Errorf("--filter: %w", err)
		}
		w.filter = append(w.filter, s)
	}
	exprs, err := w.expressions()
	w.config.Expressions = append(watch.Builtins(), exprs...)
	return err
}

func (w *watching) expressions() ([]*watch.Expression, error) {
	var all []*watch.Expression
	if w.exprFile != "" {
		src, err := regular.ReadText(w.exprFile)
		if err != nil {
			return nil, err
		}
		if all, err = watch.ParseExprFile(w.exprFile, src); err != nil {
			return nil, err
		}
	}
	for _, text := range w.exprs {
		e, err := watch.ParseDefinition("--expr", text)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, watch.CheckNames(all)
}

func (w *watching) note(text string) { fmt.Fprintln(w.app.Stderr, "rumbench: "+text) }

// run watches until the context is done, and prints the cost of watching.
func (w *watching) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var outputs []func(*watch.Frame) error
	var served error
	if w.listen != "" { // before creating a file, which would be left behind
		l, err := watch.Listen(w.listen)
		if err != nil {
			return err
		}
		exporter := watch.NewExporter()
		outputs = append(outputs, exporter.Frame)
		wg.Go(func() {
			defer cancel() // a scraper must not assume that a lost endpoint still runs
			served = exporter.Serve(ctx, l)
		})
		url, everywhere := watch.Endpoint(l)
		w.note("metrics at " + url)
		if everywhere {
			w.note("warning: whoever can reach this host can read them; --listen 127.0.0.1:PORT keeps them on it")
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
		w.warn(f)
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
		w.note("stat: " + text)
	}
	return errors.Join(err, served)
}

// warn prints the problems of the first frame.
func (w *watching) warn(f *watch.Frame) {
	if f.Number > 0 {
		return
	}
	for _, text := range watch.Warnings(f, w.config.Expressions) {
		w.note("warning: " + text)
	}
}

// writer returns the function that writes frames in the chosen format.
func (w *watching) writer() (func(*watch.Frame) error, error) {
	out := w.app.Stdout
	if path := w.out; path != "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return nil, usageErrorf("--out %s: the file exists, and samples are never written over others", path)
		}
		if err != nil {
			return nil, err
		}
		out, w.file = escape.NewWriter(f), f
	}
	switch w.format {
	case "csv":
		return watch.CSV(out, w.filter), nil
	case "jsonl":
		return watch.JSONL(out, w.filter), nil
	case "none":
		return func(*watch.Frame) error { return nil }, nil
	}
	out = escape.Raw(out)
	t := &watch.Table{Out: out, Size: terminal(out), All: w.all, Top: w.top, Filter: w.filter,
		Expressions: w.config.Expressions}
	return t.Frame, nil
}

// terminal returns a function that returns the size of the terminal behind a writer, nil if
// there is none.
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
