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
