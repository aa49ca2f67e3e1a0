package plan

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// perSecond reads a rate: 2000, 2k or 2000/s.
var perSecond = strictyaml.NewScalar(func(n *strictyaml.Node) (float64, error) {
	v, ok := strictyaml.Number(n)
	if !ok {
		count, err := workload.ParseCount(strings.TrimSuffix(n.Text, "/s"))
		v, ok = float64(count), err == nil
	}
	if ok && v > 0 && v <= pace.Fastest {
		return v, nil
	}
	return 0, hint.Errorf("", "%q is not a number of operations a second, above 0 and at most %g", n.Text,
		float64(pace.Fastest))
}, strictyaml.NumberOrText(strictyaml.Shape{"exclusiveMinimum": 0, "maximum": float64(pace.Fastest)},
	workload.CountPattern+"(/s)?"))

// promise reads a promise such as p99 < 10ms or p99_ms < 10.
var promise = strictyaml.NewScalar(readPromise, promiseShape())

func promiseShape() strictyaml.Shape {
	var measures []string
	for name := range percentiles {
		var letters []string
		for _, letter := range name {
			letters = append(letters, quantity.AnyCase(string(letter)))
		}
		measures = append(measures, strings.Join(letters, `\.?`)) // p999 and p99.9
	}
	slices.Sort(measures)
	const unit = `[A-Za-zµ]`
	return strictyaml.Shape{"type": "string",
		"pattern": strictyaml.Whole("(" + strings.Join(measures, "|") + ")(_" + unit + `+)?\s*<\s*[0-9.]+\s*` + unit + "*")}
}

func readPromise(n *strictyaml.Node) (out kept, err error) {
	text := strings.ToLower(strings.TrimSpace(n.Text))
	if inclusive := strings.NewReplacer("<=", "<", "≤", "<").Replace(text); inclusive != text {
		return out, hint.Errorf("write "+inclusive, "%q: a promise is kept below its limit, not at it", n.Text)
	}
	m := promiseText.FindStringSubmatch(text)
	if m == nil {
		return out, hint.Errorf(promiseHint, "%q is not a promise", n.Text)
	}
	measure, unit := strings.ReplaceAll(m[1], ".", ""), m[2]+m[4]
	var found bool
	if out.percentile, found = percentiles[measure]; !found {
		return out, hint.Errorf(hint.OneOf(m[1], []string{"p50", "p95", "p99", "p99.9", "max"}), "%q is not a response time",
			m[1])
	}
	if m[2] == m[4] && unit != "" { // of both sides
		unit = m[2]
	}
	if unit == "" {
		return out, hint.Errorf(fmt.Sprintf("write %s < %sms, if milliseconds are meant", m[1], m[3]), "%q has no unit",
			n.Text)
	}
	limit, err := quantity.ParseDuration(m[3] + unit)
	if err != nil || limit <= 0 || limit > time.Hour {
		return out, hint.Errorf("such as 10ms, 500us or 1s, at most an hour", "%q is not a limit", m[3]+m[4])
	}
	out.below = limit
	out.text = measure + "_ms < " + strconv.FormatFloat(float64(limit)/float64(time.Millisecond), 'f', -1, 64)
	return out, nil
}

const promiseHint = "as in find: p99 < 10ms; of response time there are p50, p95, p99, p99.9 and max"

var (
	promiseText = regexp.MustCompile(`^([a-z0-9.]+)(?:_([a-zµ]+))?\s*<\s*([0-9.]+)\s*([a-zµ]*)$`)
	percentiles = map[string]float64{"p50": 50, "p95": 95, "p99": 99, "p999": 99.9, "max": 100}
)

// kept is a promise that a search keeps.
type kept struct {
	text       string // "p99_ms < 10", however it was written
	percentile float64
	below      time.Duration
}

