package observe

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"rumbench/engine"
)

// NVMe reads what drives report of themselves. It commands the drive, so it is sampled around steps,
// not at intervals.
type NVMe struct {
	Drives []string
	// Page reads a log page of a drive; tests have recorded ones.
	Page func(drive string, id byte) ([]byte, error)
}

// NewNVMe returns a collector of the drives beneath a device; nil if any of them is no NVMe drive or
// reports nothing, as in most virtual machines, or may not be asked.
func NewNVMe(d Device) *NVMe {
	n := &NVMe{d.Leaves, readLogPage}
	silent := func(drive string) bool { return !strings.HasPrefix(drive, "nvme") || n.health(drive) == nil }
	if len(d.Leaves) == 0 || slices.ContainsFunc(d.Leaves, silent) {
		return nil
	}
	return n
}

// Name returns "nvme".
func (n *NVMe) Name() string { return "nvme" }

// Collect adds the sums over all drives, and the highest temperature. What one of them does not report
// is left out.
func (n *NVMe) Collect(_ context.Context, s *engine.Sample) error {
	sum := health{media: new(float64)}
	for _, drive := range n.Drives {
		h := n.health(drive)
		if h == nil {
			return nil // it answered before, and does not now
		}
		sum.written, sum.transitions, sum.errors = sum.written+h.written, sum.transitions+h.transitions, sum.errors+h.errors
		sum.celsius = max(sum.celsius, h.celsius)
		if h.media == nil || sum.media == nil {
			sum.media = nil
		} else {
			*sum.media += *h.media
		}
	}
	s.Counter("nvme.written_bytes", "bytes", sum.written)
	s.Counter("nvme.thermal_transitions", "count", sum.transitions)
	s.Counter("nvme.media_errors", "count", sum.errors)
	if sum.celsius > 0 {
		s.Gauge("nvme.temperature_c", "°C", sum.celsius)
	}
	if sum.media != nil {
		s.Counter("nvme.media_written_bytes", "bytes", *sum.media)
	}
	return nil
}

// health is what a drive reports of itself.
type health struct {
	written     float64  // bytes that the host wrote, in whole units of 512,000
	media       *float64 // bytes that the drive wrote to its media; nil: unknown
	celsius     float64  // 0: unknown
	transitions float64  // to a state in which heat slows it down
	errors      float64  // of media and data integrity
}

// The log pages, both of 512 bytes.
const (
	smartPage = 0x02 // SMART / Health Information, NVM Express Base Specification 1.4, 5.14.1.2
	ocpPage   = 0xc0 // SMART / Health Information Extended, OCP Datacenter NVMe SSD Specification 2.0, 4.8.4
	pageBytes = 512
)

// ocpGUID is what an OCP page ends with, in bytes 511:496: vendors use C0h for other things, too.
const ocpGUID = "\xc5\xaf\x10\x28\xea\xbf\xf2\xa4\x9c\x4f\x6f\x7c\xc9\x14\xd5\xaf"

// health returns what a drive reports; nil if it does not.
func (n *NVMe) health(drive string) *health {
	smart, err := n.Page(drive, smartPage)
	if err != nil || len(smart) < pageBytes || len(strings.Trim(string(smart), "\x00")) == 0 {
		return nil
	}
	little := binary.LittleEndian
	h := &health{
		written: whole(smart[48:64]) * 512_000, // 63:48, Data Units Written, thousands of 512 bytes
		errors:  whole(smart[160:176]),         // 175:160, Media and Data Integrity Errors
		// 219:216 and 223:220, Thermal Management Temperature 1 and 2 Transition Count
		transitions: float64(little.Uint32(smart[216:])) + float64(little.Uint32(smart[220:])),
	}
	if kelvin := little.Uint16(smart[1:]); kelvin > 0 { // 2:1, Composite Temperature
		h.celsius = float64(kelvin) - 273
	}
	if ocp, err := n.Page(drive, ocpPage); err == nil && len(ocp) >= pageBytes && string(ocp[496:pageBytes]) == ocpGUID {
		media := whole(ocp[:16]) // 15:0, Physical Media Units Written, bytes
		h.media = &media
	}
	return h
}

// whole returns a number of 16 bytes, the lowest first.
func whole(b []byte) float64 {
	return float64(binary.LittleEndian.Uint64(b[8:]))*(1<<64) + float64(binary.LittleEndian.Uint64(b))
}

// readLogPage reads a log page by the command Get Log Page, on the drive's block device.
func readLogPage(drive string, id byte) ([]byte, error) {
	fd, err := unix.Open(filepath.Join("/dev", drive), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	const getLogPage, admin = 0x02, 0xc0484e41 // NVME_IOCTL_ADMIN_CMD of linux/nvme_ioctl.h: 'N', 0x41, 72 bytes
	page := make([]byte, pageBytes)
	command := struct { // struct nvme_passthru_cmd
		opcode, flags          uint8
		_                      uint16
		namespace, _, _        uint32
		_                      uint64
		data                   uint64
		_, dataBytes           uint32
		dword10, _, _, _, _, _ uint32
		timeout, result        uint32
	}{opcode: getLogPage, namespace: 0xffffffff, data: uint64(uintptr(unsafe.Pointer(&page[0]))), dataBytes: pageBytes,
		// words of 4 bytes less one; bit 15 retains events, which the kernel is to see
		dword10: (pageBytes/4-1)<<16 | 1<<15 | uint32(id), timeout: 1000}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), admin, uintptr(unsafe.Pointer(&command)))
	runtime.KeepAlive(page)
	if errno != 0 {
		return nil, errno
	}
	return page, nil
}
