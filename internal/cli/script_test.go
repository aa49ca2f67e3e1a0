package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"rumbench/engine/native"
	"rumbench/internal/cli"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/result"
)

// TestMain lets tests run this binary as rumbench, and lets campaigns that do
// so start it for their trials.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rumbench": func() {
		ctx, stop := cli.Interruptible()
		defer stop()
		os.Exit(cli.Process().Main(ctx))
	}})
}

// samples reports whether all processes can be sampled here.
func samples() bool {
	s, err := profile.Start(99, false)
	if err != nil {
		return false
	}
	r, err := s.Stop()
	return err == nil && !r.OwnOnly
}

// TestScripts runs the specification of the command line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("RUMBENCH_LOCK", e.WorkDir+"/lock")
			e.Setenv("RUMBENCH_NATIVE", nativeProgram)
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "long":
				return need.IsLong(), nil
			case "perf":
				return samples(), nil
			case "trace":
				return blockio.Available(os.TempDir()) == nil, nil
			case "native":
				_, err := os.Stat(nativeProgram)
				return need.Found(t, err), nil
			}
			return false, fmt.Errorf("no condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exitCodes, "rows": rows, "waitfor": waitFor, "same": same, "agree": agree,
		},
	})
}

// nativeProgram is what make native builds.
var nativeProgram = filepath.Join(root(), "bin", native.Program)

// root returns the directory of the project.
func root() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}

// exitCodes runs a command that is to end with a certain exit code: exits CODE COMMAND...
func exitCodes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if want, _ := strconv.Atoi(args[0]); code != want {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// rows checks rows of JSON: rows FILE [TARGET STEP METRIC [TRIAL]]. Every line is a row
// of a known metric with its unit, and the one named is among them.
func rows(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 && len(args) != 4 && len(args) != 5 {
		ts.Fatalf("usage: rows FILE [TARGET STEP METRIC [TRIAL]]")
	}
	found := false
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		var r metric.Row
		ts.Check(dec.Decode(&r))
		m := metric.ByName(r.Metric)
		switch {
		case m == nil:
			ts.Fatalf("unknown metric in %s", line)
		case m.Unit != r.Unit:
			ts.Fatalf("unit %q instead of %q in %s", r.Unit, m.Unit, line)
		case r.Target == "" || r.Trial == 0 || r.Step == "":
			ts.Fatalf("a number of nothing: %s", line)
		}
		n++
		found = found || len(args) >= 4 && r.Target == args[1] && r.Step == args[2] && r.Metric == args[3]
	}
	if n == 0 {
		ts.Fatalf("no rows")
	}
	if len(args) == 5 && !found { // the trial says that the kernel counted what cannot be
		t, err := result.ReadTrial(ts.MkAbs(args[4]))
		ts.Check(err)
		found = slices.ContainsFunc(t.Steps, func(s result.Step) bool { return s.Name == args[2] && overcounted(&s, args[3]) })
	}
	if len(args) >= 4 && found == neg {
		ts.Fatalf("row %v: found %v", args[1:], found)
	}
}

// agree compares the numbers of two files of JSON rows: agree FILE FILE METRIC...
// Each has those of these metrics that the other has, and no others, as far as the
// four digits go that a log has.
func agree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: agree FILE FILE METRIC...")
	}
	read := func(file string) map[string]float64 {
		out := map[string]float64{}
		for line := range strings.Lines(ts.ReadFile(file)) {
			var r metric.Row
			ts.Check(json.Unmarshal([]byte(line), &r))
			if slices.Contains(args[2:], r.Metric) {
				out[strings.Join([]string{r.Step, r.Group, r.Op, r.Metric, r.Per, r.Unit}, " ")] = r.Value
			}
		}
		return out
	}
	a, b := read(args[0]), read(args[1])
	var differ []string
	for key, v := range a {
		if w, known := b[key]; !known || math.Abs(v-w) > 1e-3*math.Abs(w)+1e-4 {
			differ = append(differ, fmt.Sprintf("%s: %g, and %g", key, v, w))
		}
		delete(b, key)
	}
	for key, w := range b {
		differ = append(differ, fmt.Sprintf("%s: none, and %g", key, w))
	}
	if slices.Sort(differ); len(a) == 0 || len(differ) > 0 {
		ts.Fatalf("of %d numbers:\n%s", len(a), strings.Join(differ, "\n"))
	}
}

// waitFor waits until a file holds what matches an expression: waitfor FILE EXPRESSION.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: waitfor FILE EXPRESSION")
	}
	want := regexp.MustCompile(args[1])
	path := ts.MkAbs(args[0])
	for { // as long as the package may take
		if b, err := os.ReadFile(path); err == nil && want.Match(b) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// same compares the content of all files below two directories: same DIR DIR.
func same(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	a, err := snapshot(ts.MkAbs(args[0]))
	ts.Check(err)
	b, err := snapshot(ts.MkAbs(args[1]))
	ts.Check(err)
	if equal := len(a) > 0 && maps.Equal(a, b); equal == neg {
		ts.Fatalf("%s and %s: %s", args[0], args[1], cmp.Diff(a, b))
	}
}
