package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rumbench/internal/text/quantity"
)

// Program is an installed server program.
type Program struct {
	Kind    string
	Path    string // with symbolic links resolved, to find its companions
	Version string // as it reports
	Image   *Image // that holds it; nil: this host does
}

// Source is where a server's program is looked for; its zero value is what is installed.
type Source struct {
	Binary string `json:"binary,omitempty"` // path of the program
	Image  string `json:"image,omitempty"`  // of a container that holds it, as podman and docker call it
}

// Name returns the kind with its version.
func (p Program) Name() string { return p.Kind + " " + p.Version }

// base returns the installation directory, above bin or sbin.
func (p Program) base() string { return filepath.Dir(filepath.Dir(p.Path)) }

// companion returns the path of another program of the same installation.
func (p Program) companion(names ...string) (string, error) {
	for _, dir := range p.programDirs() {
		for _, name := range names {
			if path := filepath.Join(dir, name); p.holds(path) && (p.Image != nil || executable(path)) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("the installation of %s has no %s", p.Path, strings.Join(names, " or "))
}

func (p Program) programDirs() []string {
	return []string{filepath.Dir(p.Path), filepath.Join(p.base(), "bin"), filepath.Join(p.base(), "scripts")}
}

// holds reports whether a path exists where the program is installed.
func (p Program) holds(path string) bool {
	if p.Image != nil {
		return slices.Contains(p.Image.Holds, path)
	}
	_, err := os.Stat(path)
	return err == nil
}

// related lists the paths that holds is asked for.
func (p Program) related() (paths []string) {
	for _, dir := range p.programDirs() {
		for _, name := range []string{"initdb", "mariadb-install-db", "mysql_install_db"} {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	for _, name := range append([]string{"libs", "share", "data/mysql"}, myRocksPaths...) {
		paths = append(paths, filepath.Join(p.base(), name))
	}
	return paths
}

// output returns what the program prints about itself.
func (p Program) output(ctx context.Context, args ...string) (string, error) {
	if p.Image != nil {
		return p.Image.output(ctx, p.Path, args...)
	}
	return Output(ctx, p.Path, args...)
}

// MissingError is a server program that is not installed.
type MissingError struct {
	Kind   string
	Binary string   // as requested; "" if none was named
	Image  string   // as requested
	Looked []string // where it was searched for
	Reason string   // why the program found is unsuitable; "": none was found
}

func (e *MissingError) Error() string {
	switch {
	case e.Image != "":
		return fmt.Sprintf("%s has no program of server %s: %s", e.Image, e.Kind, e.Reason)
	case e.Reason != "":
		return fmt.Sprintf("%s is not a program of server %s: %s", e.Binary, e.Kind, e.Reason)
	case e.Binary != "":
		return fmt.Sprintf("program %s not found", e.Binary)
	}
	return fmt.Sprintf("server %s is not installed: looked for %s", e.Kind, strings.Join(e.Looked, ", "))
}

// ProbeError is a program whose version could not be determined: it was killed,
// or did not answer.
type ProbeError struct {
	Path  string // of the program; "" if it is not known
	Image string // that holds it, as requested; "": this host does
	Err   error
}

func (e *ProbeError) Error() string {
	program := e.Path
	if e.Image != "" {
		program = strings.TrimPrefix(program+" of image "+e.Image, " of ")
	}
	return fmt.Sprintf("read the version of %s: %v", program, e.Err)
}

func (e *ProbeError) Unwrap() error { return e.Err }

func (e *ProbeError) Hint() string {
	if e.Image != "" {
		return "an image is asked with its own /bin/sh: try podman run --rm --entrypoint /bin/sh " + e.Image + " -c true"
	}
	if errors.Is(e.Err, context.DeadlineExceeded) {
		return "it is no such program, or it hangs: try " + e.Path + " --version"
	}
	return "try again; if it was killed, the machine may have run out of memory: see dmesg"
}

// Hint returns how to install it.
func (e *MissingError) Hint() string {
	k, err := kindOf(e.Kind)
	switch {
	case err != nil:
		return ""
	case e.Image != "":
		return "the image's PATH must find it, or it must be where packages install it, such as " + k.paths[len(k.paths)-1] +
			"; an image of another server needs its engine"
	case k.aptPackage == "":
		return "name its program with binary: PATH"
	case e.Binary != "":
		return "binary: is the path of the server's own program, such as " + k.paths[len(k.paths)-1]
	}
	return "rumbench doctor --install prints how to install it (package " + k.aptPackage +
		"); or name another program with binary: PATH"
}

// Package returns the Debian package of a kind of server, "" if there is none.
func Package(kind string) string {
	k, err := kindOf(kind)
	if err != nil {
		return ""
	}
	return k.aptPackage
}

// Find returns the program of a kind of server from a source. It runs programs to identify
// them, unless they are known by Look or Remember. Its error is a *MissingError or a
// *ProbeError, or says that an image is not there.
func Find(ctx context.Context, name string, source Source) (Program, error) {
	if p, ok := programs.Load(key{name, source}); ok {
		return p.(Program), nil
	}
	k, err := kindOf(name)
	if err != nil {
		return Program{}, err
	}
	if source.Image != "" {
		image, err := findImage(ctx, source.Image)
		if err != nil {
			return Program{}, err
		}
		return image.identify(ctx, name, k, source.Image)
	}
	binary := source.Binary
	candidates := []string{binary}
	if binary == "" {
		candidates = installed(k)
	}
	var reason error
	for _, path := range candidates {
		var p Program
		var probe *ProbeError
		if p, reason = identify(ctx, name, k, path); reason == nil || errors.As(reason, &probe) {
			return p, reason
		}
	}
	if binary == "" {
		return Program{}, &MissingError{Kind: name, Looked: k.paths}
	}
	return Program{}, reason
}

// FindAny is Find for a source whose kind of server is not named: the first of the kinds that its
// program is of. What is installed is looked for as the first kind only.
func FindAny(ctx context.Context, kinds []string, source Source) (p Program, err error) {
	if source == (Source{}) {
		return Find(ctx, kinds[0], source)
	}
	for _, kind := range kinds {
		if p, ok := programs.Load(key{kind, source}); ok {
			return p.(Program), nil
		}
	}
	for _, kind := range kinds {
		p, err = Find(ctx, kind, source)
		if _, other := errors.AsType[*MissingError](err); !other {
			return p, err
		}
	}
	return p, err
}

// installed lists the programs in the usual directories, the best first.
func installed(k *kind) (paths []string) {
	for _, pattern := range k.paths {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, quantity.Natural) // by the version numbers in them: 9.6 is before 15
		paths = append(paths, found...)
	}
	slices.Reverse(paths)
	return paths
}

// identify runs a program to determine its kind and version.
func identify(ctx context.Context, name string, k *kind, path string) (Program, error) {
	missing := func(reason string) error { return &MissingError{Kind: name, Binary: path, Reason: reason} }
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Program{}, missing("")
	}
	if resolved, err = filepath.Abs(resolved); err != nil {
		return Program{}, err
	}
	if !executable(resolved) {
		return Program{}, missing("it cannot be executed")
	}
	text, err := Output(ctx, resolved, "--version")
	version, ok := k.version(text)
	switch {
	case err != nil && !ended(err):
		return Program{}, &ProbeError{Path: path, Err: err}
	case err != nil:
		return Program{}, missing(err.Error())
	case !ok:
		return Program{}, missing(fmt.Sprintf("its version is %q", firstLine(text)))
	}
	return Program{Kind: name, Path: resolved, Version: version}, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// outputTimeout is how long a program may take to print its version or settings.
const outputTimeout = 30 * time.Second

// limited is an output that is refused when it gets longer than any program's
// description of itself.
type limited []byte

func (l *limited) Write(b []byte) (int, error) {
	if len(*l)+len(b) > 4<<20 {
		return 0, errors.New("it does not stop printing")
	}
	*l = append(*l, b...)
	return len(b), nil
}

// Output returns what a program prints about itself. One that does not end is killed, as is
// a child that keeps the output open.
func Output(ctx context.Context, path string, args ...string) (string, error) {
	return outputWithin(ctx, outputTimeout, path, args...)
}

func outputWithin(ctx context.Context, atMost time.Duration, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay, cmd.SysProcAttr = time.Second, &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var out, problem limited
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w within %v", ctx.Err(), atMost)
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
		_ = cmd.Cancel()
	case errors.As(err, &exit) && len(problem) > 0:
		return "", fmt.Errorf("%w: %s", err, firstLine(string(problem)))
	}
	return string(out), err
}

// ended reports whether a program that failed has ended by itself.
func ended(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Exited() || errors.Is(err, syscall.ENOEXEC)
}

// Found is the result of Look for a server's program.
type Found struct {
	Kind string `json:"server"`
	Source
	Path      string `json:"path"`
	Version   string `json:"version"`
	Variables string `json:"variables,omitempty"` // the settings it knows, in one line; "" if unknown
	Container *Image `json:"container,omitempty"` // the image that the source has named
}

// Place returns where the program is, in words.
func (f *Found) Place() string {
	if f.Image != "" {
		return f.Path + " of image " + f.Image
	}
	return f.Path
}

// key is what a program is found by.
type key struct {
	kind   string
	source Source
}

// programs and variablesOf cache programs by what they are found by, and their settings by
// the image and the path.
var programs, variablesOf sync.Map

func (p Program) place() [2]string {
	if p.Image != nil {
		return [2]string{p.Image.ID, p.Path}
	}
	return [2]string{"", p.Path}
}

// Look runs the program of one of the kinds of server to learn its version and settings.
// After it, Find, FindAny and Variables run nothing.
func Look(ctx context.Context, kinds []string, source Source) (Found, error) {
	p, err := FindAny(ctx, kinds, source)
	if err != nil {
		return Found{}, err
	}
	f := Found{Kind: p.Kind, Source: source, Path: p.Path, Version: p.Version, Container: p.Image}
	if seen, err := Variables(ctx, p); err == nil { // else Variables reports it
		f.Variables = strings.Join(slices.Sorted(maps.Keys(seen)), " ")
	}
	Remember(f)
	return f, nil
}

// Remember has Find and Variables return what Look found, possibly in another
// process.
func Remember(f Found) {
	p := Program{Kind: f.Kind, Path: f.Path, Version: f.Version, Image: f.Container}
	programs.Store(key{f.Kind, f.Source}, p)
	if f.Variables == "" {
		return
	}
	seen := map[string]bool{}
	for name := range strings.FieldsSeq(f.Variables) {
		seen[name] = true
	}
	variablesOf.Store(p.place(), seen)
}

// Variables returns the settings that a program knows, by their names in its configuration
// file, in lower case unless the server distinguishes it. The map is shared and must not be
// changed.
func Variables(ctx context.Context, p Program) (map[string]bool, error) {
	if known, ok := variablesOf.Load(p.place()); ok {
		return known.(map[string]bool), nil
	}
	k, err := kindOf(p.Kind)
	if err != nil {
		return nil, err
	}
	names, err := k.variables(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read the variables of %s: %w", p.Path, err)
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if !k.cased {
			name = strings.ToLower(name)
		}
		seen[name] = true
	}
	variablesOf.Store(p.place(), seen)
	return seen, nil
}
