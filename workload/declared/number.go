package declared

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"rumbench/internal/text/quantity"
	"rumbench/internal/text/strictyaml"
	"rumbench/workload"
)

// number compiles a number that is known before the run.
func (c *compiler) number(n *strictyaml.Node, subject string, lowest float64) (float64, bool) {
	v, ok := c.value(n, scope{fixed: true})
	if !ok {
		return 0, false
	}
	if !v.fixed || !isNumber(v.typ) {
		c.At(n, subject+" must be a number that is known before the run", "it may use parameters")
		return 0, false
	}
	f := v.float().real(nil)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		c.At(n, fmt.Sprintf("%s is %v, and must be a finite number", subject, f), "")
	case f < lowest:
		c.At(n, fmt.Sprintf("%s is %v, and must be at least %v", subject, f, lowest), "")
	default:
		return f, true
	}
	return 0, false
}

// seconds compiles a time that is known before the run: a number of seconds, or a
// duration.
func (c *compiler) seconds(n *strictyaml.Node, subject string, lowest float64) (float64, bool) {
	_, err := quantity.ParseDuration(n.Text)
	long := errors.Is(err, quantity.ErrLong)
	if err != nil && !long && numberThen.MatchString(n.Text) && !isCount(n.Text) {
		c.At(n, fmt.Sprintf("%s is %q, and must be a time", subject, n.Text), "seconds, or a duration as in 30s or 5min")
		return 0, false
	}
	if !long {
		f, ok := c.number(written(n, func(text string) (float64, error) {
			d, err := quantity.ParseDuration(text)
			return d.Seconds(), err
		}), subject, lowest)
		if _, err = quantity.Seconds(f); !ok || err == nil {
			return f, ok
		}
	}
	c.At(n, subject+": "+err.Error(), "")
	return 0, false
}

// perSecond compiles a rate that is known before the run, as in 50 or 50/s.
func (c *compiler) perSecond(n *strictyaml.Node, subject string, lowest float64) (float64, bool) {
	if unit := ratePer.FindStringSubmatch(n.Text); unit != nil && unit[1] != "s" && c.info.Param(unit[1]) == nil &&
		c.named[unit[1]] == nil {
		c.At(n, fmt.Sprintf("%s is %q, and must be a rate per second", subject, n.Text),
			"as in 50 or 50/s; 50 in a minute are 50/60")
		return 0, false
	}
	return c.number(written(n, func(text string) (float64, error) {
		count, err := workload.ParseCount(strings.TrimSuffix(text, "/s"))
		return float64(count), err
	}), subject, lowest)
}

// numberThen matches a number followed by letters, and ratePer a number per unit.
var (
	numberThen = regexp.MustCompile(`^[0-9.]+[A-Za-zµ]+$`)
	ratePer    = regexp.MustCompile(`^[0-9.]+[A-Za-z]?/([A-Za-z]+)$`)
)

// share compiles a share that is known before the run, as in 0.5 or 50%.
func (c *compiler) share(n *strictyaml.Node, subject string, lowest float64) (float64, bool) {
	return c.number(written(n, func(text string) (float64, error) {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		return percent / 100, err
	}), subject, lowest)
}

// written returns a number for a text that read can parse, else the text unchanged.
func written(n *strictyaml.Node, read func(text string) (float64, error)) *strictyaml.Node {
	if _, is := n.Value.(string); !is || n.Kind != strictyaml.Scalar {
		return n
	}
	f, err := read(n.Text)
	if err != nil {
		return n
	}
	out := *n
	out.Value = f
	return &out
}

func isCount(text string) bool {
	_, err := workload.ParseCount(text)
	return err == nil
}

// whole compiles a whole number that is known before the run; fractions are truncated.
func (c *compiler) whole(n *strictyaml.Node, subject string, low, high int64) (int64, bool) {
	f, ok := c.number(n, subject, float64(low))
	if ok && f > float64(high) {
		c.At(n, fmt.Sprintf("%s is %s, and must be at most %d", subject, plainNumber(f), high), "")
		return 0, false
	}
	return int64(f), ok
}

// wholeOf compiles the whole number of a key; usual if there is none.
func (c *compiler) wholeOf(f strictyaml.Fields, key string, low, high, usual int64) int64 {
	if n := f.Value(key); n != nil {
		usual, _ = c.whole(n, key, low, high)
	}
	return usual
}

// plainNumber writes a number without an exponent.
func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Limits of numbers that cost memory, so that a typo does not exhaust it.
const (
	manyRows    = 1 << 53 // of a table, and other numbers that are only counted
	mostClients = 100_000 // of a group
	mostBatch   = 1 << 20 // rows of a statement
	mostRanges  = 1 << 20 // ranges of keys
	mostBytes   = 1 << 30 // of a text
)
