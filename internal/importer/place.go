package importer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// place is the information about a run that a file's path contains.
type place struct {
	target string
	home   string // the directory, or file, that the target is named after
	trial  int    // 0: unknown
	step   string // "": unknown
}

// folder is a directory with files of one target.
type folder struct {
	place place
	files []*file
	named bool // a single file given by name, which is its own target
	spool spool
}

// placeOf returns the place that the names of a directory and its parents indicate.
func placeOf(dir string) place {
	var p place
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if name := filepath.Base(dir); stepDir.MatchString(name) {
		p.step, dir = name, filepath.Dir(dir)
	}
	if m := trialDir.FindStringSubmatch(filepath.Base(dir)); m != nil {
		p.trial, _ = strconv.Atoi(m[1])
		dir = filepath.Dir(dir)
	}
	p.target, p.home = filepath.Base(dir), dir
	return p
}

// find reads the heads of the files at paths, and below them, and returns them in
// folders, ordered by name. A file named directly by a path is its own target.
func (c *Campaign) find(paths []string, o *Options, ps *hint.Problems) (folders []*folder) {
	for _, path := range paths {
		same := func(p string) bool {
			return p != path && stem(p) == stem(path) && filepath.Dir(p) == filepath.Dir(path)
		}
		switch info, err := os.Stat(path); {
		case err != nil:
			ps.Add(path, 0, "", "%v", reasonOf(err))
		case info.IsDir():
			found, ignored := walk(path, o, ps)
			if len(found) == 0 && len(ignored) == 0 && len(*ps) == 0 {
				ps.Add(path, 0, "", "the directory has no files")
			}
			folders, c.Ignored = append(folders, found...), append(c.Ignored, ignored...)
		case slices.ContainsFunc(paths, same) && standardError(path) != nil: // attach finds it
		default:
			if f := load(path, o, true, ps); f != nil {
				files := append([]*file{f}, companions(path, o)...)
				folders = append(folders, &folder{place: placeOfFile(path), files: files, named: true})
			}
		}
	}
	for _, d := range folders {
		attached := d.attach()
		for _, f := range d.files {
			if name, ok := strings.CutSuffix(f.path, summaryFile); ok { // benchbase's, read with it
				attached = append(attached, name+".samples.csv", name+".config.xml")
			}
		}
		c.Ignored = slices.DeleteFunc(c.Ignored, func(path string) bool { return slices.Contains(attached, path) })
	}
	return folders
}

// errorEnds are the ends of names of files with the standard error of a command.
var errorEnds = []string{".err", ".stderr"}

// standardError returns the file at a path if it is named and reads like the standard
// error of a run, else nil. That of pgbench and YCSB has their progress.
func standardError(path string) *file {
	f, err := newFile(path)
	if err != nil || len(f.head) == 0 || !slices.Contains(errorEnds, filepath.Ext(path)) {
		return nil
	}
	name := formatBy(func(c format) bool { return c.detect(f.head) }).name
	begin, ok := map[string]string{fmtPgbench: "transaction type: ", fmtYCSB: "[OVERALL], "}[name]
	summary := func(l string) bool { return strings.HasPrefix(l, begin) }
	if name != "" && (!ok || slices.ContainsFunc(f.head, summary)) {
		return nil
	}
	return f
}

// attach makes files with the standard error of the folder's runs a part of their logs.
func (d *folder) attach() (paths []string) {
	for _, f := range d.files {
		if _, ok := anatomies[f.format.name]; !ok || slices.Contains(errorEnds, filepath.Ext(f.path)) {
			continue
		}
		for _, end := range errorEnds {
			path := filepath.Join(filepath.Dir(f.path), stem(f.path)+end)
			if e := standardError(path); e != nil && !slices.Contains(paths, path) {
				e.format, f.errors = f.format, e
				paths = append(paths, path)
			}
		}
	}
	d.files = slices.DeleteFunc(d.files, func(f *file) bool { return slices.Contains(paths, f.path) })
	return paths
}

// placeOfFile returns the place of a file that is its own target.
func placeOfFile(path string) place {
	var p place
	name, _ := clientOf(stem(path))
	p.target, p.trial = repetition(name)
	p.home = filepath.Join(filepath.Dir(path), p.target)
	if abs, err := filepath.Abs(p.home); err == nil {
		p.home = abs
	}
	return p
}

func walk(root string, o *Options, ps *hint.Problems) (folders []*folder, ignored []string) {
	var files []*file
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path != root && strings.HasPrefix(d.Name(), ".") || result.IsCampaign(path)) {
			return filepath.SkipDir
		}
		if strings.HasPrefix(d.Name(), ".") || !d.Type().IsRegular() {
			return nil
		}
		if f := load(path, o, false, ps); f != nil && f.format.name == "" {
			ignored = append(ignored, path)
		} else if f != nil {
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		ps.Add(root, 0, "", "%v", reasonOf(err))
	}
	slices.SortStableFunc(files, func(a, b *file) int { return quantity.Natural(a.path, b.path) })
	dirs, members := groups(files, func(f *file) string { return filepath.Dir(f.path) })
	slices.SortStableFunc(dirs, quantity.Natural)
	for _, dir := range dirs {
		folders = append(folders, &folder{place: placeOf(dir), files: members[dir]})
	}
	return folders, ignored
}

