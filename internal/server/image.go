package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"

	"rumbench/internal/text/hint"
)

// Image is a container image that holds a server's program.
type Image struct {
	Runtime string   `json:"runtime"`          // the program that runs it: podman or docker
	ID      string   `json:"id"`               // of its content; what is run, whatever its name means later
	Digest  string   `json:"digest,omitempty"` // of the registry that it comes from, "" if it was built here
	Holds   []string `json:"holds,omitempty"`  // the files next to the program that it holds, of those that matter
}

// String returns what is run, by what.
func (i *Image) String() string {
	if i.Digest != "" {
		return i.Digest + ", run by " + i.Runtime
	}
	return "sha256:" + i.ID + ", run by " + i.Runtime
}

// Runtimes are the programs that can run containers, in the order in which they are preferred.
func Runtimes() []string { return []string{"podman", "docker"} }

// Usable reports why a program cannot run containers; nil if it can. docker needs its daemon.
func Usable(ctx context.Context, runtime string) error {
	if _, err := exec.LookPath(runtime); err != nil {
		return fmt.Errorf("%s is not installed", runtime)
	}
	if _, err := Output(ctx, runtime, "version"); err != nil {
		return fmt.Errorf("%s cannot be used: %w", runtime, err)
	}
	if runtime != "docker" {
		return nil
	}
	security, err := Output(ctx, runtime, "info", "--format", "{{json .SecurityOptions}}")
	if err == nil && strings.Contains(security, "name=rootless") {
		return errors.New("docker cannot be used: its daemon runs without root, and shows a server's files to no other " +
			"user; podman can run without root")
	}
	return nil
}

// usable returns the programs that can run containers, or why there is none.
func usable(ctx context.Context, image string) (runtimes []string, err error) {
	var reasons []string
	for _, r := range Runtimes() {
		if err := Usable(ctx, r); err != nil {
			reasons = append(reasons, err.Error())
		} else {
			runtimes = append(runtimes, r)
		}
	}
	if runtimes == nil {
		return nil, hint.Errorf("apt-get install podman", "image %s cannot be run: %s", image, strings.Join(reasons, "; "))
	}
	return runtimes, nil
}

// imagesByName caches the images that were found.
var imagesByName sync.Map

// findImage finds an image on this machine.
func findImage(ctx context.Context, name string) (*Image, error) {
	if i, ok := imagesByName.Load(name); ok {
		return i.(*Image), nil
	}
	if strings.HasPrefix(name, "-") {
		return nil, fmt.Errorf("%q is no image", name)
	}
	runtimes, err := usable(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, full := range []string{qualified(name), name} { // podman takes a short name for a local image's first
		for _, r := range runtimes {
			if text, err := Output(ctx, r, "image", "inspect", "--format", "{{.Id}} {{json .RepoDigests}}", full); err == nil {
				i := parseImage(r, full, text)
				imagesByName.Store(name, i)
				return i, nil
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
	}
	return nil, &AbsentError{Image: name, runtime: runtimes[0]}
}

// AbsentError is an image that is not on this machine.
type AbsentError struct{ Image, runtime string }

func (e *AbsentError) Error() string { return fmt.Sprintf("image %s is not on this machine", e.Image) }

// Hint returns how to fetch it.
func (e *AbsentError) Hint() string {
	return e.runtime + " pull " + qualified(e.Image) + "; a run with pull: missing, the default, does that"
}

// parseImage reads the description of an image. It may have been fetched from several
// registries: the digest is the one of the repository in its name.
func parseImage(runtime, name, text string) *Image {
	id, digests, _ := strings.Cut(strings.TrimSpace(text), " ")
	i := &Image{Runtime: runtime, ID: strings.TrimPrefix(id, "sha256:")}
	var all []string
	if json.Unmarshal([]byte(digests), &all) != nil || len(all) == 0 {
		return i
	}
	named := func(digest string) bool {
		repository, _, _ := strings.Cut(qualified(digest), "@")
		return strings.HasPrefix(qualified(name)+":", repository+":") || strings.HasPrefix(qualified(name), repository+"@")
	}
	i.Digest = all[max(slices.IndexFunc(all, named), 0)]
	return i
}

// Pull fetches an image unless it is on this machine. out gets what is to be said meanwhile.
func Pull(ctx context.Context, name string, out io.Writer) error {
	_, err := findImage(ctx, name)
	if _, absent := errors.AsType[*AbsentError](err); !absent {
		return err
	}
	runtimes, err := usable(ctx, name)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "fetching image %s with %s\n", name, runtimes[0])
	text, err := exec.CommandContext(ctx, runtimes[0], "pull", "--quiet", "--", qualified(name)).CombinedOutput()
	if err != nil {
		return hint.Errorf("check its name, and that its registry can be reached; an image from elsewhere: "+runtimes[0]+
			" load --input FILE", "fetch image %s: %w: %s", name, err, strings.TrimSpace(string(text)))
	}
	return nil
}

// qualified returns the name of an image with its registry, as docker understands it: podman has
// no default registry unless it is configured.
func qualified(name string) string {
	first, _, several := strings.Cut(name, "/")
	switch {
	case !several:
		return "docker.io/library/" + name
	case first != "localhost" && !strings.ContainsAny(first, ".:"):
		return "docker.io/" + name
	}
	return name
}

// listScript lists the programs that the image calls by one of the names, or that match patterns,
// with symbolic links resolved. Images have a shell, and few tools.
const listScript = `for p; do for f in $(command -v "$p") $p; do
[ -f "$f" ] && [ -x "$f" ] && readlink -f "$f"; done; done; true`

// askScript lists those of the paths that exist, and asks the program for its version.
const askScript = `p=$1; shift; for f; do [ -e "$f" ] && echo "$f"; done; echo; exec "$p" --version`

// identify finds the program of a kind in an image, and which files it holds.
func (i *Image) identify(ctx context.Context, name string, k *kind, image string) (Program, error) {
	missing := func(reason string) error { return &MissingError{Kind: name, Image: image, Reason: reason} }
	var patterns []string
	for _, p := range slices.Backward(k.paths) {
		if base := path.Base(p); !slices.Contains(patterns, base) {
			patterns = append(patterns, base)
		}
	}
	last := missing("it holds no " + strings.Join(patterns, " or "))
	patterns = append(patterns, k.paths...)
	found, err := i.output(ctx, "/bin/sh", append([]string{"-c", listScript, "sh"}, patterns...)...)
	if err != nil {
		return Program{}, &ProbeError{Image: image, Err: err}
	}
	for path := range strings.FieldsSeq(found) {
		p := Program{Kind: name, Path: path, Image: new(Image)}
		*p.Image = *i
		text, err := i.output(ctx, "/bin/sh", append([]string{"-c", askScript, "sh", path}, p.related()...)...)
		if err != nil {
			return p, &ProbeError{Path: path, Image: image, Err: err}
		}
		holds, version, _ := strings.Cut("\n"+text, "\n\n")
		p.Image.Holds = strings.Fields(holds)
		var ok bool
		if p.Version, ok = k.version(version); ok {
			return p, nil
		}
		last = missing(fmt.Sprintf("the version of its %s is %q", path, firstLine(version)))
	}
	return Program{}, last
}
