package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"rumbench/internal/text/quantity"
)

// mostLog is more than any program prints that measures.
const mostLog = 64 << 20

// outputs passes the output of a command on, and keeps it in a log. A child that the
// command leaves behind may keep the output open, which delays nothing.
type outputs struct {
	log  *capped // nil: none
	done sync.WaitGroup
	// theirs are the ends of pipes that the command has, ours those that are read.
	theirs, ours []*os.File
}

// pass returns the file to which the command writes what a writer gets.
func (o *outputs) pass(w io.Writer) (*os.File, error) {
	if f, ok := w.(*os.File); ok && o.log == nil {
		return f, nil
	}
	r, f, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o.ours, o.theirs = append(o.ours, r), append(o.theirs, f)
	if o.log != nil {
		w = io.MultiWriter(w, o.log)
	}
	o.done.Go(func() {
		_, _ = io.Copy(w, r)
		r.Close() // the command is not to wait for a reader
	})
	return f, nil
}

// begun closes what only the command needs.
func (o *outputs) begun() {
	for _, f := range o.theirs {
		f.Close()
	}
	o.theirs = nil
}

// end waits for the rest of the output, for a limited time, and returns a remark about
// what is missing; "": nothing.
func (o *outputs) end(limit time.Duration) (remark string) {
	o.begun()
	late := time.AfterFunc(limit, func() {
		for _, f := range o.ours {
			f.Close()
		}
	})
	o.done.Wait()
	if !late.Stop() && len(o.ours) > 0 {
		remark = "the command left its output open: what came later is not in it"
	}
	if o.log == nil {
		return remark
	}
	if err := cmp.Or(o.log.err, o.log.file.Close()); err != nil {
		remark = fmt.Sprintf("its output is not all in %s: %v", o.log.file.Name(), err)
	}
	return remark
}

// capped is a file that takes a limited number of bytes, and drops the rest.
type capped struct {
	mu   sync.Mutex
	file *os.File
	size int
	err  error // why the rest is dropped
}

// Write never fails: the output is also written elsewhere.
func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(b); c.size > mostLog && c.err == nil {
		c.err = errors.New("it is longer than " + quantity.FormatSize(mostLog))
	}
	if c.err == nil {
		_, c.err = c.file.Write(b)
	}
	return len(b), nil
}
