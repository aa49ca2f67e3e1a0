// Package native is the seam between rumbench and database engines written in C and
// C++. It finds and loads their libraries at run time, so that one binary runs any
// version of one, and it counts the syncs that their code makes, or leaves them out.
//
// Loading needs cgo: it is compiled with the build tag native only, into
// bin/rumbench-native. This file is compiled into every binary, so that each of
// them knows the engines and checks plans for them.
package native

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/text/hint"
)

// Program is the name of the binary that has the native engines.
const Program = "rumbench-native"

// SharedDir is where scripts put the libraries of databases.
const SharedDir = "/opt/rumbench/lib"

// Missing returns the error of a native engine in a binary without it.
func Missing(engine string) error {
	return hint.With(fmt.Errorf("%s is not in this binary", engine),
		"build bin/"+Program+" next to it (make native), or name one with binary:")
}

// Find returns the path of a library. A version with a slash is the path itself;
// else the file is called STEM-VERSION.so and is looked for next to the executable,
// in the directory that the environment calls RUMBENCH_LIB, and in SharedDir.
func Find(stem, version string) (string, error) {
	if strings.ContainsRune(version, '/') {
		info, err := os.Stat(version)
		if err == nil && !info.Mode().IsRegular() { // opening a pipe would never end
			err = fmt.Errorf("%s is not a regular file", version)
		}
		return version, err
	}
	name := stem + "-" + version + ".so"
	for _, dir := range places() {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("library %s is in none of %s", name, strings.Join(places(), ", "))
}

func places() []string {
	var out []string
	if exe, err := os.Executable(); err == nil {
		out = append(out, filepath.Dir(exe))
	}
	if dir := os.Getenv("RUMBENCH_LIB"); dir != "" {
		out = append(out, dir)
	}
	return append(out, SharedDir)
}

var release = regexp.MustCompile(`^\d+(\.\d+)+$`)

// Advice lists the installed versions of a library, and names the script that installs one.
func Advice(stem, version, script string) string {
	var found []string
	for _, dir := range places() {
		files, _ := fs.Glob(os.DirFS(dir), stem+"-*.so")
		for _, f := range files {
			found = append(found, strings.TrimSuffix(strings.TrimPrefix(f, stem+"-"), ".so"))
		}
	}
	if !release.MatchString(version) {
		version = "VERSION"
	}
	slices.Sort(found)
	return fmt.Sprintf("%s %s brings one; there are: %s", script, version,
		cmp.Or(strings.Join(slices.Compact(found), ", "), "none"))
}

// CheckExports returns an error if a library is not built for this machine, or
// does not export one of the functions.
func CheckExports(path string, names ...string) error {
	f, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("read library %s: %w", path, err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("read library %s: %w", path, err)
	}
	exported := map[string]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF {
			exported[s.Name] = true
		}
	}
	var missing []error
	for _, name := range names {
		if !exported[name] {
			missing = append(missing, fmt.Errorf("library %s has no function %s", path, name))
		}
	}
	return errors.Join(missing...)
}
