package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/hint"
	"rumbench/internal/regular"
)

// SecretFile is the file beside a stored plan with the data source names that
// the plan refers to, in lines NAME=VALUE. Only its owner can read it.
const SecretFile = "secrets.env"

// reference matches a dsn that refers to another place.
var reference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// dsn reads a target's data source name, from the plan, a file or the environment.
func (b *binder) dsn(f fields) (dsn string) {
	set := func(v string) { dsn = v }
	bind(f, "dsn", scalarOf[string]{read: func(n *node) (string, error) { return resolveDSN(n.text, b.file) }}, set)
	bind(f, "dsn_file", scalarOf[string]{read: readDSN}, set)
	if f.of.get("dsn") != nil && f.of.get("dsn_file") != nil {
		b.at(f.of.key("dsn_file"), "a target has a dsn or a dsn_file, not both", "remove one")
	}
	return dsn
}

// ResolveDSN returns the text, or the environment variable that it refers to as
// ${NAME}.
func ResolveDSN(text string) (string, error) { return resolveDSN(text, "") }

// resolveDSN looks in the file beside the plan first: a resumed campaign attaches
// to the server that it began with.
func resolveDSN(text, plan string) (string, error) {
	m := reference.FindStringSubmatch(text)
	switch {
	case m == nil && strings.Contains(text, "${"):
		return "", hint.Errorf("write dsn: ${NAME}; a data source name that holds ${ itself can stand in a dsn_file", "a reference is the whole of a dsn")
	case m == nil:
		return lineDSN(text)
	}
	kept, err := keptSecrets(plan)
	if err != nil {
		return "", hint.Errorf("", "%v", err)
	}
	value, ok := kept[m[1]]
	if !ok {
		value = os.Getenv(m[1])
	}
	if value == "" {
		return "", hint.Errorf("export "+m[1]+" before the command", "%s is not set in the environment", m[1])
	}
	return lineDSN(value)
}

// keptSecrets reads the file beside a plan; a plan from a pipe has none.
func keptSecrets(plan string) (map[string]string, error) {
	if plan == "" {
		return nil, nil
	}
	b, err := regular.ReadFile(filepath.Join(filepath.Dir(plan), SecretFile), maxBytes)
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, regular.ErrNot) {
		return nil, err
	}
	out := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "="); ok {
			out[name] = value
		}
	}
	return out, nil
}

// readDSN reads a data source name from a file.
func readDSN(n *node) (string, error) {
	const help = "a file with the data source name alone, seen from the current directory"
	b, err := regular.ReadFile(n.text, maxBytes)
	if err != nil {
		return "", hint.Errorf(help, "%v", err)
	}
	dsn, err := lineDSN(strings.TrimRight(string(b), "\r\n"))
	if err != nil {
		return "", hint.Errorf(help, "%q does not hold one line of text", n.text)
	}
	return dsn, nil
}

func lineDSN(text string) (string, error) {
	if text == "" || hasControl(text) {
		return "", hint.Errorf("", "it is not one line of text")
	}
	return text, nil
}

// seal removes the data source names from a plan that is to be stored. Secret ones
// are kept apart, and the plan refers to them. A plan without any stays as it was
// written; others lose their comments, which may hold an old password, and have
// the overrides applied.
func (b *binder) seal(p *Plan, root *node, src []byte, sets []string) {
	if !strings.Contains(strings.ToLower(string(src)+strings.Join(sets, "\n")), "dsn") {
		p.Source, p.Sets = src, slices.Clone(sets)
		return
	}
	var kept strings.Builder
	for _, t := range b.attached {
		n := t.node.get("dsn")
		if n == nil || reference.MatchString(n.text) || n.text == t.Knobs["dsn"] {
			continue
		}
		name := fmt.Sprintf("RUMBENCH_DSN_%d", strings.Count(kept.String(), "\n")+1)
		fmt.Fprintf(&kept, "%s=%s\n", name, t.Config.Server.DSN)
		n.text, n.value = "${"+name+"}", "${"+name+"}"
	}
	p.Source, p.Secrets = root.yaml(), []byte(kept.String())
}

// WithoutSecrets returns a plan without the data source names in it, so that it
// can be shown: older builds stored plans as they were written.
func WithoutSecrets(src []byte) []byte {
	if !strings.Contains(strings.ToLower(string(src)), "dsn") {
		return src
	}
	var d document
	root := d.readFile("", src)
	if root == nil || len(d.problems) > 0 {
		return []byte("# It names a data source, cannot be read, and is not shown.\n")
	}
	root.hide()
	return root.yaml()
}

// hide hides the values of keys that are named after data source names.
func (n *node) hide() {
	for _, item := range n.items {
		item.hide()
	}
	for _, e := range n.entries {
		if dsnKey.MatchString(e.key.text+":") && !reference.MatchString(e.value.text) && engine.ShownDSN(e.value.text) == engine.Hidden {
			e.value.text, e.value.value = engine.Hidden, engine.Hidden
		}
		e.value.hide()
	}
}

// Patterns of secrets in a line of a plan or a command.
var (
	dsnKey     = regexp.MustCompile(`(?i)dsn["']?\s*[:=]\s*`)
	credential = regexp.MustCompile(`(?i)[^\s"',{}=]*@|passw|pwd`)
	quoted     = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	entryStart = regexp.MustCompile(`^\s*(- |#|["']?[\w.]+["']?\s*:(\s|$)|$)`)
)

// hideSecrets cuts a line of a plan, or an argument of a command, where a data
// source name begins, or what looks like a misplaced one.
func hideSecrets(line string) string {
	cut := len(line)
	if at := dsnKey.FindStringIndex(line); at != nil {
		cut = at[1]
	}
	if at := credential.FindStringIndex(line); at != nil {
		cut = min(cut, at[0])
	}
	if cut == len(line) {
		return line
	}
	return line[:cut] + engine.Hidden
}

// WithoutSecretArgs returns the arguments of a command with secrets hidden.
func WithoutSecretArgs(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = hideSecrets(arg)
	}
	return out
}

// hideQuoted hides quotations from a plan that look like a secret.
func hideQuoted(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		if credential.MatchString(q) {
			return `"` + engine.Hidden + `"`
		}
		return q
	})
}

// shown returns a line of the source with secrets hidden: a data source name may
// continue below its key.
func (s *source) shown(line int) string {
	for at := line; at >= 1; at-- {
		text := s.lines[at-1]
		if at < line && dsnKey.MatchString(text) {
			return engine.Hidden
		}
		if entryStart.MatchString(text) {
			break
		}
	}
	return hideSecrets(s.lines[line-1])
}
