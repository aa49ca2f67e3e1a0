package result

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	jsonv1 "github.com/go-json-experiment/json/v1" // as encoding/json, in half of the time

	"rumbench/internal/result/regular"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
)

// The files of a campaign and of a trial.
const (
	CampaignFile = "campaign.json"
	PlanFile     = "plan.yaml"
	TrialsDir    = "trials"
	BasesDir     = "bases" // data that are loaded once for several trials, until the campaign is complete
	LockFile     = ".lock" // locked while the campaign runs
	ReportFile   = "report.html"
	MarkdownFile = "report.md"

	TrialFile     = "trial.json"
	SeriesFile    = "series.jsonl"
	LatencyFile   = "latency.hlog"
	PlansFile     = "plans.jsonl" // how the database finds the rows of each statement
	LogFile       = "trial.log"
	ServerLogFile = "server.log" // output of a server that was started for the trial
	LoadFile      = "load.log"   // output of the program that made the load, if that was not rumbench
	DataDir       = "data"
	TempDir       = "tmp"
)

// CheckEmpty refuses a directory that holds something. One that does not exist holds nothing.
func CheckEmpty(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return hint.Errorf("choose another --out; nothing that rumbench did not make is overwritten",
			"%s exists and is not empty", dir)
	}
	return nil
}

// WriteJSON replaces a file by the JSON of v, so that a reader sees either the
// old content or the new.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return WriteFile(path, []byte(escape.Text(string(b)+"\n")), 0o644)
}

// WriteFile replaces a file by b.
func WriteFile(path string, b []byte, mode fs.FileMode) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// Replace replaces a file by the output of write, so that a reader sees either
// the old content or the new, also after a crash.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // gone already when all went well
	if err = write(f); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// limit is the greatest size of files that are read as a whole: the largest
// that rumbench has written is a hundredth of it.
const limit = 64 << 20

// ReadPlan reads the plan that a campaign was started with.
func ReadPlan(dir string) ([]byte, error) {
	return regular.ReadFile(filepath.Join(dir, PlanFile), limit)
}

// readJSON reads a file that carries a format version.
func readJSON(path string, v any, format *int) error {
	b, err := regular.ReadFile(path, limit)
	if err != nil {
		return err
	}
	err = jsonv1.Unmarshal(b, v)
	if err == nil && *format >= oldest && *format <= Format {
		return nil
	}
	var head struct { // v may not have come as far
		Format int `json:"format"`
	}
	if json.Unmarshal(b, &head) == nil && (head.Format < oldest || head.Format > Format) {
		return fmt.Errorf("read %s: it has format %d, and this rumbench knows formats %d to %d", path, head.Format, oldest,
			Format)
	}
	return fmt.Errorf("read %s: %w", path, err)
}

// SeriesWriter appends lines to a series file. It may be used from several
// goroutines. After an error it writes no more.
type SeriesWriter struct {
	mu  sync.Mutex
	f   *os.File
	w   *bufio.Writer
	enc *json.Encoder
	err error
	n   int64
}

// CreateSeries creates the series file of a trial.
func CreateSeries(dir string) (*SeriesWriter, error) {
	f, err := os.OpenFile(filepath.Join(dir, SeriesFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	s := &SeriesWriter{f: f}
	s.w = bufio.NewWriter(escape.NewWriter(counting{f, &s.n}))
	s.enc = json.NewEncoder(s.w)
	return s, nil
}

// Write appends lines and hands them to the operating system.
func (s *SeriesWriter) Write(lines ...Line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range lines {
		if s.err == nil {
			s.err = s.enc.Encode(&lines[i])
		}
	}
	if s.err == nil {
		s.err = s.w.Flush()
	}
	return s.err
}

// Copy appends encoded lines that name no step as lines of a step.
func (s *SeriesWriter) Copy(step string, encoded io.Reader) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	const none = `{"step":""`
	name, err := json.Marshal(step)
	in := bufio.NewScanner(encoded)
	in.Buffer(make([]byte, 1<<16), longest)
	in.Split(wholeLines)
	for s.err == nil && err == nil && in.Scan() {
		remaining, ok := bytes.CutPrefix(in.Bytes(), []byte(none))
		if !ok {
			err = errors.New("a line names another step")
			break
		}
		s.w.WriteString(none[:len(none)-len(`""`)])
		s.w.Write(name)
		_, s.err = s.w.Write(remaining)
	}
	if s.err = cmp.Or(s.err, err, in.Err()); s.err == nil {
		s.err = s.w.Flush()
	}
	return s.err
}

// Written returns the number of bytes written so far.
func (s *SeriesWriter) Written() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// counting counts the bytes written through it.
type counting struct {
	w io.Writer
	n *int64
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	*c.n += int64(n)
	return n, err
}

// Err returns the error that ended writing.
func (s *SeriesWriter) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close closes the file. It does nothing on a writer that was never opened.
func (s *SeriesWriter) Close() error {
	if s == nil {
		return nil
	}
	return s.f.Close()
}

// longest is the maximum length of a line of a series.
const longest = 1 << 20

// longestStep is more than any step takes, in seconds.
const longestStep = 1e9

// wholeLines splits at line ends; text after the last one was cut off.
func wholeLines(data []byte, _ bool) (int, []byte, error) {
	end := bytes.IndexByte(data, '\n') + 1
	if end == 0 {
		return 0, nil, nil
	}
	return end, data[:end], nil
}

// ReadSeries streams the lines of a trial's series that come from the wanted
// sources; nil wants all. A source may be restricted to one value, as in
// “engine:engine.stalls”, and be listed several times. A last line that was cut
// off ends it without error.
func ReadSeries(dir string, wanted []string, yield func(Line) error) error {
	return NewSeries(dir, wanted).Read(yield)
}

// Series is a trial's series that is read while it grows.
type Series struct {
	dir    string
	wanted []string
	offset int64 // where the next line begins
}

// NewSeries returns the series of a trial, for ReadSeries of what is there and then of what
// has been added.
func NewSeries(dir string, wanted []string) *Series { return &Series{dir: dir, wanted: wanted} }

// Read is ReadSeries of the lines that it has not read yet.
func (s *Series) Read(yield func(Line) error) error {
	dir := s.dir
	f, err := regular.Open(filepath.Join(dir, SeriesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(s.offset, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 1<<16), longest)
	in.Split(wholeLines)
	want := wantsOf(s.wanted)
	for n := 1; in.Scan(); n++ {
		s.offset += int64(len(in.Bytes()))
		names, ok := want.subject(in.Bytes())
		if !ok {
			continue
		}
		var l Line
		if err := l.decode(in.Bytes(), names); err != nil {
			return fmt.Errorf("read series of %s: line %d: %w", dir, n, err)
		}
		if !(l.T >= 0 && l.T <= longestStep && l.DT >= 0 && l.DT <= longestStep) {
			return fmt.Errorf("read series of %s: line %d: %g s, of %g s: no times of an interval", dir, n, l.T, l.DT)
		}
		if err := yield(l); err != nil {
			return err
		}
	}
	err = in.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = errors.New("a line is longer than 1 MiB")
	}
	if err != nil {
		return fmt.Errorf("read series of %s: %w", dir, err)
	}
	return nil
}
