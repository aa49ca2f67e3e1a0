// Command planted checks explanations: it runs pairs of targets that differ in one known
// setting, and prints which cause rumbench explain names first.
//
//	planted [-set second] [-out DIR] [-only 1,2,3] [-engine innodb]
//
// It needs a quiet machine, root for the causes that throttle a program with a control
// group of version 1, and hours for all causes. The exit status is 1 if fewer than nine
// of ten are right.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/explain"
)

func main() {
	out := flag.String("out", filepath.Join(os.TempDir(), "planted"),
		"directory of the campaigns; those that are there are only explained again")
	only := flag.String("only", "", "numbers of causes, separated by commas")
	engine := flag.String("engine", "", "this engine only")
	program := flag.String("rumbench", "bin/rumbench", "the program")
	set := flag.String("set", "first", "of causes: first, second (those that rules were not made by)")
	flag.Parse()
	if *set == "second" {
		causes = second
	}
	right, tried, err := run(context.Background(), *program, *out, func(c *cause, on string) bool {
		return (*only == "" || slices.Contains(strings.Split(*only, ","), strconv.Itoa(c.number))) &&
			(*engine == "" || *engine == on)
	})
	fmt.Printf("%d of %d right\n", right, tried)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || 10*right < 9*tried {
		os.Exit(1)
	}
}

// run runs and explains the selected causes.
func run(ctx context.Context, program, out string, wanted func(*cause, string) bool) (right, tried int, err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return 0, 0, err
	}
	engines := map[string][2]int{} // the number of right ones, and the total
	fmt.Println("cause | engine | expected | named first | sentence")
	for i := range causes {
		c := &causes[i]
		for _, on := range c.on {
			if !wanted(c, on) {
				continue
			}
			records, e := c.records(ctx, program, out, on)
			if e != nil {
				err = errors.Join(err, fmt.Errorf("%s on %s: %w", c.name, on, e))
				continue
			}
			tried++
			rule, sentence := firstNamed(records)
			counts := engines[on]
			mark := "✗"
			if rule == "" && len(c.rules) == 0 || slices.Contains(c.rules, rule) && c.named(records) {
				mark = "✓"
				right++
				counts[0]++
			}
			counts[1]++
			engines[on] = counts
			fmt.Printf("%d %s | %s | %s | %s %s | %s\n", c.number, c.name, on, c.rules, mark, rule, sentence)
		}
	}
	for _, on := range slices.Sorted(maps.Keys(engines)) {
		fmt.Printf("%s: %d of %d\n", on, engines[on][0], engines[on][1])
	}
	return right, tried, err
}

// named reports whether every required rule is named for the last step.
func (c *cause) named(records []explain.Record) bool {
	return !c.each || !slices.ContainsFunc(c.rules, func(rule explain.Rule) bool {
		return !slices.ContainsFunc(records, func(r explain.Record) bool {
			return r.Step == records[len(records)-1].Step && r.Rule == rule && r.Proven
		})
	})
}

// firstNamed returns the rule named first in the last step, and its sentence: the limit of
// the measurement, or the first proven cause.
func firstNamed(records []explain.Record) (rule explain.Rule, sentence string) {
	last := ""
	for _, r := range records {
		if r.Step != last {
			last, rule, sentence = r.Step, "", ""
		}
		said := r.Metric == "" && (explain.Note{Rule: r.Rule}).First() // other kinds of notes are not causes
		if rule == "" && r.Rule != "" && (r.Proven || said) {
			rule, sentence = r.Rule, r.Metric+": "+r.Sentence
		}
	}
	return rule, sentence
}

// records runs the campaigns that do not exist yet, and explains them.
func (c *cause) records(ctx context.Context, program, out, on string) (records []explain.Record, err error) {
	dir := filepath.Join(out, fmt.Sprintf("%02d-%s", c.number, on))
	targets := c.targets(on)
	dirs := []string{dir}
	if c.held == nil && c.other == "" {
		err = c.run(ctx, program, dir, c.plan(on, c.params, targets), nil)
	} else {
		dirs = []string{dir + "-base", dir + "-new"}
		err = c.run(ctx, program, dirs[0], c.plan(on, c.params, targets[:1]), nil)
		if err == nil {
			err = c.run(ctx, program, dirs[1], c.plan(on, cmp.Or(c.other, c.params), targets[1:]), c.held)
		}
	}
	if err != nil {
		return nil, err
	}
	text, err := exec.CommandContext(ctx, program,
		append([]string{"explain", "--format", "json", "--across-durability", "--anyway"}, dirs...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var r explain.Record
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF):
			return records, nil
		case err != nil:
			return nil, err
		}
		records = append(records, r)
	}
}

// run runs a campaign unless it exists.
func (c *cause) run(ctx context.Context, program, dir, plan string, held *hold) error {
	if _, err := os.Stat(filepath.Join(dir, "campaign.json")); err == nil {
		return nil
	}
	if err := os.WriteFile(dir+".yaml", []byte(plan), 0o644); err != nil {
		return err
	}
	if c.beside != nil {
		defer c.beside()()
	}
	args := []string{program, "run", dir + ".yaml", "--out", dir}
	if held != nil {
		free, err := held.begin(filepath.Dir(dir))
		if err != nil {
			return err
		}
		defer free()
		args = append([]string{"sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, held.dir()}, args...)
	}
	if log, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("run: %w: %s", err, tail(log))
	}
	return nil
}

func tail(log []byte) string {
	const limit = 600
	return string(log[max(0, len(log)-limit):])
}

// spin uses all processors until the function that it returns is called.
func spin() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	for range runtime.NumCPU() {
		go func() {
			for ctx.Err() == nil { //nolint:revive // it is to use a processor
			}
		}()
	}
	return cancel
}
