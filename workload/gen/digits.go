package gen

// groupDigits is the length of a group of digits, and groupNumbers the number of
// such groups.
const (
	groupDigits  = 11
	groupNumbers = 100_000_000_000
)

// AppendDigits appends groups of 11 random decimal digits separated by hyphens, as in the
// text columns of sysbench's tables. Less than half of each byte is information: a digit
// holds 3.3 of 8 bits.
func AppendDigits(dst []byte, s *Source, groups int) []byte {
	for g := range groups {
		if g > 0 {
			dst = append(dst, '-')
		}
		start := len(dst)
		dst = append(dst, "00000000000"...)
		n := s.Uniform(groupNumbers)
		for i := start + groupDigits - 1; i >= start; i-- {
			dst[i] = byte('0' + n%10)
			n /= 10
		}
	}
	return dst
}
