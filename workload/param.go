package workload

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// ParamType is the type of a parameter.
type ParamType string

// The parameter types, with the Go type that Parse returns. A number with the unit s may
// also be written as a duration.
const (
	IntParam      ParamType = "int"      // int64; suffixes k, M, G are powers of 1000
	FloatParam    ParamType = "float"    // float64
	BoolParam     ParamType = "bool"     // bool
	StringParam   ParamType = "string"   // string
	DurationParam ParamType = "duration" // time.Duration; a number is in seconds
	IntsParam     ParamType = "ints"     // []int64
	StringsParam  ParamType = "strings"  // []string
)

// unitSeconds is the unit of times.
const unitSeconds = "s"

// Param documents a parameter.
type Param struct {
	Name    string
	Type    ParamType
	Default any // of the Go type
	Unit    string
	Doc     string
	Min     float64  // for the numeric types and each element of ints
	Max     float64  // for the same types as Min; 0 means no limit
	Enum    []string // allowed values, for string and strings
	// Later is whether it changes nothing of steps that load, so that it may differ on their data.
	Later bool
}

// Preset is a named set of parameters.
type Preset struct {
	Name   string
	Doc    string
	Values map[string]any // values that differ from the defaults, of the Go types
}

// ParamError is an invalid value of a parameter.
type ParamError struct {
	Param  string
	Reason string
	Help   string
}

// Error implements error.
func (e *ParamError) Error() string { return fmt.Sprintf("%s: %s", e.Param, e.Reason) }

// Hint implements hint.Hinted.
func (e *ParamError) Hint() string { return e.Help }

// RefuseIf returns the error of a parameter on a condition, else nil. The reason
// is formatted.
func RefuseIf(refused bool, param, hint, reason string, args ...any) error {
	if !refused {
		return nil
	}
	return &ParamError{Param: param, Reason: fmt.Sprintf(reason, args...), Help: hint}
}

// Parse converts a value from a plan to the parameter's Go type and checks it; a value
// that already has the type is only checked.
func (p Param) Parse(v any) (any, error) {
	out, err := p.convert(v)
	if err == nil {
		err = p.inRange(out)
	}
	if err != nil {
		help := cmp.Or(hint.Of(err), hint.OneOf("", p.Enum), fmt.Sprintf("%s: %s", p.Type, p.Doc))
		return nil, &ParamError{Param: p.Name, Reason: err.Error(), Help: help}
	}
	return out, nil
}

func (p Param) convert(v any) (any, error) {
	switch p.Type {
	case IntParam, FloatParam:
		if text, ok := v.(string); ok && p.Unit == unitSeconds {
			d, err := toDuration(text)
			if err != nil {
				return nil, err
			}
			v = d.Seconds()
		}
		if p.Type == IntParam {
			return toInt(v)
		}
		return toFloat(v)
	case BoolParam:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case StringParam:
		switch s := v.(type) {
		case string:
			return s, nil
		case int64, uint64, int: // a number is a valid name: schema: 2023
			return fmt.Sprint(s), nil
		}
	case DurationParam:
		return toDuration(v)
	case IntsParam:
		return toList(v, toInt)
	case StringsParam:
		return toList(v, func(v any) (string, error) {
			if s, ok := v.(string); ok {
				return s, nil
			}
			return "", fmt.Errorf("%v is not a string", v)
		})
	}
	return nil, fmt.Errorf("%v is not a %s", v, p.Type)
}

func (p Param) inRange(v any) error {
	var numbers []float64
	var names []string
	switch x := v.(type) {
	case int64:
		numbers = []float64{float64(x)}
	case float64:
		numbers = []float64{x}
	case time.Duration:
		numbers = []float64{x.Seconds()}
	case []int64:
		for _, n := range x {
			numbers = append(numbers, float64(n))
		}
	case string:
		names = []string{x}
	case []string:
		names = x
	}
	for _, f := range numbers {
		switch {
		case !quantity.Finite(f):
			return fmt.Errorf("%v is not a finite number", v)
		case f < p.Min:
			return fmt.Errorf("%v is below the minimum %v", v, p.Min)
		case p.Max != 0 && f > p.Max:
			return fmt.Errorf("%v is above the maximum %v", v, p.Max)
		case p.Unit == unitSeconds:
			if _, err := quantity.Seconds(f); err != nil {
				return err
			}
		}
	}
	for _, s := range names {
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
			return hint.Errorf(hint.OneOf(s, p.Enum), "%q is not allowed", s)
		}
	}
	return nil
}

func toInt(v any) (int64, error) {
	switch x := v.(type) {
	case int64:
		return x, nil
	case int:
		return int64(x), nil
	case uint64:
		if x <= 1<<63-1 {
			return int64(x), nil
		}
	case float64:
		if x == float64(int64(x)) {
			return int64(x), nil
		}
	case string:
		return ParseCount(x)
	}
	return 0, fmt.Errorf("%v is not a whole number", v)
}

