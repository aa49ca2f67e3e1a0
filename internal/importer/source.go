package importer

import (
	"bufio"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// longest is the length of a line from which a file is no log: the longest
// that the formats have are a few hundred bytes.
const longest = 1 << 20

// file is a file to be imported.
type file struct {
	path   string
	format format
	lines  []string // the whole file; logs are small, and companions are read twice
	cut    bool     // the last line has no line end
}

// readFile reads a text file, also one that was compressed by gzip. What is
// binary is refused. Its errors do not name the file.
func readFile(path string) (*file, error) {
	r, err := openText(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out := &file{path: path}
	if err := out.read(r); err != nil {
		return nil, err
	}
	return out, nil
}

// errBinary and errBig are why a file is no log.
var (
	errBinary = errors.New("it is no text")
	errBig    = errors.New("it is larger than any log that is read here")
)

// most is how much text a file may hold: ten million transactions in a log of
// pgbench. More than that are to be sampled, or summed up.
const most = 512 << 20

func (f *file) read(r io.Reader) error {
	in := bufio.NewReaderSize(io.LimitReader(r, most), 1<<16)
	size := 0
	for {
		line, err := in.ReadString('\n')
		if len(line) > longest || strings.IndexByte(line, 0) >= 0 {
			return errBinary
		}
		if size += len(line); size >= most {
			return errBig
		}
		if line != "" {
			f.cut = !strings.HasSuffix(line, "\n")
			f.lines = append(f.lines, strings.TrimRight(line, "\r\n"))
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// head are the first lines, by which a format is told.
func (f *file) head(n int) []string { return f.lines[:min(n, len(f.lines))] }

// number reads a finite number.
func number(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "xX_") || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// positive reads a finite number that is not below 0.
func positive(s string) (float64, bool) {
	v, ok := number(s)
	return v, ok && v >= 0
}

// whole reads a count.
func whole(s string) (int64, bool) {
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil && v >= 0
}

// between is the text between two others, without the blanks around it.
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

// natural compares names as people count: numbers by their value.
func natural(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			na, nb := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if len(na) != len(nb) {
				return len(na) - len(nb)
			}
			if c := strings.Compare(na, nb); c != 0 {
				return c
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
