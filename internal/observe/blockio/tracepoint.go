package blockio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"rumbench/internal/text/hint"
)

// tracepoint is an event of the kernel: its number, and the positions of the
// fields of its records.
type tracepoint struct {
	id     uint64
	fields map[string]field
}

type field struct{ offset, size int }

// findTracepoint reads a tracepoint and checks that it has these fields.
func findTracepoint(name string, fields ...string) (*tracepoint, error) {
	text, err := readFormat(name)
	if err != nil {
		return nil, hint.With(fmt.Errorf("%w: read the format of %s: %w", ErrUnavailable, name, err),
			"run as root, on a kernel with CONFIG_FTRACE; in a container: mount -t tracefs nodev /sys/kernel/tracing")
	}
	p, err := parseFormat(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnavailable, name, err)
	}
	for _, f := range fields {
		if p.fields[f].size == 0 {
			return nil, fmt.Errorf("%w: %s has no field %s on this kernel", ErrUnavailable, name, f)
		}
	}
	return p, nil
}

func readFormat(name string) (string, error) {
	path := filepath.Join("events", name, "format")
	for _, root := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if b, err := os.ReadFile(filepath.Join(root, path)); err == nil {
			return string(b), nil
		}
	}
	return readPrivately(path)
}

// readPrivately reads a file of tracefs from a mount that only this process has,
// and only for that long.
func readPrivately(path string) (string, error) {
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return "", fmt.Errorf("tracefs is not mounted; mount it: %w", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return "", fmt.Errorf("tracefs is not mounted; mount it: %w", err)
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("tracefs is not mounted; mount it: %w", err)
	}
	defer unix.Close(mount)
	fd, err := unix.Openat(mount, path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("open %s of tracefs: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

// parseFormat parses lines like
//
//	ID: 2104
//		field:char rwbs[10];	offset:34;	size:10;	signed:0;
func parseFormat(text string) (*tracepoint, error) {
	p := &tracepoint{fields: make(map[string]field)}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if id, ok := strings.CutPrefix(line, "ID:"); ok {
			if _, err := fmt.Sscan(id, &p.id); err != nil {
				return nil, fmt.Errorf("parse format: %q: %w", line, err)
			}
		}
		tail, ok := strings.CutPrefix(line, "field:")
		if !ok {
			continue
		}
		declared, tail, _ := strings.Cut(tail, ";")
		var f field
		if _, err := fmt.Sscanf(strings.TrimSpace(tail), "offset:%d; size:%d;", &f.offset, &f.size); err != nil {
			return nil, fmt.Errorf("parse format: %q: %w", line, err)
		}
		words := strings.Fields(declared)
		if len(words) == 0 || f.offset < 0 || f.size < 0 {
			return nil, fmt.Errorf("parse format: %q", line)
		}
		name, _, _ := strings.Cut(words[len(words)-1], "[")
		p.fields[name] = f
	}
	if p.id == 0 {
		return nil, errors.New("parse format: no ID")
	}
	return p, nil
}

// bytes returns a field of a record, nil if the record is too short.
func (p *tracepoint) bytes(record []byte, name string) []byte {
	f := p.fields[name]
	if f.offset+f.size > len(record) {
		return nil
	}
	return record[f.offset : f.offset+f.size]
}

// number returns a field of a record that is an unsigned number.
func (p *tracepoint) number(record []byte, name string) uint64 {
	switch b := p.bytes(record, name); len(b) {
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	case 8:
		return binary.NativeEndian.Uint64(b)
	}
	return 0
}

// text returns a field of a record that is a text.
func (p *tracepoint) text(record []byte, name string) string {
	return unix.ByteSliceToString(p.bytes(record, name))
}

// open opens the tracepoint on a processor, disabled, for records that pass the
// filter: process, time and the fields.
func (p *tracepoint) open(processor int, filter string) (fd int, err error) {
	attr := &unix.PerfEventAttr{
		Type: unix.PERF_TYPE_TRACEPOINT, Config: p.id, Sample: 1,
		Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_RAW,
		Bits:        unix.PerfBitDisabled | unix.PerfBitUseClockID, Clockid: unix.CLOCK_MONOTONIC,
	}
	attr.Size = uint32(unsafe.Sizeof(*attr))
	if fd, err = unix.PerfEventOpen(attr, -1, processor, -1, unix.PERF_FLAG_FD_CLOEXEC); err != nil {
		return -1, hint.With(fmt.Errorf("%w: trace processor %d: perf_event_open: %w", ErrUnavailable, processor, err),
			"run as root or with CAP_PERFMON; in a container, allow the system call perf_event_open")
	}
	text, err := unix.BytePtrFromString(filter)
	if err == nil {
		err = ioctl(fd, unix.PERF_EVENT_IOC_SET_FILTER, unsafe.Pointer(text))
	}
	if err != nil {
		return -1, errors.Join(fmt.Errorf("set filter %q: %w", filter, err), unix.Close(fd))
	}
	return fd, nil
}

func ioctl(fd int, request uint, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// ringPages is the size of a processor's ring without its header: room for some
// 20,000 records between two drains.
const ringPages = 512
