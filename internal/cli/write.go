package cli

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"rumbench/internal/report"
	"rumbench/internal/result"
	"rumbench/internal/text/escape"
)

// resultsDir is the folder in which `run` and `import` create campaigns.
const resultsDir = "results"

func newDir(name string) string {
	return filepath.Join(resultsDir, name+"-"+time.Now().Format("20060102-150405"))
}

// absolute returns the absolute form of a path, or the path itself if that is
// unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// fileName turns a plan's name into a valid directory name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' || r < ' ' {
			return '-'
		}
		return r
	}, name)
}

// writeReport writes a report into a directory as HTML and Markdown, the latter with
// all folded parts if all is set, and returns the path of the HTML file.
func writeReport(in report.Input, dir string, all bool) (html string, err error) {
	html = filepath.Join(dir, result.ReportFile)
	write := func(path string, render func(io.Writer, report.Input) error) error {
		return result.Replace(path, 0o644, func(w io.Writer) error { return render(escape.NewWriter(w), in) })
	}
	if err := write(html, report.HTML); err != nil {
		return "", err
	}
	return html, write(filepath.Join(dir, result.MarkdownFile),
		func(w io.Writer, in report.Input) error { return report.Markdown(w, in, all) })
}
