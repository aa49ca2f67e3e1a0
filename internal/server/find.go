package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Program is a server's program on this machine.
type Program struct {
	Kind    string
	Path    string // with symbolic links resolved: its companions lie beside it
	Version string // as it tells
}

// Name returns the program with its version.
func (p Program) Name() string { return p.Kind + " " + p.Version }

// base returns the directory that the program was installed in, above its bin or sbin.
func (p Program) base() string { return filepath.Dir(filepath.Dir(p.Path)) }

// companion finds another program of the same installation.
func (p Program) companion(names ...string) (string, error) {
	for _, dir := range []string{filepath.Dir(p.Path), filepath.Join(p.base(), "bin"), filepath.Join(p.base(), "scripts")} {
		for _, name := range names {
			if path := filepath.Join(dir, name); executable(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no %s beside it", p.Path, strings.Join(names, " or "))
}

// MissingError says that a server's program is not there.
type MissingError struct {
	Kind   string
	Binary string   // as asked for; "" if none was named
	Looked []string // where it was looked for
	Reason string   // what is wrong with what was found; "": nothing was
}

// Error returns the message.
func (e *MissingError) Error() string {
	switch {
	case e.Reason != "":
		return fmt.Sprintf("%s is no program of server %s: %s", e.Binary, e.Kind, e.Reason)
	case e.Binary != "":
		return fmt.Sprintf("there is no program %s", e.Binary)
	}
	return fmt.Sprintf("server %s is not installed: looked for %s", e.Kind, strings.Join(e.Looked, ", "))
}

// ProbeError says that a server's program is there and could not be asked what it
// is: it was killed, or did not answer.
type ProbeError struct {
	Path string
	Err  error
}

// Error returns the message.
func (e *ProbeError) Error() string {
	return fmt.Sprintf("ask %s for its version: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *ProbeError) Unwrap() error { return e.Err }

// Hint says what can be done.
func (e *ProbeError) Hint() string {
	return "try again; if it was killed, the machine may have run out of memory: see dmesg"
}

// Hint says how to get it.
func (e *MissingError) Hint() string {
	k, err := kindOf(e.Kind)
	switch {
	case err != nil:
		return ""
	case k.aptPackage() == "":
		return "name its program with binary: PATH"
	case e.Binary != "":
		return "binary: is the path of the server's own program, such as " + k.places()[len(k.places())-1]
	}
	return "rumbench doctor --install prints how to install it (package " + k.aptPackage() + "); or name another program with binary: PATH"
}

// Package returns the Debian package that installs a kind of server, "" if there is none.
func Package(kind string) string {
	k, err := kindOf(kind)
	if err != nil {
		return ""
	}
	return k.aptPackage()
}

// Find finds the program of a kind of server: the one named, or the one that
// is installed. An error is a *MissingError, or a *ProbeError.
func Find(ctx context.Context, name, binary string) (Program, error) {
	k, err := kindOf(name)
	if err != nil {
		return Program{}, err
	}
	candidates := []string{binary}
	if binary == "" {
		if candidates = installed(k); len(candidates) == 0 {
			return Program{}, &MissingError{Kind: name, Looked: k.places()}
		}
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
		return Program{}, &MissingError{Kind: name, Looked: k.places()}
	}
	return Program{}, reason
}

// installed lists the programs in the usual places, the best first.
func installed(k kind) (paths []string) {
	for _, pattern := range k.places() {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, natural)
		paths = append(paths, found...)
	}
	slices.Reverse(paths)
	return paths
}

// natural orders paths that differ in a version number: 9.6 before 15.
func natural(a, b string) int {
	as, bs := numbers.Split(a, -1), numbers.Split(b, -1)
	an, bn := numbers.FindAllString(a, -1), numbers.FindAllString(b, -1)
	for i := range min(len(as), len(bs)) {
		if d := strings.Compare(as[i], bs[i]); d != 0 {
			return d
		}
		if i >= len(an) || i >= len(bn) {
			break
		}
		x, _ := strconv.Atoi(an[i])
		y, _ := strconv.Atoi(bn[i])
		if x != y {
			return x - y
		}
	}
	return len(as) - len(bs)
}

var numbers = regexp.MustCompile(`\d+`)

// identify asks a program what it is.
func identify(ctx context.Context, name string, k kind, path string) (Program, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Program{}, &MissingError{Kind: name, Binary: path}
	}
	if resolved, err = filepath.Abs(resolved); err != nil {
		return Program{}, err
	}
	if !executable(resolved) {
		return Program{}, &MissingError{Kind: name, Binary: path, Reason: "it cannot be executed"}
	}
	said, err := output(ctx, resolved, "--version")
	if err != nil && !ended(err) {
		return Program{}, &ProbeError{Path: path, Err: err}
	}
	if err != nil {
		return Program{}, &MissingError{Kind: name, Binary: path, Reason: err.Error()}
	}
	version, ok := k.version(said)
	if !ok {
		return Program{}, &MissingError{Kind: name, Binary: path, Reason: fmt.Sprintf("it says %q", firstLine(said))}
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

// askTime is how long a program may take to tell about itself.
const askTime = 30 * time.Second

// output runs a program that only tells about itself.
func output(ctx context.Context, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second // a child of its own may hold the output open
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%w within %v", ctx.Err(), askTime)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return "", fmt.Errorf("%w: %s", err, firstLine(string(exit.Stderr)))
	}
	return string(out), err
}

// ended reports whether a program that failed has ended by itself: it said what it
// had to say.
func ended(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.Exited() || errors.Is(err, syscall.ENOEXEC)
}

// variablesOf remembers what programs have said: plans are checked target by target.
var variablesOf sync.Map // path of a program → map[string]bool

// Variables lists the settings that a program knows, by their names in its
// configuration file in lower case. The list is shared: it must not be changed.
func Variables(ctx context.Context, p Program) (map[string]bool, error) {
	if known, ok := variablesOf.Load(p.Path); ok {
		return known.(map[string]bool), nil
	}
	k, err := kindOf(p.Kind)
	if err != nil {
		return nil, err
	}
	names, err := k.variables(ctx, p)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(names))
	for name := range names {
		known[strings.ToLower(name)] = true
	}
	variablesOf.Store(p.Path, known)
	return known, nil
}
