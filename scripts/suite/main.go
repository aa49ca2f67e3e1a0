// Command suite runs the tests of make test, each once: some under the race detector,
// some in the build with native engines, all others in the plain build. It ends with the
// slowest packages and tests. With -long it runs those of make test-long too.
//
// It is for this project's tests only, and knows nothing about their subject.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"rumbench/internal/need"
)

// pass is one run of go test.
type pass struct {
	name     string
	cgo      string // the value of CGO_ENABLED
	flags    []string
	packages []string
	long     []string // more of them in make test-long; make test has them in the plain pass
}

// passes are the runs. The last has all packages that no other has; of those it names the ones that take longest,
// which start first, so that the end does not wait for one of them.
var passes = []pass{
	{
		name: "native", cgo: "1", flags: []string{"-tags", "native,netgo,osusergo", "-p", "2"},
		packages: []string{"workload/all", "engine/rocksdb", "engine/wiredtiger", "engine/lmdb", "engine/native"},
	},
	{ // packages whose goroutines share memory; those that import all engines take minutes to compile
		name: "race", cgo: "1", flags: []string{"-race", "-p", "2"},
		packages: []string{"internal/run/drive", "internal/stat/hist", "engine/memory",
			"engine/bbolt", "engine/wire", "internal/observe", "internal/observe/cpuset", "internal/run/campaign"},
		long: []string{"engine/badger", "engine/kvkit", "engine/pebble", "internal/run/trial", "internal/cli/watch",
			"internal/server", "internal/fleet", "internal/run/divided"},
	},
	{
		name: "plain", cgo: "0", flags: []string{"-p", "3"},
		packages: []string{"internal/doctest", "internal/cli", "engine/mysql", "engine/tarantool", "engine/mongodb",
			"engine/postgres", "internal/run/trial", "internal/report"},
	},
}

// shown is the number of slowest packages and tests listed.
const shown = 20

func main() {
	long := flag.Bool("long", false, "also run the tests that are left to make test-long")
	flag.Parse()
	if *long {
		os.Setenv(need.LongVariable, "1")
	}
	began := time.Now()
	passes, err := divide(*long)
	if err == nil {
		// Most tests wait for servers, disks and clocks: the runs share the processors.
		var s suite
		var all sync.WaitGroup
		failed := make([]error, len(passes))
		for i, p := range passes {
			all.Go(func() { failed[i] = s.run(p, os.Stdout) })
		}
		all.Wait()
		err = errors.Join(failed...)
		s.summary(os.Stdout, time.Since(began))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

// divide returns the passes with every package of the module in the first that names it, or in the last.
func divide(long bool) ([]pass, error) {
	out, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	divided := slices.Clone(passes)
	all := strings.Fields(string(out))
	left := slices.Clone(all)
	for i := range divided {
		p := &divided[i]
		if long {
			p.packages = slices.Concat(p.packages, p.long)
		}
		var own []string
		for _, name := range p.packages {
			name = "rumbench/" + name
			if !slices.Contains(all, name) {
				return nil, fmt.Errorf("there is no package %s", name)
			}
			if position := slices.Index(left, name); position >= 0 {
				own, left = append(own, name), slices.Delete(left, position, position+1)
			}
		}
		p.packages = own
	}
	last := &divided[len(divided)-1]
	last.packages = append(last.packages, left...)
	return divided, nil
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// timed is a test, or a package if test is "".
type timed struct {
	pass, pkg, test string
	seconds         float64
}

type suite struct {
	mu              sync.Mutex // guards the fields below and the output
	tests, packages []timed
	skipped, failed []string
	leftOut         int // to make test-long
}

// run runs a pass and prints a line for each package, and the output of failed tests.
func (s *suite) run(p pass, w io.Writer) error {
	args := append([]string{"test", "-json", "-vet=off", "-count", "1", "-timeout", "60m", "-parallel", "4"}, p.flags...)
	cmd := exec.Command("go", append(args, p.packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+p.cgo)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	said := map[[2]string]*strings.Builder{}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(w, "%s", line)
			continue
		}
		s.note(p.name, e, said, w)
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%s tests: %w", p.name, err)
	}
	return nil
}

func (s *suite) note(pass string, e event, said map[[2]string]*strings.Builder, w io.Writer) {
	key := [2]string{e.Package, e.Test}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Action {
	case "output":
		if said[key] == nil {
			said[key] = &strings.Builder{}
		}
		said[key].WriteString(e.Output)
		return
	case "build-output":
		fmt.Fprint(w, e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	output := ""
	if said[key] != nil {
		output = said[key].String()
	}
	delete(said, key)
	if e.Action == "fail" {
		fmt.Fprint(w, output)
	}
	t := timed{pass, e.Package, e.Test, e.Elapsed}
	switch {
	case e.Test != "":
		s.tests = append(s.tests, t)
		switch cause := reason(output); {
		case e.Action == "skip" && cause == need.LeftOut:
			s.leftOut++
		case e.Action == "skip":
			s.skipped = append(s.skipped, t.name()+": "+cause)
		case e.Action == "fail":
			s.failed = append(s.failed, t.name())
		}
	case e.Action != "skip": // it has tests
		s.packages = append(s.packages, t)
		fmt.Fprintf(w, "%-4s %6.1f s  %s (%s)\n", e.Action, e.Elapsed, e.Package, pass)
	}
}

func (t *timed) name() string { return strings.TrimSpace(t.pkg + " " + t.test + " (" + t.pass + ")") }

// reason returns the reason for which a test was skipped, from its output: "file.go:12:
// reason".
func reason(output string) string {
	for line := range strings.Lines(output) {
		if _, cause, found := strings.Cut(line, ".go:"); found {
			_, cause, _ = strings.Cut(cause, ": ")
			return strings.TrimSpace(cause)
		}
	}
	return ""
}

// summary lists the slowest packages and tests, and the tests that were skipped or
// failed.
func (s *suite) summary(w io.Writer, took time.Duration) {
	for _, list := range []struct {
		subject string
		all     []timed
	}{{"packages", s.packages}, {"tests", s.tests}} {
		slices.SortStableFunc(list.all, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
		fmt.Fprintf(w, "\nthe slowest %s:\n", list.subject)
		for _, t := range list.all[:min(shown, len(list.all))] {
			fmt.Fprintf(w, "%7.1f s  %s\n", t.seconds, t.name())
		}
	}
	for _, list := range []struct {
		subject string
		names   []string
	}{{"skipped", s.skipped}, {"failed", s.failed}} {
		if len(list.names) > 0 {
			fmt.Fprintf(w, "\n%s:\n  %s\n", list.subject, strings.Join(list.names, "\n  "))
		}
	}
	fmt.Fprintf(w, "\n%d tests in %d packages, %d skipped, %d %s, %d failed, in %v\n", len(s.tests)-s.leftOut,
		len(s.packages), len(s.skipped), s.leftOut, need.LeftOut, len(s.failed), took.Round(time.Second))
}
