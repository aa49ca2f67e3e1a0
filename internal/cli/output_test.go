package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A child that keeps the output of a command open does not delay its end, and what the
// command itself has printed is there.
func TestOutputs(t *testing.T) {
	for _, open := range []bool{false, true} {
		var o outputs
		var out bytes.Buffer
		f, err := o.pass(&out)
		if err != nil {
			t.Fatal(err)
		}
		child := -1
		if open {
			if child, err = syscall.Dup(int(f.Fd())); err != nil {
				t.Fatal(err)
			}
			defer syscall.Close(child)
		}
		if _, err := f.WriteString("a line\n"); err != nil {
			t.Fatal(err)
		}
		limit := time.Hour
		if open {
			limit = 100 * time.Millisecond
		}
		if remark := o.end(limit); (remark != "") != open || out.String() != "a line\n" {
			t.Errorf("open %v: %q, %q", open, remark, out.String())
		}
	}
}

// The log of a command has a limit, what is shown has none.
func TestCapped(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "load.log"))
	if err != nil {
		t.Fatal(err)
	}
	o := outputs{log: &capped{file: f, size: mostLog - 5}}
	var out bytes.Buffer
	w, err := o.pass(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("1234567890"); err != nil {
		t.Fatal(err)
	}
	remark := o.end(time.Hour)
	if info, err := os.Stat(f.Name()); err != nil || info.Size() > 5 || out.String() != "1234567890" || !strings.Contains(remark, "longer than 64MiB") {
		t.Errorf("%v, %v, %q, %q", info, err, out.String(), remark)
	}
}
