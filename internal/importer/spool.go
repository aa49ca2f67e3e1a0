package importer

import (
	"bufio"
	"encoding/json"
	"io"
	"os"

	"rumbench/internal/result"
)

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

// section is the part of a spool with the lines of one run.
type section struct{ start, end int64 }

// emit adds a line, without a step, to the series.
func (r *run) emit(l result.Line) {
	s := r.file.spool
	if s == nil {
		return
	}
	if s.enc == nil {
		s.open()
	}
	if r.series.end == 0 {
		r.series.start = s.size
	}
	if s.err == nil {
		s.err = s.enc.Encode(&l)
	}
	r.series.end = s.size
}

func (s *spool) open() {
	s.enc = json.NewEncoder(s)
	if s.file, s.err = os.CreateTemp("", "rumbench-import-"); s.err == nil {
		s.w = bufio.NewWriterSize(s.file, 1<<16)
		s.err = os.Remove(s.file.Name())
	}
}

// Write writes an encoded line.
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

func (r *run) writeSeries(w *result.SeriesWriter) error {
	if r.series.end == 0 {
		return nil
	}
	return w.Copy(r.step.Name, io.NewSectionReader(r.file.spool.file, r.series.start, r.series.end-r.series.start))
}
