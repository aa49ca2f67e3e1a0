package plan

import (
	"strconv"
	"strings"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
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

// checkUntil refuses a length that no step can have.
func checkUntil(b *binder, f strictyaml.Fields, p *Plan) {
	n := f.Value("until")
	switch {
	case n == nil || p.Until == 0:
	case p.Order == Duet:
		b.At(n, "the targets of a duet run at the same time: a step that one of them prolongs would run alone",
			"remove until, or set order: interleaved")
	case p.Fleet.Divided():
		b.At(n, "each machine of clients would find another time at which its own rate is steady",
			"remove until, or clients_on")
	case p.Rate != nil:
		b.At(n, "with a rate, steps do not go as fast as they can", "remove until, or rate")
	default:
		b.noStep(n, p, "until")
	}
}