// memory reads a size of memory, which is a page or more: 8 stands for 8 MiB or 8 GiB in other programs.
var memory = strictyaml.NewScalar(func(n *strictyaml.Node) (int64, error) {
	v, err := strictyaml.Size.Read(n)
	if err == nil && v < smallestMemory {
		err = hint.Errorf("write "+n.Text+"MiB or "+n.Text+"GiB, if that is meant", "%q is %d bytes of memory", n.Text, v)
	}
	return v, err
}, strictyaml.SizeShape.With("minimum", smallestMemory))

const smallestMemory = 4096

// difference reads a difference that matters, as a share.
var difference = strictyaml.NewScalar(readDifference,
	strictyaml.ShareShape(strictyaml.Shape{"exclusiveMinimum": 0, "exclusiveMaximum": 1}))

func readDifference(n *strictyaml.Node) (float64, error) {
	v, err := strictyaml.Share(0).Read(n)
	if v, ok := strictyaml.Number(n); ok && v > 1 && v < 100 {
		return 0, hint.Errorf("write "+n.Text+"%, if percent are meant", "%q is not a share below 1", n.Text)
	}
	if err == nil && !result.ValidDifference(v) {
		err = hint.Errorf("a share such as 5%", "%q is not a difference above 0 and below 100%%", n.Text)
	}
	return v, err
}

// judgedShape accepts the names of metrics that can be judged.
func judgedShape() strictyaml.Shape {
	var choices []strictyaml.Shape
	for _, m := range metric.All() {
		if _, err := metric.JudgedAs(m.Name); err == nil {
			choices = append(choices, strictyaml.Shape{"const": m.Name, "description": m.Meaning()})
		}
	}
	for _, nick := range metric.Nicknames() {
		if m, err := metric.JudgedAs(nick.Name); err == nil {
			choices = append(choices, strictyaml.Shape{"const": nick.Name, "description": metric.ByName(m).Meaning()})
		}
	}
	return strictyaml.Shape{"anyOf": choices}
}

var seedScalar = strictyaml.ScalarOf[Seed]{Read: func(n *strictyaml.Node) (s Seed, err error) {
	text, fixed := strings.CutPrefix(n.Text, fixedSeed)
	switch text = strings.TrimSpace(text); {
	case !fixed:
		s.Value, err = strictyaml.Unsigned.Read(n)
		return s, err
	case text == "":
		return Seed{defaultSeed, true}, nil
	}
	s = Seed{Fixed: true}
	if s.Value, err = strconv.ParseUint(text, 10, 64); err != nil {
		return s, hint.Errorf("fixed, fixed 7, or a number", "%q is not a seed", n.Text)
	}
	return s, nil
}, Shape: strictyaml.Either(strictyaml.Unsigned.Shape,
	strictyaml.Shape{"type": "string", "pattern": "^" + fixedSeed + "( +[0-9]+)?$"})}

const (
	defaultSeed = 1
	fixedSeed   = "fixed"
)

const (
	untilSteady    = "steady"
	defaultLongest = 4   // times the planned length
	mostLongest    = 100 // times
)

// untilScalar reads how many times its planned length a step may take until it is steady.
var untilScalar = strictyaml.ScalarOf[float64]{Read: func(n *strictyaml.Node) (float64, error) {
	text, ok := strings.CutPrefix(n.Text, untilSteady)
	if text = strings.TrimSpace(text); ok && text == "" {
		return defaultLongest, nil
	}
	times, factor := strings.CutSuffix(text, "x")
	longest, err := strconv.ParseFloat(times, 64)
	if !ok || !factor || err != nil || longest <= 1 || longest > mostLongest {
		return 0, hint.Errorf("steady; or steady 8x, for up to 8 times as long, at most 100",
			"%q does not say how long steps go on", n.Text)
	}
	return longest, nil
}, Shape: strictyaml.Shape{"type": "string",
	"pattern": "^steady( *(1[.][0-9]*[1-9][0-9]*|([2-9]|[1-9][0-9])([.][0-9]+)?|100([.]0+)?)x)?$"}}

