package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/need"
)

// A child that keeps the output of a command open does not delay its end, and what the
// command itself has printed is there.
func TestOutputs(t *testing.T) {
	for _, open := range []bool{false, true} {
		r, w := io.Pipe()
		var o outputs
		f := need.Value(o.pass(w))(t)
		limit := time.Hour
		if open {
			defer syscall.Close(need.Value(syscall.Dup(int(f.Fd())))(t))
			limit = time.Millisecond
		}
		need.Value(f.WriteString("a line\n"))(t)
		need.Value(io.ReadFull(r, make([]byte, len("a line\n"))))(t)
		if remark := o.end(limit); (remark != "") != open {
			t.Errorf("open %v: %q", open, remark)
		}
	}
}

// The log of a command has a limit, what is shown has none.
func TestCapped(t *testing.T) {
	f := need.Value(os.Create(filepath.Join(t.TempDir(), "load.log")))(t)
	o := outputs{log: &capped{file: f, size: mostLog - 5}}
	var out bytes.Buffer
	w := need.Value(o.pass(&out))(t)
	if _, err := w.WriteString("1234567890"); err != nil {
		t.Fatal(err)
	}
	remark := o.end(time.Hour)
	if info, err := os.Stat(f.Name()); err != nil || info.Size() > 5 || out.String() != "1234567890" || !strings.Contains(remark, "longer than 64MiB") {
		t.Errorf("%v, %v, %q, %q", info, err, out.String(), remark)
	}
}
