package layout

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// Summary is what the insert benchmark's tables mrg and rel tell of a
// configuration in a step. What is not known is NaN.
type Summary struct {
	Tag string // the configuration

	IPS, QPS float64 // rows inserted (or indexed) and queries a second

	Reads, ReadMB, Writes, WriteMB float64 // of the device, a second

	ReadsPer, ReadKBPer   float64 // per query, or per row inserted in a step without queries
	WritesPer, WriteKBPer float64 // per row inserted, in every step

	Switches float64 // context switches of the host, a second
	CPU      float64 // user and system time of the host, in percent of all its processors

	SwitchesPer, CPUPer float64 // per query or row as reads; CPU in µs

	DataGB, DirGB, MemoryGB float64 // at the end of the step, in GB of 2³⁰ bytes

	MaxOp    float64 // the longest operation of the step's kind, in seconds
	P50, P99 float64 // the rate that 50 and 99 % of a client's intervals reached or exceeded
	// Unlike: other work was done than by the block's base, so that there are no
	// ratios.
	Unlike bool
}

// mrgHead are the columns, in the order of numbers.
var mrgHead = strings.Fields("ips qps rps rmbps wps wmbps rpq rkbpq wpi wkbpi csps cpups cspq cpupq dbgb1 dbgb2 rss maxop p50 p99 tag")

// field is a number of a summary with how many decimals it is printed with.
type field struct {
	value    *float64
	decimals int
}

func (s *Summary) fields() []field {
	return []field{
		{&s.IPS, 0}, {&s.QPS, 0}, {&s.Reads, 0}, {&s.ReadMB, 1}, {&s.Writes, 1}, {&s.WriteMB, 1},
		{&s.ReadsPer, 3}, {&s.ReadKBPer, 3}, {&s.WritesPer, 3}, {&s.WriteKBPer, 3},
		{&s.Switches, 0}, {&s.CPU, 1}, {&s.SwitchesPer, 3}, {&s.CPUPer, 0},
		{&s.DataGB, 1}, {&s.DirGB, 1}, {&s.MemoryGB, 1}, {&s.MaxOp, 3}, {&s.P50, 0}, {&s.P99, 0},
	}
}

func (s *Summary) numbers() []Number {
	var out []Number
	for _, f := range s.fields() {
		out = append(out, Fixed(*f.value, f.decimals))
	}
	return out
}

// Step is a step of the insert benchmark. Each block of configurations has a
// base of its own, which is its first.
type Step struct {
	Name   string
	Blocks [][]Summary
}

// Merged writes the table mrg: 21 columns, a line per configuration. Of several
// steps each begins with an empty line and its name.
func Merged(w io.Writer, steps []Step) error {
	return mrg(w, steps, func(b *bufio.Writer, block []Summary) {
		for i := range block {
			line(b, texts(block[i].numbers()), block[i].Tag)
		}
	})
}

// MergedRatios writes the table rel: the same columns as ratios to the first
// configuration of the block, which has no line. Rounded is as in Ratio.
func MergedRatios(w io.Writer, steps []Step, rounded bool) error {
	return mrg(w, steps, func(b *bufio.Writer, block []Summary) {
		if len(block) == 0 {
			return
		}
		base := block[0].numbers()
		for i := range block[1:] {
			s := &block[1+i]
			line(b, ratios(s.numbers(), against(base, s.Unlike), rounded), s.Tag)
		}
	})
}

func mrg(w io.Writer, steps []Step, write func(*bufio.Writer, []Summary)) error {
	b := bufio.NewWriter(w)
	for _, s := range steps {
		if len(steps) > 1 {
			fmt.Fprintf(b, "\n%s\n", plain(s.Name))
		}
		fmt.Fprintln(b, strings.Join(mrgHead, "\t"))
		for i, block := range s.Blocks {
			if i > 0 {
				fmt.Fprintln(b, separator)
			}
			write(b, block)
		}
	}
	return b.Flush()
}

func line(w io.Writer, cells []string, tag string) {
	fmt.Fprintf(w, "%s\t%s\n", strings.Join(cells, "\t"), plain(tag))
}

func texts(numbers []Number) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = n.Text
	}
	return out
}

// against are the numbers to divide by: none is known where other work was done.
func against(base []Number, unlike bool) []Number {
	if !unlike {
		return base
	}
	out := make([]Number, len(base))
	for i := range out {
		out[i] = Fixed(math.NaN(), 0)
	}
	return out
}

func ratios(numbers, base []Number, rounded bool) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = costRatio(n, base[i], rounded)
	}
	return out
}
