package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are the units of sizes, greatest first; a unit with an i is a power of 1024.
var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"TB", 1e12},
	{"GiB", 1 << 30}, {"GB", 1e9},
	{"MiB", 1 << 20}, {"MB", 1e6},
	{"KiB", 1 << 10}, {"kB", 1e3},
	{"B", 1},
}

// letters are units as in the configuration of servers: powers of 1024.
var letters = map[byte]int64{'t': 1 << 40, 'g': 1 << 30, 'm': 1 << 20, 'k': 1 << 10}

// SizePattern is a regular expression, also for JavaScript, of the texts that ParseSize
// reads, without blanks around them. It is unanchored.
var SizePattern = sizePattern()

func sizePattern() string {
	var names []string
	for _, u := range units {
		names = append(names, u.name)
	}
	for letter := range letters {
		names = append(names, string(letter))
	}
	return `[0-9]*\.?[0-9]*\s*(` + AnyCase(names...) + `)?`
}

// ParseSize reads a size in bytes such as 256MiB, 1.5GB, 64M or 4096; upper and
// lower case mean the same.
func ParseSize(s string) (int64, error) {
	number, unit := split(s)
	if strings.Trim(number, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && n <= math.MaxInt64/unit {
		return n * unit, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	bytes := f * float64(unit)
	switch {
	case err != nil && f == 0:
		return 0, fmt.Errorf("%q is not a size", s)
	case bytes >= math.MaxInt64:
		return 0, fmt.Errorf("%q is too large", s)
	case bytes != math.Trunc(bytes):
		return 0, fmt.Errorf("%q is not a whole number of bytes", s)
	}
	return int64(bytes), nil
}

// RoundSize reads a size that need not be a whole number of bytes; published
// ones seldom are.
func RoundSize(s string) (bytes float64, err error) {
	number, unit := split(s)
	v, err := strconv.ParseFloat(number, 64)
	return math.Round(v * float64(unit)), err
}

// split takes the unit off a size, which is 1 if it has none.
func split(s string) (number string, unit int64) {
	number, unit = strings.ToLower(strings.TrimSpace(s)), 1
	for _, u := range units {
		if head, ok := strings.CutSuffix(number, strings.ToLower(u.name)); ok {
			return strings.TrimSpace(head), u.bytes
		}
	}
	if last := len(number) - 1; last > 0 && letters[number[last]] > 0 {
		return strings.TrimSpace(number[:last]), letters[number[last]]
	}
	return number, unit
}

// FormatSize writes a size exactly, in the unit that makes the shortest text.
func FormatSize(n int64) string {
	best := ""
	for _, u := range units {
		if n%u.bytes != 0 || n == 0 && u.bytes > 1 {
			continue
		}
		s := strconv.FormatInt(n/u.bytes, 10)
		if u.bytes > 1 {
			s += u.name
		}
		if best == "" || len(s) < len(best) {
			best = s
		}
	}
	return best
}
