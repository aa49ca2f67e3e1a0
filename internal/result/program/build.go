// Package program describes the rumbench programs that run trials. A campaign is run
// by one program, and each of its trials by the program that its target needs: a
// different version of a Go engine requires a different program, and engines in C
// have a separate one.
package program

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"rumbench/internal/result/regular"
	"rumbench/internal/server"
)

// Build is a rumbench program.
type Build struct {
	Path     string            `json:"path,omitempty"`
	SHA256   string            `json:"sha256,omitempty"` // of the file
	Version  string            `json:"version"`
	Format   int               `json:"format"`             // of the results that it writes
	Revision string            `json:"revision,omitempty"` // of the source, with + if it was changed; "": unknown
	Engines  []string          `json:"engines"`            // that it can open
	Modules  map[string]string `json:"modules,omitempty"`  // Go modules with their versions
}

// Own returns this program as recorded by its linker, without path and
// checksum. A given version replaces that of the main module.
func Own(version string, format int, engines []string) Build {
	b := Build{Version: cmp.Or(version, "unknown"), Format: format, Engines: engines, Modules: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(version, strings.Trim(info.Main.Version, "()"), "devel")
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	if b.Revision != "" {
		b.Revision += changed
	}
	for _, m := range info.Deps {
		v := m.Version
		if m.Replace != nil {
			v = m.Replace.Version
		}
		b.Modules[m.Path] = v
	}
	return b
}

// Of returns this program with path and checksum.
func (b Build) Of(path string) (Build, error) {
	f, err := regular.Open(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return b, err
	}
	b.Path, b.SHA256 = path, hex.EncodeToString(sum.Sum(nil))
	return b, nil
}

// CheckSelf returns an error unless this program is the build.
func (b Build) CheckSelf() error {
	is, err := Build{}.Of("/proc/self/exe") // which is still there when the path names another
	if err == nil && is.SHA256 != b.SHA256 {
		err = fmt.Errorf("%s was replaced after the campaign had begun", b.Path)
	}
	return err
}

// Ask runs a program to identify it.
func Ask(ctx context.Context, path string) (Build, error) {
	out, err := server.Output(ctx, path, "version", "--json")
	if err != nil {
		return Build{}, fmt.Errorf("ask %s for its version: %w", path, err)
	}
	var b Build
	if err := json.Unmarshal([]byte(out), &b); err != nil || len(b.Engines) == 0 {
		return Build{}, fmt.Errorf("%s is no rumbench that can run trials: it does not answer version --json", path)
	}
	return b.Of(path)
}

// CheckWith returns an error if the program cannot run trials with an engine for the
// campaign of a different program. Plans and results are written by one and read by
// the other, so both must have the same format, and the same revision as far as that
// is known.
func (b Build) CheckWith(campaign Build, engine string) error {
	switch {
	case b.Format != campaign.Format:
		return fmt.Errorf("%s writes results of format %d, this rumbench of format %d: build both from one source", b.Path,
			b.Format, campaign.Format)
	case b.Revision != campaign.Revision && b.Revision != "" && campaign.Revision != "":
		return fmt.Errorf("%s was built from revision %s, this rumbench from %s: build both from one source (+: with "+
			"files that are changed or new)", b.Path, b.Revision, campaign.Revision)
	}
	if !slices.Contains(b.Engines, engine) {
		return fmt.Errorf("%s has no engine %s, only %s", b.Path, engine, strings.Join(b.Engines, ", "))
	}
	return nil
}
