package serverkit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/server"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// Rules define the configurations that an engine on servers accepts.
type Rules struct {
	Kinds   []string        // of servers that can be started, the usual one first
	Options []engine.Option // rumbench's own; all others are variables of the server
	// Plain is a variable's name as the server lists it.
	Plain func(name string) string
	// Unlisted matches the names of variables that the server does not list; may be nil.
	Unlisted *regexp.Regexp
	// Fixed are variables that set the locations of files, which the plan may
	// not choose: another data directory would be another database.
	Fixed []string
	// Opening are variables that give others access to the server: without a
	// password, or from other hosts. A name that ends in _ represents all names
	// that begin with it.
	Opening []string
	// On and Off are true and false in the server's configuration.
	On, Off string
}

// Setup is a configuration that has been checked.
type Setup struct {
	engine.Config
	Program   server.Program   // of a private server
	Variables []server.Setting // the options that are the server's, by their names
	Settings  []server.Setting // all of a private server; the engine makes them

	rules *Rules
	known map[string]bool
}

// Attached reports whether the server is one that runs already.
func (s *Setup) Attached() bool { return s.Server.DSN != "" }

// Check checks what all servers have in common: a private server's program and
// the variables that the plan sets, or that an attached one is left as it is.
func (r *Rules) Check(ctx context.Context, c engine.Config) (*Setup, error) {
	s := &Setup{Config: c, rules: r}
	if c.Server.Join {
		s.forget()
	}
	s.Server.Schema = cmp.Or(c.Server.Schema, engine.DefaultSchema)
	if p := c.Protocol; p != "" && !slices.Contains(engine.Protocols(), p) {
		return nil, engine.Refuse("protocol", p, "it must be one of %v", engine.Protocols())
	}
	if s.Attached() {
		return s, s.checkAttached()
	}
	return s, s.checkPrivate(ctx)
}

// NeverSet is the reason why an attached server has no knobs.
const NeverSet = "a server that is attached to is never configured: set it there, and leave it out here"

// forget leaves out what only the process that has started the server can set.
func (s *Setup) forget() {
	s.Server.Kind, s.Server.Binary, s.Server.Image = "", "", ""
	s.Cache, s.Page, s.DirectIO = 0, 0, nil
	s.Options = maps.Clone(s.Options)
	for _, name := range s.variableNames() {
		delete(s.Options, name)
	}
}

func (s *Setup) checkAttached() error {
	const both = "a target has a dsn, or a server to start, not both"
	variable := append(s.variableNames(), "")[0]
	return cmp.Or(
		engine.RefuseIf(s.Server.Kind != "", "server", s.Server.Kind, both),
		engine.RefuseIf(s.Server.Binary != "", "binary", s.Server.Binary, both),
		engine.RefuseIf(s.Server.Image != "", "image", s.Server.Image, both),
		engine.RefuseIf(s.Cache != 0, "cache", nil, NeverSet),
		engine.RefuseIf(s.Page != 0, "page", nil, NeverSet),
		engine.RefuseIf(s.DirectIO != nil, "direct_io", nil, NeverSet),
		engine.RefuseIf(variable != "", "options."+variable, nil, NeverSet))
}

func (s *Setup) checkPrivate(ctx context.Context) (err error) {
	kinds := s.rules.Kinds
	if s.Server.Kind != "" {
		if err := engine.Choose("server", s.Server.Kind, kinds...); err != nil {
			return err
		}
	}
	if s.Server.Image != "" && s.Server.Binary != "" {
		return engine.Refuse("binary", s.Server.Binary, "a target has an image or a binary, not both")
	}
	if s.Program, err = server.FindAny(ctx, s.Server.Kinds(kinds), s.source()); err != nil {
		return &engine.KnobError{Knob: s.ProgramKnob(), Reason: err.Error(), Err: err}
	}
	s.Server.Kind = s.Program.Kind
	if s.Server.Listen != "" && !server.Guarded(s.Server.Kind) {
		return engine.Refuse("listen", s.Server.Listen,
			"a private %s has no password at its port: other machines cannot use it", s.Program.Name())
	}
	for _, name := range s.variableNames() {
		v, err := s.variable(ctx, name)
		if err != nil {
			return err
		}
		s.Variables = append(s.Variables, v)
	}
	return nil
}

func (s *Setup) source() server.Source {
	return server.Source{Binary: s.Server.Binary, Image: s.Server.Image}
}

