package watch

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/plan"
	"rumbench/internal/text/hint"
)

// Engines is the part of the registry that attachments need.
type Engines interface {
	Engine(name string) (engine.Engine, bool)
	EngineNames() []string
}

const attachHint = "--attach wants [NAME=]ENGINE:DSN, such as prod=postgres:postgres://me@localhost/ or " +
	"'mysql:${DSN}', from the environment"

var targetName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// ParseAttachments returns targets, not yet connected, from texts like
// [NAME=]ENGINE:DSN. Their names must be unique.
func ParseAttachments(texts []string, have Engines) (targets []*Target, err error) {
	for _, text := range texts {
		one, err := parseAttachment(text, have)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, func(otherTarget *Target) bool { return otherTarget.Name == one.Name }) {
			return nil, hint.Errorf("give each its own name: --attach NAME=ENGINE:DSN",
				"--attach: two servers are called %s", one.Name)
		}
		targets = append(targets, one)
	}
	return targets, nil
}

// parseAttachment parses an attachment. Errors never contain the DSN: it may hold a
// password.
func parseAttachment(text string, have Engines) (*Target, error) {
	head, dsn, ok := strings.Cut(text, ":")
	name, engineName, named := strings.Cut(head, "=")
	if !named {
		name, engineName = head, head
	}
	switch {
	case !ok || engineName == "" || dsn == "":
		return nil, hint.Errorf(attachHint, "--attach: there is no engine, or no DSN")
	case !targetName.MatchString(name):
		return nil, hint.Errorf(attachHint, "--attach: %q is not a name", name)
	}
	e, ok := have.Engine(engineName)
	url := strings.HasPrefix(dsn, "//") // an engine's own URL, without ENGINE: before it
	if url {
		dsn = engineName + ":" + dsn
	}
	for _, name := range have.EngineNames() { // the scheme may be longer: postgresql://
		if url && !ok && strings.HasPrefix(engineName, name) {
			e, ok = have.Engine(name)
		}
	}
	if !ok {
		return nil, hint.Errorf(watchable(have), "--attach: there is no engine %q", engineName)
	}
	w, ok := e.(engine.Watcher)
	if !ok {
		return nil, hint.Errorf(watchable(have), "--attach: %s is no server that could be watched from outside", engineName)
	}
	dsn, err := plan.ResolveDSN(dsn)
	if err != nil {
		return nil, hint.Errorf(attachHint, "--attach: %w", err)
	}
	return &Target{Name: name, Engine: e, dsn: dsn, watcher: w}, nil
}

// watchable returns a hint with the engines that can be attached to.
func watchable(have Engines) string {
	names := slices.DeleteFunc(slices.Clone(have.EngineNames()), func(name string) bool {
		e, _ := have.Engine(name)
		_, ok := e.(engine.Watcher)
		return !ok
	})
	if len(names) == 0 {
		return "no engine of this binary can be attached to"
	}
	return "engines that can be attached to: " + strings.Join(names, ", ")
}

// AttachAll connects to the servers, and calls note with a warning for each server
// whose processes are unknown. After an error none remains connected.
func AttachAll(ctx context.Context, targets []*Target, note func(string)) error {
	for _, t := range targets {
		if err := t.connect(ctx); err != nil {
			CloseAll(targets)
			return fmt.Errorf("attach %s: %w", t.Name, err)
		}
		if now := t.current(); len(now.pids) == 0 {
			note("warning: " + t.Name + ": its processes are not watched: " + now.reason)
		}
	}
	return nil
}

// CloseAll closes the connections to all targets. Errors do not matter: nothing was
// written.
func CloseAll(targets []*Target) {
	for _, t := range targets {
		_ = t.Close()
	}
}
