package importer

import (
	"bufio"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"rumbench/internal/result"
)

// longest is the line length from which a file is not a log: the longest lines of
// the formats have a few hundred bytes.
const longest = 1 << 20

// file is a file to import. Its text is not kept but read again when needed, as a
// log may be larger than memory.
type file struct {
	path   string
	format format
	id     string   // shared by the files of the same run; see key
	head   []string // its first lines, by which a format is recognised
	lines  int      // number of lines read so far
	cut    bool     // the last line has no line end; known once read
	// open opens the text, uncompressed.
	open func() (io.ReadCloser, error)
	// sink receives the lines of series; if nil they are not made.
	sink func(result.Line)
	// whole is set if the file holds several runs, or its series is short: then
	// the series is kept, and the file is not read again for it.
	whole bool
}

// Reasons why a file is not a log.
var (
	errBinary = errors.New("it is not a text file")
	errBig    = errors.New("it is larger than any log that is read here")
)

// most is the greatest size of a file: ten million transactions in a log of
// pgbench. Larger logs should be sampled or aggregated.
const most = 512 << 20

// looked is the number of lines used to recognise a format: db_bench prints many
// settings before its first result.
const looked = 60

// newFile opens a text file and reads its first lines. It refuses binary files. Its
// errors do not name the file.
func newFile(path string) (*file, error) {
	f := &file{path: path, open: func() (io.ReadCloser, error) { return openText(path) }}
	return f, f.readHead()
}

func (f *file) readHead() error {
	return f.read(func(n int, line string, _ bool) bool {
		f.head = append(f.head, line)
		return n < looked
	})
}

// each calls line with the file's lines, as read does. If reading fails, it adds a
// problem and returns false.
func (f *file) each(ps *Problems, line func(n int, text string, last bool) bool) bool {
	if err := f.read(line); err != nil {
		ps.add(f.path, 0, "", "%v", reasonOf(err))
		return false
	}
	return true
}

// read calls line with each line, its number from 1 and whether it is the last,
// until line returns false.
func (f *file) read(line func(n int, text string, last bool) bool) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(io.LimitReader(r, most), 1<<16)
	f.lines, f.cut = 0, false
	size := 0
	next, ended, err := nextLine(in)
	for err == nil && next != "" {
		text := next
		if size += len(text); size >= most {
			return errBig
		}
		if next = ""; !ended {
			if next, ended, err = nextLine(in); err != nil {
				return err
			}
		}
		f.lines++
		f.cut = next == "" && !strings.HasSuffix(text, "\n")
		if !line(f.lines, strings.TrimRight(text, "\r\n"), next == "") {
			return nil
		}
	}
	return err
}

// nextLine reads a line with its end; ended is set if the text is known to end with
// it.
func nextLine(in *bufio.Reader) (text string, ended bool, err error) {
	b, err := in.ReadSlice('\n')
	text = string(b)
	for errors.Is(err, bufio.ErrBufferFull) && len(text) <= longest {
		b, err = in.ReadSlice('\n')
		text += string(b)
	}
	if len(text) > longest || strings.IndexByte(text, 0) >= 0 {
		return "", false, errBinary
	}
	if errors.Is(err, io.EOF) {
		return text, true, nil
	}
	return text, false, err
}

// split appends the words of a line.
func split(to []string, line string) []string {
	for i := 0; i < len(line); {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		from := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if i > from {
			to = append(to, line[from:i])
		}
	}
	return to
}

// number parses a finite number.
func number(s string) (float64, bool) {
	for i := range len(s) { // no hexadecimal, no 1_000, no Inf
		if c := s[i]; (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// positive parses a finite number that is not negative.
func positive(s string) (float64, bool) {
	v, ok := number(s)
	return v, ok && v >= 0
}

// whole parses a count.
func whole(s string) (int64, bool) {
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil && v >= 0
}

// sizeUnits are the units of sizes, in bytes. In the tools' output KB is 1024 bytes.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"B", 1}}

// sizeOf parses a size with its unit.
func sizeOf(s string) (bytes float64, ok bool) {
	for _, u := range sizeUnits {
		if digits, found := strings.CutSuffix(s, u.name); found {
			v, ok := positive(strings.TrimSpace(digits))
			return v * u.bytes, ok
		}
	}
	return 0, false
}

// between returns the text between two others, trimmed.
func between(s, before, after string) (string, bool) {
	_, rest, ok := strings.Cut(s, before)
	if !ok {
		return "", false
	}
	if after == "" {
		return strings.TrimSpace(rest), true
	}
	in, _, ok := strings.Cut(rest, after)
	return strings.TrimSpace(in), ok
}

// digits returns the number of digits that a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
