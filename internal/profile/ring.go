//go:build linux

package profile

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ringPages is the size of a ring without the page of its header, a power of two.
const ringPages = 64

// ring is the memory through which the kernel hands over the records of a processor.
type ring struct {
	memory []byte
	header *unix.PerfEventMmapPage
	data   []byte
	joined []byte // a record that wraps around the end
}

func newRing(fd, pageSize int) (*ring, error) {
	memory, err := unix.Mmap(fd, 0, (1+ringPages)*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map ring of samples: %w", err)
	}
	return &ring{memory: memory, header: (*unix.PerfEventMmapPage)(unsafe.Pointer(&memory[0])), data: memory[pageSize:]}, nil
}

func (r *ring) close() error { return unix.Munmap(r.memory) }

// drain passes on the records that arrived since the last call. A record is
// overwritten after each has returned.
func (r *ring) drain(each func(kind uint32, misc uint16, body []byte)) {
	const header = 8
	head := atomic.LoadUint64(&r.header.Data_head)
	tail := r.header.Data_tail // only this side writes it
	size := uint64(len(r.data))
	for tail < head {
		at := tail % size // records are aligned to 8 bytes: their headers do not wrap
		kind := binary.NativeEndian.Uint32(r.data[at:])
		misc := binary.NativeEndian.Uint16(r.data[at+4:])
		length := uint64(binary.NativeEndian.Uint16(r.data[at+6:]))
		if length < header {
			break
		}
		record := r.data[at:min(at+length, size)]
		if at+length > size {
			r.joined = append(append(r.joined[:0], record...), r.data[:at+length-size]...)
			record = r.joined
		}
		each(kind, misc, record[header:])
		tail += length
	}
	atomic.StoreUint64(&r.header.Data_tail, head)
}

// fields reads the numbers of a record one after the other. What a record is too
// short for is zero.
type fields []byte

func (f *fields) u64() uint64 {
	if len(*f) < 8 {
		*f = nil
		return 0
	}
	v := binary.NativeEndian.Uint64(*f)
	*f = (*f)[8:]
	return v
}

func (f *fields) i32() int32 {
	if len(*f) < 4 {
		*f = nil
		return 0
	}
	v := binary.NativeEndian.Uint32(*f)
	*f = (*f)[4:]
	return int32(v)
}
