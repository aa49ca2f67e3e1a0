package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rumbench/internal/plain"
	"rumbench/internal/report"
	"rumbench/internal/result"
)

// resultsDir is the folder that `run` and `import` make campaigns in.
const resultsDir = "results"

// newDir returns the directory of a new campaign.
func newDir(name string) string {
	return filepath.Join(resultsDir, name+"-"+time.Now().Format("20060102-150405"))
}

// fileName makes a plan's name fit for a directory.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' || r < ' ' {
			return '-'
		}
		return r
	}, name)
}

// create creates a file that a command was asked to write, or returns why not.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(plain.NewWriter(f)); err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return f.Close()
}

// output is a file that is to be written, and how; the writer returns how many
// things it wrote.
type output struct {
	path, what string
	write      func(io.Writer) (int64, error)
	temp       string
	count      int64
}

// replace writes files under other names first, so that those that exist are
// replaced by whole ones, or none is.
func replace(files []output) error {
	for i := range files {
		o := &files[i]
		f, err := os.CreateTemp(filepath.Dir(o.path), "."+filepath.Base(o.path)+".*")
		if err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
		o.temp = f.Name()
		defer os.Remove(o.temp) // gone already when all went well
		o.count, err = o.write(f)
		if err == nil {
			err = f.Chmod(0o644)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
	}
	for _, o := range files {
		if err := os.Rename(o.temp, o.path); err != nil {
			return fmt.Errorf("write %s: %w", o.path, err)
		}
	}
	return nil
}

// writeReport writes a report into a directory as HTML and Markdown, and returns
// where the former is.
func writeReport(in report.Input, dir string) (html string, err error) {
	html = filepath.Join(dir, result.ReportFile)
	if err := create(html, func(w io.Writer) error { return report.HTML(w, in) }); err != nil {
		return "", err
	}
	return html, create(filepath.Join(dir, result.MarkdownFile), func(w io.Writer) error { return report.Markdown(w, in) })
}
