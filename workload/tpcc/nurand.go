package tpcc

import (
	"rumbench/workload/gen"
)

// The constants A of NURand: they set how skewed a draw is.
const (
	nurandName = 255  // of last names
	nurandID   = 1023 // of customers
	nurandItem = 8191 // of items
)

// constants are the constants C of NURand, which are chosen once and stored with the
// data.
type constants struct {
	nameLoad, nameRun int64 // of last names
	id                int64 // of customers
	item              int64 // of items
}

// newConstants derives the constants from a seed. Those of last names differ by
// 65 to 119, but not by 96 or 112 (TPC-C 2.1.6.1).
func newConstants(seed uint64) constants {
	s := gen.NewSource(stream(seed, "constants"))
	c := constants{id: s.Uniform(nurandID + 1), item: s.Uniform(nurandItem + 1), nameLoad: s.Uniform(nurandName + 1)}
	apart := int64(96)
	for apart == 96 || apart == 112 {
		apart = 65 + s.Uniform(119-65+1)
	}
	if c.nameRun = c.nameLoad + apart; c.nameRun > nurandName {
		c.nameRun = c.nameLoad - apart
	}
	return c
}

// nurand returns a non-uniform random number of x…y (TPC-C 2.1.6).
func nurand(s *gen.Source, a, c, x, y int64) int64 {
	return ((s.Uniform(a+1)|(x+s.Uniform(y-x+1)))+c)%(y-x+1) + x
}

var syllables = [...]string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

// lastNames is the number of last names.
const lastNames = 1000

// appendLastName appends the last name for a number of 0…999: one syllable per digit.
func appendLastName(dst []byte, n int64) []byte {
	dst = append(dst, syllables[n/100]...)
	dst = append(dst, syllables[n/10%10]...)
	return append(dst, syllables[n%10]...)
}

const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// tenCharacters is the number of texts of ten characters.
const tenCharacters = 839_299_365_868_340_224 // 62¹⁰

// appendText appends low…high random letters and digits.
func appendText(dst []byte, s *gen.Source, low, high int64) []byte {
	n := between(s, low, high)
	for n > 0 {
		draw := s.Uniform(tenCharacters)
		for range min(n, 10) {
			dst = append(dst, characters[draw%int64(len(characters))])
			draw /= int64(len(characters))
		}
		n -= 10
	}
	return dst
}

// appendDigits appends n random digits.
func appendDigits(dst []byte, s *gen.Source, n int) []byte {
	for range n {
		dst = append(dst, byte('0'+s.Uniform(10)))
	}
	return dst
}

// between returns a random number of low…high.
func between(s *gen.Source, low, high int64) int64 { return low + s.Uniform(high-low+1) }

// chance returns true with a probability given in percent.
func chance(s *gen.Source, percent int64) bool { return s.Uniform(100) < percent }