// companions returns the companion files of a file, by their names.
func companions(path string, o *Options) (out []*file) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // companions are optional
	}
	for _, e := range entries {
		companion := filepath.Join(filepath.Dir(path), e.Name())
		if e.Name() == filepath.Base(path) || !e.Type().IsRegular() || key(companion) != key(path) {
			continue
		}
		var none hint.Problems // a different run may have the name too
		if f := load(companion, o, false, &none); f != nil &&
			(f.format.name == fmtPgLog || f.format.name != "" && f.format.parse == nil) {
			out = append(out, f)
		}
	}
	return out
}

// load opens a file and detects its format. It returns nil if the file cannot be
// read, for the reasons in ps. Files found in a directory may have an unknown
// format.
func load(path string, o *Options, named bool, ps *hint.Problems) *file {
	f, err := newFile(path)
	if err != nil {
		if !named && errors.Is(err, errBinary) {
			return &file{path: path}
		}
		ps.Add(path, 0, "", "%v", reasonOf(err))
		return nil
	}
	f.format = formatBy(func(c format) bool { return c.detect(f.head) })
	if f.format.parse != nil && o.Format != "" && f.format.name != o.Format &&
		(o.Format != fmtPgbench || f.format.name != fmtPgLog) {
		f.format = format{} // not of the format asked for
	}
	if f.format.name == "" && (named || o.Format != "" || suspicious(path)) {
		if o.Format != "" {
			f.format = formatBy(func(c format) bool { return c.name == o.Format })
			return f // its parser reports the error
		}
		line, reason, hint := foreign(f)
		ps.Add(path, line, hint, "%s", reason)
		return nil
	}
	return f
}

// suspicious reports whether a file's name suggests that it belongs to a run.
func suspicious(path string) bool {
	base := strings.TrimSuffix(filepath.Base(path), ".gz")
	test, _ := suiteTestOf(base)
	return test.clients > 0 || suiteFile.MatchString(base) && !strings.HasPrefix(base, "sb.o.") ||
		ibFile.MatchString(base) ||
		slices.Contains([]string{".log", ".iostat", ".vmstat"}, filepath.Ext(base))
}

// runFiles returns the folder's files except companions, grouped by run: pgbench's
// output with its logs, and the files of all clients of the insert benchmark. Costs
// come last: without a log they lack the number of CPUs, which the others may have.
func (d *folder) runFiles() (out [][]*file) {
	logs, attached := map[*file][]*file{}, map[*file]bool{}
	for _, f := range d.files {
		if f.format.name == fmtPgbench {
			logs[f] = d.pgLogs(f)
			for _, l := range logs[f] {
				attached[l] = true
			}
		}
	}
	var files, pgLogs []*file
	for _, f := range d.files {
		switch {
		case f.format.parse == nil || attached[f]:
		case f.format.name == fmtPgLog:
			pgLogs = append(pgLogs, f)
		default:
			files = append(files, f)
		}
	}
	runs, members := groups(append(files, pgLogs...), func(f *file) string {
		if f.format.name == fmtIBench || f.format.name == fmtPgLog {
			return f.format.name + " " + f.key()
		}
		return f.path
	})
	for _, r := range runs {
		out = append(out, append(members[r], logs[members[r][0]]...))
	}
	return out
}

// pgLogs returns the logs of option -l that may belong to a run of pgbench: those that
// share its name, else those that share no run's.
func (d *folder) pgLogs(f *file) []*file {
	if logs := d.filesFor(f, fmtPgLog); len(logs) > 0 {
		return logs
	}
	return slices.DeleteFunc(slices.Clone(d.files), func(l *file) bool {
		return l.format.name != fmtPgLog || slices.ContainsFunc(d.files, func(o *file) bool {
			return o.format.name == fmtPgbench && o.key() == l.key()
		})
	})
}

// filesFor returns the companion files of one kind for the run of a log: those that
// share its name, or all if the folder has only one run.
func (d *folder) filesFor(f *file, name string) (out []*file) {
	runs := map[string]bool{}
	var files []*file
	for _, o := range d.files {
		switch {
		case o.format.parse != nil && o.format.name != fmtPgLog:
			runs[o.key()] = true
		case o.format.name == name:
			files = append(files, o)
		}
		if o != f && o.format.name == name && o.key() == f.key() {
			out = append(out, o)
		}
	}
	if len(out) == 0 && len(runs) <= 1 {
		return files
	}
	return out
}

// companionsOf returns the files of iostat, vmstat and time for the run of a log.
func (d *folder) companionsOf(log *file) (out []*file) {
	for _, name := range companionFormats {
		out = append(out, d.filesFor(log, name)...)
	}
	return out
}

// unused returns the companion files of a folder that belong to no run.
func (d *folder) unused() (out []string) {
	used := map[*file]bool{}
	for _, group := range d.runFiles() {
		for _, f := range d.companionsOf(group[0]) {
			used[f] = true
		}
	}
	for _, f := range d.files {
		if f.format.parse == nil && !used[f] {
			out = append(out, f.path)
		}
	}
	return out
}