// The names of targets, and those of schemas, which need no quotes on any server.
var (
	fileName = matching(fmt.Sprintf(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,%d}$`, longestName-1), "a target's name",
		"it becomes a directory: letters, digits, '.', '_' and '-', beginning with a letter or digit")
	schemaName = matching(`^[a-z][a-z0-9_]{0,50}$`, "a schema's name",
		"lower-case letters, digits and '_', beginning with a letter")
)

// matching returns a reader of a text that matches a pattern.
func matching(pattern, subject, help string) strictyaml.ScalarOf[string] {
	re := regexp.MustCompile(pattern)
	return strictyaml.NewScalar(func(n *strictyaml.Node) (string, error) {
		if !re.MatchString(n.Text) {
			return "", hint.Errorf(help, "%q is not %s", n.Text, subject)
		}
		return n.Text, nil
	}, strictyaml.TextShape.With("pattern", pattern))
}

// longestName is how many characters a target's name may have.
const longestName = 100

func promises() map[string]string {
	out := map[string]string{}
	for _, d := range model.Durabilities() {
		out[string(d)] = d.Promise()
	}
	return out
}

// figure returns a reader of a number in the metric's unit, or of a size if that
// is bytes.
func figure(m *metric.Metric) strictyaml.ScalarOf[float64] {
	shape := strictyaml.Shape{"type": "number", "minimum": 0}
	if m.Unit == "B" {
		shape = strictyaml.NumberOrText(strictyaml.Shape{"minimum": 0}, quantity.SizePattern)
	}
	return strictyaml.NewScalar(func(n *strictyaml.Node) (float64, error) {
		v, ok := strictyaml.Number(n)
		help := ""
		if m.Unit == "B" {
			help = "a number of bytes, or a size such as 18GiB or 18.3GB"
			if !ok {
				var err error
				v, err = quantity.RoundSize(n.Text)
				ok = err == nil
			}
		}
		if !ok || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			return 0, hint.Errorf(help, "%q is not a finite number of at least 0", n.Text)
		}
		return v, nil
	}, shape)
}

func figuresShape() strictyaml.Shape {
	properties := strictyaml.Shape{}
	for _, m := range metric.All() {
		properties[m.Name] = figure(&m).Shape.With("description", m.Meaning())
	}
	return strictyaml.Shape{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1}
}

// Values as databases and other tools call them.
var (
	durabilityWords = map[string]string{
		"fsync sync synced synchronous full on true yes always each commit strict disk durable 1": "did you mean os? It is " +
			"synced at commit",
		"async asynchronous relaxed lazy periodic everysec second 2": "did you mean interval, synced once a second, or " +
			"process, written at commit and never synced?",
		"off no false nosync never unsafe memory 0": "did you mean none, where nothing is promised, or interval, synced " +
			"once a second? PostgreSQL's synchronous_commit=off is interval",
	}
	compressionWords = map[string]string{"off no false": "did you mean none?", "gzip deflate": "did you mean zlib?"}
	protocolWords    = map[string]string{"simple query": "did you mean text?", "extended binary": "did you mean prepared?"}
	isolationWords   = map[string]string{
		"ru": "did you mean read-uncommitted?", "rc": "did you mean read-committed?",
		"rr snapshot": "did you mean repeatable-read?", "ssi": "did you mean serializable?",
	}
	orderWords = map[string]string{
		"random alternating round-robin": "did you mean interleaved?", "parallel concurrent together": "did you mean duet?",
	}
	arrivalWords = map[string]string{
		"random exponential": "did you mean poisson?", "constant fixed uniform regular": "did you mean even?",
	}
)

const maxCPUs = 1023

func (d *Find) keep(k kept) { d.Promise, d.Percentile, d.Below = k.text, k.percentile, k.below }
