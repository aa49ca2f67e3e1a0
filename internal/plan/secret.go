package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"rumbench/engine"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/secret"
	"rumbench/internal/text/strictyaml"
)

// SecretFile is the file next to a stored plan with the data source names that
// the plan refers to, in lines NAME=VALUE. Only its owner can read it.
const SecretFile = "secrets.env"

// reference matches a dsn that refers to another place.
var reference = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// dsns reads a target's data source names, from the plan, a file or the environment: one for each gateway.
func (b *binder) dsns(f strictyaml.Fields) (out []string) {
	for _, n := range itemsOf(f.Value("dsn")) {
		if n.Kind == strictyaml.List {
			b.At(n, "dsn: there is none in the list", "as in dsn: [DSN, …]")
			return nil
		}
		if !b.Is(n, strictyaml.Scalar, "dsn is a single value, or a list of them", "") {
			return nil
		}
		dsn, err := resolveDSN(n.Text, b.file)
		if err != nil {
			b.At(n, "dsn: "+err.Error(), hint.Of(err))
			return nil
		}
		out = append(out, dsn)
	}
	b.paths.read(f, "dsn_file", func(path string) (err error) { out, err = readDSNs(path); return err })
	if f.Of.Get("dsn") != nil && f.Of.Get("dsn_file") != nil {
		b.At(f.Of.Key("dsn_file"), "a target has a dsn or a dsn_file, not both", "remove one")
		return nil
	}
	return out
}

// ResolveDSN returns the text, or the environment variable that it refers to as
// ${NAME}.
func ResolveDSN(text string) (string, error) { return resolveDSN(text, "") }

// resolveDSN first looks in the file next to the plan: a resumed campaign
// attaches to the server that it began with.
func resolveDSN(text, plan string) (string, error) {
	m := reference.FindStringSubmatch(text)
	switch {
	case m == nil && strings.Contains(text, "${"):
		return "", hint.Errorf("write dsn: ${NAME}; a data source name that holds ${ itself can stand in a dsn_file",
			"a reference is the whole of a dsn")
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

// keptSecrets reads the file next to a plan; a plan from a pipe has none.
func keptSecrets(plan string) (map[string]string, error) {
	if plan == "" {
		return nil, nil
	}
	b, err := regular.ReadFile(filepath.Join(filepath.Dir(plan), SecretFile), strictyaml.MaxBytes)
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

// readDSNs reads data source names from a file, one in each line.
func readDSNs(path string) (out []string, err error) {
	const help = "a file with the data source name alone, relative to the plan"
	b, err := regular.ReadFile(path, strictyaml.MaxBytes)
	if err != nil {
		return nil, hint.Errorf(help, "%v", err)
	}
	for line := range strings.SplitSeq(strings.TrimRight(string(b), "\r\n"), "\n") {
		dsn, err := lineDSN(strings.TrimRight(line, "\r"))
		if reference.MatchString(dsn) {
			return nil, hint.Errorf("write dsn: "+dsn+" in the plan", "%q refers to the environment", path)
		}
		if err != nil {
			return nil, hint.Errorf(help, "%q does not hold a data source name in each line", path)
		}
		out = append(out, dsn)
	}
	return out, nil
}

func lineDSN(text string) (string, error) {
	if text == "" || strictyaml.HasControl(text) {
		return "", hint.Errorf("", "it is not one line of text")
	}
	return text, nil
}

// seal removes the data source names from a plan that is to be stored. Secret ones
// are kept apart, and the plan refers to them; those of the environment stay there. A plan without any stays as
// it was written; others lose their comments, which may hold an old password.
func (b *binder) seal(p *Plan, root *strictyaml.Node, src []byte) {
	if !strings.Contains(strings.ToLower(string(src)), "dsn") {
		p.Source = src
		return
	}
	var kept, referred strings.Builder
	own, _ := keptSecrets(b.file) // it was read before
	for _, t := range b.attached {
		e, _ := b.cat.Engine(t.Engine)
		for i, n := range itemsOf(t.node.Get("dsn")) {
			dsn := t.Config.Server.DSNs()[i]
			if m := reference.FindStringSubmatch(n.Text); m != nil {
				into := &referred
				if own[m[1]] != "" {
					into = &kept
				}
				fmt.Fprintf(into, "%s=%s\n", m[1], dsn)
			} else if n.Text != engine.ShowDSN(e, dsn) {
				name := ""
				for k := 1; name == "" || strings.Contains(string(src)+kept.String(), name); k++ { // the plan may refer to it
					name = fmt.Sprintf("RUMBENCH_DSN_%d", k)
				}
				fmt.Fprintf(&kept, "%s=%s\n", name, dsn)
				n.Text, n.Value = "${"+name+"}", "${"+name+"}"
			}
		}
	}
	p.Source, p.Secrets, p.Referred = root.YAML(), []byte(kept.String()), []byte(referred.String())
}

// WithoutSecrets returns a plan without the data source names in it, so that it
// can be shown, whoever wrote it.
func WithoutSecrets(src []byte) []byte {
	if !strings.Contains(strings.ToLower(string(src)), "dsn") {
		return src
	}
	d := document()
	root := d.ReadFile("", src)
	if root == nil || len(d.Problems) > 0 {
		return []byte("# It names a data source, cannot be read, and is not shown.\n")
	}
	hide(root)
	return root.YAML()
}

// hide hides the values of keys that are named after data source names, and all below them.
func hide(n *strictyaml.Node) {
	for _, item := range n.Items {
		hide(item)
	}
	for _, e := range n.Entries {
		if secret.DSNKey.MatchString(e.Key.Text + ":") {
			hideAll(e.Value)
		}
		hide(e.Value)
	}
}

func hideAll(n *strictyaml.Node) {
	for _, item := range n.Items {
		hideAll(item)
	}
	for _, e := range n.Entries {
		hideAll(e.Value)
	}
	if n.Kind == strictyaml.Scalar && !reference.MatchString(n.Text) && engine.ShownDSN(n.Text) == escape.Hidden {
		n.Text, n.Value = escape.Hidden, escape.Hidden
	}
}