// ProgramKnob returns the knob that has chosen the program.
func (s *Setup) ProgramKnob() string {
	if s.Server.Image != "" {
		return "image"
	}
	if s.Server.Binary != "" {
		return "binary"
	}
	return "server"
}

// variableNames returns the options that are the server's own.
func (s *Setup) variableNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Options)), func(name string) bool {
		return slices.ContainsFunc(s.rules.Options, func(o engine.Option) bool { return o.Name == name })
	})
}

// Sets reports whether the plan sets a variable.
func (s *Setup) Sets(name string) bool {
	return slices.ContainsFunc(s.Variables, func(v server.Setting) bool { return v.Name == name })
}

// Known returns the variables that the program lists.
func (s *Setup) Known(ctx context.Context) (_ map[string]bool, err error) {
	if s.known == nil {
		s.known, err = server.Variables(ctx, s.Program)
	}
	return s.known, err
}

// variable checks an option that sets one of the server's variables.
func (s *Setup) variable(ctx context.Context, name string) (v server.Setting, err error) {
	r, knob := s.rules, "options."+name
	seen, err := s.Known(ctx)
	if err != nil {
		return v, err
	}
	v.Name = r.Plain(name)
	switch {
	case slices.Contains(r.Fixed, v.Name):
		return v, engine.Refuse(knob, nil, "rumbench decides where a private server keeps and finds things")
	case !seen[v.Name] && (r.Unlisted == nil || !r.Unlisted.MatchString(name)):
		return v, &engine.KnobError{Knob: knob, Reason: s.Program.Name() + " has no such variable", Known: s.meant()}
	}
	opens := func(o string) bool { return o == v.Name || strings.HasSuffix(o, "_") && strings.HasPrefix(v.Name, o) }
	if slices.ContainsFunc(r.Opening, opens) {
		if err := s.RefuseOpening(name); err != nil {
			return v, err
		}
	}
	switch value := s.Options[name].(type) {
	case bool:
		if v.Value = r.Off; value {
			v.Value = r.On
		}
	case string, int, int64, uint64, float64:
		v.Value = fmt.Sprint(value)
	default:
		return v, engine.Refuse(knob, value, "it must be one value")
	}
	return v, nil
}

// meant returns the options that could have been meant.
func (s *Setup) meant() []engine.Option {
	out := slices.Clone(s.rules.Options)
	for _, name := range slices.Sorted(maps.Keys(s.known)) {
		out = append(out, engine.Option{Name: name})
	}
	return out
}

// CheckDurability refuses a server that gives other levels than the one requested.
// said are the variables that determine the levels, such as "fsync = on".
func (s *Setup) CheckDurability(given []model.Durability, said []string) error {
	if slices.Contains(given, s.Durability) {
		return nil
	}
	names := quantity.Texts(given, func(l model.Durability) string { return string(l) })
	advice := "leave those out of the options, or"
	if s.Attached() {
		advice = "rumbench does not configure it:"
	}
	return engine.Refuse("durability", s.Durability, "the server keeps level %s (%s); %s set durability: %s",
		strings.Join(names, " and "), strings.Join(said, ", "), advice, names[0])
}

// CheckLevel refuses an isolation level other than the one requested.
func (s *Setup) CheckLevel(level string) error {
	if s.Isolation == model.DefaultIsolation ||
		strings.ReplaceAll(strings.ToLower(level), " ", "-") == s.Isolation.String() {
		return nil
	}
	return engine.Refuse("isolation", s.Isolation, "the server made it %s", level)
}

// SentAs returns how statements are sent, as a setting.
func (s *Setup) SentAs() engine.Setting {
	return engine.Setting{Name: "protocol", Value: string(cmp.Or(s.Protocol, engine.Prepared)), Source: engine.AsSet}
}

// ReadBack returns those of the named variables that the server has, and those that
// the plan sets, each once.
func (s *Setup) ReadBack(vars map[string]string, names ...string) []engine.Setting {
	for _, v := range s.Variables {
		names = append(names[:len(names):len(names)], v.Name)
	}
	return ReadBack(vars, names...)
}

// ReadBack returns those of the named variables that the server has, each once.
func ReadBack(vars map[string]string, names ...string) (out []engine.Setting) {
	for i, name := range names {
		if value, ok := vars[name]; ok && !slices.Contains(names[:i], name) {
			out = append(out, engine.Setting{Name: name, Value: value, Source: engine.ReadBack})
		}
	}
	return out
}
