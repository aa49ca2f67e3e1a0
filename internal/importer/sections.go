package importer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// anatomy holds the lines by which the runs in one file are recognised.
type anatomy struct {
	heads []func(line string) bool // near the beginning of a run, each at most once
	tail  func(line string) bool   // among the last lines of a complete run
	body  func(line string) bool   // other lines that only runs have
}

func newAnatomy(tail, body string, heads ...string) anatomy {
	a := anatomy{tail: regexp.MustCompile(tail).MatchString, body: regexp.MustCompile(body).MatchString}
	for _, head := range heads {
		a.heads = append(a.heads, regexp.MustCompile(head).MatchString)
	}
	return a
}

// anatomies are those of the formats whose files may hold several runs.
var anatomies = map[string]anatomy{
	fmtSysbench: newAnatomy(`^\s+execution time \(avg/stddev\):`,
		`^\[|^\d+,|^\s*FATAL:|^Threads started|^Number of threads|^\s+\S.*:\s`, sbHead+`|`+sbRumbench),
	fmtPgbench: newAnatomy(`^tps = `, `^progress: |^SQL script | - |^\s+\d|^pgbench: |^statement lat|^[a-z][a-z ]*(: | = )`,
		`^pgbench \(`, `^starting vacuum`, `^transaction type: `),
	fmtDBBench: newAnatomy(`^\S+ +: +\d+\.\d+ micros/op`, ` \.\.\. thread \d+: `,
		`^(RocksDB|LevelDB): `, `^Keys: .* bytes each`),
	fmtYCSB: newAnatomy(`^\[[A-Z-]+\], Return=`,
		`^\[[A-Za-z_-]+\], |^[A-Z_]+ *- Takes|^"\w+"=| sec: \d+ operations;`, `^Command line: `, `^YCSB Client `,
		`^\[OVERALL\], RunTime`, `\* properties \*`, `^Run finished, takes `),
	fmtIBench: newAnatomy(`^Totals:|^Done$`, `^\d`, `iibench\.py`),
}

// split returns the parts of a file: one for each run, in their order. The lines before
// the head of a run, such as its command, belong to it. left describes results of
// another tool.
func (f *file) split() (parts []*file, left string) {
	a, ok := anatomies[f.format.name]
	var seen map[int]bool    // the heads that the current run has
	ended, until := false, 0 // the last line that only a run has
	line := func(n int, text string, _ bool) bool {
		for _, name := range []string{fmtSysbench, fmtPgbench, fmtDBBench} {
			if name != f.format.name && anatomies[name].tail(text) {
				left = fmt.Sprintf("%s:%d: results of %s are left out: give them a file of their own", f.path, n, name)
			}
		}
		head := slices.IndexFunc(a.heads, func(matches func(string) bool) bool { return matches(text) })
		if head >= 0 && (len(parts) == 0 || ended || seen[head]) {
			if len(parts) > 0 {
				parts[len(parts)-1].until = until
			}
			part := *f
			part.first, part.head, part.errors = until+1, nil, nil
			parts, seen, ended = append(parts, &part), map[int]bool{}, false
		}
		if len(parts) == 0 {
			return true
		}
		if part := parts[len(parts)-1]; len(part.head) < looked {
			part.head = append(part.head, text)
		}
		tail := a.tail(text)
		if head >= 0 {
			seen[head] = true
		} else {
			ended = ended || tail
		}
		if head >= 0 || tail || a.body(text) {
			until = n
		}
		return true
	}
	if !ok || f.read(line) != nil { // its parser reports the error
		return []*file{f}, ""
	}
	if len(parts) < 2 {
		parts = []*file{f}
	}
	return parts, left
}

// isRun reports whether a part of a file is a run, not output of sysbench prepare or cleanup.
func (f *file) isRun() bool { return f.format.detect(f.head) }

// sections returns the runs that the files of a run hold: several if each file holds
// so many, or if several processes of pgbench wrote logs. left describes output that
// belongs to none of them.
func sections(files []*file) (out [][]*file, left string) {
	first := files[0]
	if first.format.name == fmtPgLog {
		return processes(files), ""
	}
	parts, left := first.split()
	if slices.ContainsFunc(parts, (*file).isRun) {
		parts = slices.DeleteFunc(parts, func(p *file) bool { return !p.isRun() })
	}
	for _, part := range parts {
		out = append(out, []*file{part})
	}
	if first.errors != nil {
		left = cmp.Or(pair(parts, first.errors), left)
	}
	for _, f := range files[1:] {
		parts, _ := f.split()
		if f.format.name == fmtPgLog {
			parts = slices.Repeat([]*file{f}, len(out)) // parsePgbench finds out whose it is
		}
		if len(parts) != len(out) {
			return [][]*file{files}, left
		}
		for i := range out {
			out[i] = append(out[i], parts[i])
		}
	}
	return out, left
}

// pair gives each run its part of the standard error of all.
func pair(runs []*file, errs *file) (left string) {
	parts, _ := errs.split()
	for i, r := range runs {
		if r.errors = nil; len(parts) == len(runs) {
			r.errors = parts[i]
		} else {
			left = fmt.Sprintf("%s is left out: which of its lines belong to which of %d runs is unknown", errs.path,
				len(runs))
		}
	}
	return left
}
