package serverkit

import (
	"cmp"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

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
