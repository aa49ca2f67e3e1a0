package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"rumbench/internal/result/regular"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// longest is the line length from which a file is not a log: the longest lines of
// the formats have a few hundred bytes.
const longest = 1 << 20

// file is a file to import. Its text is not kept but read again when needed, as a
// log may be larger than memory.
type file struct {
	path    string
	format  format
	id      string   // shared by the files of the same run; see key
	head    []string // its first lines, which identify the format
	lines   int      // number of the line that was read last
	endless bool     // the last line has no line end; known once read
	first   int      // the first line of a run of several; 0: the file has one
	until   int      // its last line; 0: that of the file
	errors  *file    // the standard error of the same command, if it was kept apart
	logged  int64    // transactions in a log of pgbench; 0: not counted yet
	// open opens the text, uncompressed.
	open func() (io.ReadCloser, error)
	// spool receives the lines of series; if nil they are not made.
	spool *spool
}

// Reasons why a file is not a log.
var (
	errBinary = errors.New("it is not a text file")
	errBig    = errors.New("it is larger than any log that is read here")
)

// limit is the greatest size of a file: of a day of transactions in a log of pgbench. What is kept of a file
// does not grow with it; reading takes 25 s per GB.
const limit = 16 << 30

// looked is the number of lines used to recognise a format: db_bench prints many
// settings before its first result, and sysbench prepare a line for each table.
const looked = 300

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

// read calls line with each line, its number from 1 and whether it is the last,
// until line returns false.
func (f *file) read(line func(n int, text string, last bool) bool) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	in := bufio.NewReaderSize(io.LimitReader(r, limit), 1<<16)
	f.lines, f.endless = 0, false
	for size := 0; ; {
		text, err := nextLine(in)
		if err != nil || text == "" {
			return err
		}
		if size += len(text); size >= limit {
			return errBig
		}
		_, err = in.Peek(1)
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return err
		}
		f.endless = last && !strings.HasSuffix(text, "\n")
		if f.lines++; f.lines < f.first {
			continue
		}
		last = last || f.lines == f.until
		if !line(f.lines, strings.TrimRight(text, "\r\n"), last) || last {
			return nil
		}
	}
}

