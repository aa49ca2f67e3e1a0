package perfring

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
)

// TestRing: records that wrap around the end are whole, and each arrives once.
func TestRing(t *testing.T) {
	r := &ring{header: new(unix.PerfEventMmapPage), data: make([]byte, 64)}
	var want, got []string
	put := func(body string) {
		record := binary.NativeEndian.AppendUint32(nil, uint32(len(want)))
		record = binary.NativeEndian.AppendUint16(record, 7)
		record = append(binary.NativeEndian.AppendUint16(record, uint16(8+len(body))), body...)
		for _, b := range record {
			r.data[r.header.Data_head%64] = b
			r.header.Data_head++
		}
		want = append(want, fmt.Sprintf("%d 7 %s", len(want), body))
	}
	for i := range 50 {
		put(strings.Repeat(string(rune('a'+i%26)), 8*(i%3+1)))
		if i%5 == 0 {
			put("second__")
		}
		r.drain(func(kind uint32, misc uint16, body []byte) {
			got = append(got, fmt.Sprintf("%d %d %s", kind, misc, body))
		})
	}
	expect.List(t, got, want)
}
