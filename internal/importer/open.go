package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"rumbench/internal/result/regular"
)

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