func toFloat(v any) (float64, error) {
	switch x := v.(type) {
	case float64:
		return x, nil
	case string:
		number, isShare := strings.CutSuffix(x, "%")
		f, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", x)
		}
		if isShare {
			f /= 100
		}
		return f, nil
	}
	n, err := toInt(v)
	if err != nil {
		return 0, fmt.Errorf("%v is not a number", v)
	}
	return float64(n), nil
}

func toDuration(v any) (time.Duration, error) {
	switch x := v.(type) {
	case time.Duration:
		return x, nil
	case string:
		d, err := quantity.ParseDuration(x)
		if err != nil && !errors.Is(err, quantity.ErrLong) {
			err = fmt.Errorf("%q is not a duration such as 30s or 5m", x)
		}
		return d, err
	}
	f, err := toFloat(v)
	if err != nil {
		return 0, fmt.Errorf("%v is not a duration such as 30s or 5m", v)
	}
	return quantity.Seconds(f)
}

func toList[T any](v any, one func(any) (T, error)) ([]T, error) {
	if typed, ok := v.([]T); ok {
		return typed, nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v} // a single value is a list of one
	}
	out := make([]T, 0, len(list))
	for _, e := range list {
		x, err := one(e)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// CountPattern is a regular expression, also valid in JavaScript, for the texts that
// ParseCount reads, without surrounding blanks. It is unanchored.
const CountPattern = `[-+]?[0-9_]*\.?[0-9_]*([eE][-+]?[0-9]+)?[kKmMgG]?`

// ParseCount parses an integer with an optional suffix k, M or G for powers of
// 1000; with a suffix it may have a fraction, as in 250k or 1.5M.
func ParseCount(s string) (int64, error) {
	t := strings.TrimSpace(strings.ReplaceAll(s, "_", ""))
	unit := int64(1)
	for suffix, power := range map[string]int64{"k": 1e3, "m": 1e6, "g": 1e9} {
		if strings.HasSuffix(strings.ToLower(t), suffix) {
			unit, t = power, t[:len(t)-1]
			break
		}
	}
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		if n != 0 && (n*unit)/n != unit {
			return 0, fmt.Errorf("%q is too large", s)
		}
		return n * unit, nil
	}
	f, err := strconv.ParseFloat(t, 64)
	if x := f * float64(unit); err == nil && x == float64(int64(x)) {
		return int64(x), nil
	}
	return 0, fmt.Errorf("%q is not a whole number such as 250000, 250k or 1.5M", s)
}

// Params are the values of all parameters of a run. The accessors panic on a name or type
// that Info does not declare, because that is a bug in the workload.
type Params map[string]any

// Resolve returns the parameters of a run: first the given values, which have been
// parsed, then those of a preset, then the defaults.
func (i Info) Resolve(preset string, given map[string]any) (Params, error) {
	out := Params{}
	for _, p := range i.Params {
		out[p.Name] = p.Default
	}
	if preset != "" {
		p, err := i.Preset(preset)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, p.Values)
	}
	maps.Copy(out, given)
	return out, nil
}

// Preset returns the preset of that name.
func (i Info) Preset(name string) (*Preset, error) {
	var names []string
	for k := range i.Presets {
		if i.Presets[k].Name == name {
			return &i.Presets[k], nil
		}
		names = append(names, i.Presets[k].Name)
	}
	return nil, hint.Errorf(hint.OneOf(name, names), "workload %s has no preset %q", i.Name, name)
}

// Param returns the parameter of that name, nil if there is none.
func (i Info) Param(name string) *Param {
	k := slices.IndexFunc(i.Params, func(p Param) bool { return p.Name == name })
	if k < 0 {
		return nil
	}
	return &i.Params[k]
}

// Int returns an int parameter.
func (p Params) Int(name string) int64 { return p[name].(int64) }

// Float returns a float parameter.
func (p Params) Float(name string) float64 { return p[name].(float64) }

// Bool returns a bool parameter.
func (p Params) Bool(name string) bool { return p[name].(bool) }

// String returns a string parameter.
func (p Params) String(name string) string { return p[name].(string) }

// Duration returns a duration parameter.
func (p Params) Duration(name string) time.Duration { return p[name].(time.Duration) }

// Ints returns an ints parameter.
func (p Params) Ints(name string) []int64 { return p[name].([]int64) }

// Strings returns a strings parameter.
func (p Params) Strings(name string) []string { return p[name].([]string) }

// Sparing returns a boolean parameter, and its opposite value, with which a workload does
// not need the capabilities that an engine lacks; "" if there is none.
func Sparing(w Workload, caps []model.Capability, params Params) (name string, value bool) {
	for _, p := range w.Info().Params {
		if p.Type != BoolParam {
			continue
		}
		other := maps.Clone(params)
		other[p.Name] = !params.Bool(p.Name)
		if run, err := w.New(other); err == nil && model.Missing(caps, run.Needs()) == nil {
			return p.Name, !params.Bool(p.Name)
		}
	}
	return "", false
}
