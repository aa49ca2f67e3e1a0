package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"rumbench/internal/regular"
)

// openText opens a regular file, uncompressed where it was compressed by gzip.
// All files that are imported are opened here. Its errors do not name the file.
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
		z, err := gzip.NewReader(in)
		if err == nil {
			text.Reader, err = limitGrowth(z, f.Stat)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("uncompress: %w", err)
		}
	}
	return text, nil
}

// errBomb is why a compressed file is no log.
var errBomb = errors.New("uncompressed it is larger than any log would be")

// A log of equal lines becomes at most this many times as large; a small file may
// become as large as grace.
const (
	growth = 200
	grace  = 16 << 20
)

// limitGrowth reads what a compressed file becomes, up to what a log can become.
func limitGrowth(r io.Reader, stat func() (fs.FileInfo, error)) (io.Reader, error) {
	info, err := stat()
	if err != nil {
		return nil, err
	}
	return &bounded{r, max(grace, growth*info.Size())}, nil
}

// bounded reads so many bytes, of which none may remain.
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