// nextLine reads a line with its end, "" at the end of the file.
func nextLine(in *bufio.Reader) (string, error) {
	b, err := in.ReadSlice('\n')
	text := string(b)
	for errors.Is(err, bufio.ErrBufferFull) && len(text) <= longest {
		b, err = in.ReadSlice('\n')
		text += string(b)
	}
	if len(text) > longest || strings.IndexByte(text, 0) >= 0 {
		return "", errBinary
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text, err
}

// input is a file that is read line by line.
type input struct {
	*file
	ps         *hint.Problems
	lineNumber int  // the number of the line that is being read, from 1
	last       bool // it is the last one
	torn       bool // it has no line end: it may be cut off in the middle of a number
	faulty     bool // it has a problem
}

// each calls line with the lines, and then with those of the standard error.
func (in *input) each(line func(text string)) {
	log := in.file
	for ; in.file != nil; in.file = in.errors {
		err := in.read(func(n int, text string, last bool) bool {
			in.lineNumber, in.last, in.torn = n, last, last && in.file.endless
			line(text)
			return true
		})
		if err != nil {
			in.lineNumber = 0
			in.refuse("", "%v", reasonOf(err))
		}
	}
	in.file, in.lineNumber = log, log.lines
}

func (in *input) problem(hint, reason string, args ...any) {
	in.ps.Add(in.path, in.lineNumber, hint, reason, args...)
	in.faulty = true
}

// refusal is the panic that ends the reading of a file which is unusable.
type refusal struct{}

// refuse records the reason why the file is unusable, and ends its reading.
func (in *input) refuse(hint, reason string, args ...any) {
	in.problem(hint, reason, args...)
	panic(refusal{})
}

func (in *input) refuseIf(condition bool, hint, reason string, args ...any) {
	if condition {
		in.refuse(hint, reason, args...)
	}
}

// usable runs read up to a refusal, and reports whether there was none.
func usable(read func()) (ok bool) {
	defer func() {
		if p := recover(); p != nil && p != (refusal{}) {
			panic(p)
		}
	}()
	read()
	return true
}

// header are the names of the columns of a table.
type header []string

// text returns the field of a column, "" if it is missing.
func (h header) text(fields []string, name string) string {
	if i := slices.Index(h, name); i >= 0 && i < len(fields) {
		return strings.TrimSpace(fields[i])
	}
	return ""
}

func number(s string) (float64, bool) {
	for i := range len(s) { // no hexadecimal, no 1_000, no Inf
		if c := s[i]; (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && quantity.Finite(v)
}

// positiveNumber parses a finite number that is not negative.
func positiveNumber(s string) (float64, bool) {
	v, ok := number(s)
	return v, ok && v >= 0
}

func wholeNumber(s string) (int64, bool) {
	v, err := strconv.ParseInt(s, 10, 64)
	return v, err == nil && v >= 0
}

// sizeUnits are the units of sizes, in bytes. In the tools' output KB is 1024 bytes.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"B", 1}}

func sizeOf(s string) (bytes float64, ok bool) {
	for _, u := range sizeUnits {
		if digits, found := strings.CutSuffix(s, u.name); found {
			v, ok := positiveNumber(strings.TrimSpace(digits))
			return v * u.bytes, ok
		}
	}
	return 0, false
}

// textBetween returns the text between two others, trimmed.
func textBetween(s, start, after string) (string, bool) {
	_, tail, ok := strings.Cut(s, start)
	if !ok {
		return "", false
	}
	if after == "" {
		return strings.TrimSpace(tail), true
	}
	in, _, ok := strings.Cut(tail, after)
	return strings.TrimSpace(in), ok
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// clip shortens a quotation from a file.
func clip(s string) string { return escape.Clip(s, 60) }

// thinned holds at most a number of items of a log, to fit into memory: in a longer
// one neighbours are merged.
type thinned[T interface{ join(next T) T }] struct {
	items  []T
	limit  int // even
	stride int // lines of the log merged into each item; 0: one
	joined int // lines merged into the last item so far
}

func (t *thinned[T]) add(item T) {
	n := len(t.items)
	if n > 0 && t.joined < t.stride {
		t.items[n-1] = t.items[n-1].join(item)
		t.joined++
		return
	}
	if n >= t.limit {
		t.halve()
	}
	t.items, t.joined = append(t.items, item), 1
}

func (t *thinned[T]) halve() {
	half := t.items[:0]
	for pair := range slices.Chunk(t.items, 2) {
		item := pair[0]
		if len(pair) == 2 {
			item = item.join(pair[1])
		}
		half = append(half, item)
	}
	t.items, t.stride = half, 2*max(1, t.stride)
}

// groups sorts items into groups with the same key, in the order of their first
// items.
func groups[K comparable, T any](items []T, key func(T) K) (keys []K, members map[K][]T) {
	members = map[K][]T{}
	for _, item := range items {
		k := key(item)
		if members[k] == nil {
			keys = append(keys, k)
		}
		members[k] = append(members[k], item)
	}
	return keys, members
}

// openText opens a regular file, uncompressed if it is a gzip file, and in UTF-8 if it
// is in UTF-16, as PowerShell writes it. All imported files are opened here. Its errors
// do not name the file.
func openText(path string) (io.ReadCloser, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, reasonOf(err)
	}
	in := bufio.NewReader(f)
	text := struct {
		io.Reader
		io.Closer
	}{in, f}
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		info, err := f.Stat()
		if err == nil {
			text.Reader, err = gzip.NewReader(in)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("uncompress: %w", err)
		}
		text.Reader = &bounded{text.Reader, max(grace, growth*info.Size())}
	}
	decoded := bufio.NewReader(text.Reader)
	text.Reader = transform.NewReader(decoded, unicode.BOMOverride(encodingOf(decoded)))
	return text, nil
}

// encodingOf returns the decoder of a text without a byte order mark: in UTF-16 every
// other byte of a log's first characters is 0.
func encodingOf(in *bufio.Reader) transform.Transformer {
	first, _ := in.Peek(4)
	switch {
	case len(first) < 4 || (first[0] == 0) == (first[1] == 0) || (first[2] == 0) == (first[3] == 0):
		return transform.Nop
	case first[0] == 0:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder()
	}
	return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder()
}

// errBomb is the error about a compressed file that is too large for a log.
var errBomb = errors.New("uncompressed it is larger than any log would be")

// Limits of uncompressing: a log of equal lines grows at most this many times; a
// small file may grow to grace.
const (
	growth = 200
	grace  = 16 << 20
)

// bounded reads up to a limit, beyond which there must be no more bytes.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errBomb
	}
	return n, err
}

// reasonOf returns an error without its path, which problems already show.
func reasonOf(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// spool keeps the series of a folder's runs until their steps have names, in a
// temporary file: the series of all logs may be larger than memory. The file has no
// name, so it disappears with the process. The zero spool is empty.
type spool struct {
	file *os.File
	w    *bufio.Writer
	enc  *json.Encoder
	size int64
	err  error
}

func (s *spool) open() {
	s.enc = json.NewEncoder(s)
	if s.file, s.err = os.CreateTemp("", "rumbench-import-"); s.err == nil {
		s.w = bufio.NewWriterSize(s.file, 1<<16)
		s.err = os.Remove(s.file.Name())
	}
}

func (s *spool) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.size += int64(n)
	return n, err
}

// flush makes the lines so far readable.
func (s *spool) flush() error {
	if s.err == nil && s.w != nil {
		s.err = s.w.Flush()
	}
	return s.err
}
