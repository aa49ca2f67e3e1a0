package observe

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/text/quantity"
)

// Ceilings are the rates that a device reached while only a probe used it. The probe
// reads and writes a small file, so large data may get lower rates.
type Ceilings struct {
	Reads   float64 `json:"reads_per_s"`    // of 4 KiB at random places, 16 at a time
	Writes  float64 `json:"writes_per_s"`   // of 4 KiB at random places, 16 at a time
	ReadKB  float64 `json:"read_kb_per_s"`  // in requests of 1 MiB, 4 at a time
	WriteKB float64 `json:"write_kb_per_s"` // in requests of 1 MiB, 4 at a time
	Flushes float64 `json:"flushes_per_s"`  // one after another, each of a write of 4 KiB
}

// Facts returns the device's limits, for people; nothing if it was not probed.
func (c *Ceilings) Facts() Facts {
	if c == nil {
		return nil
	}
	fact := func(subject string, v float64, name string) Fact {
		return Fact{"probe: " + subject, quantity.Digits(v) + name}
	}
	return Facts{
		fact("reads of 4 KiB", c.Reads, "/s"), fact("writes of 4 KiB", c.Writes, "/s"),
		fact("flushed writes", c.Flushes, "/s, one at a time"),
		fact("reads of 1 MiB", c.ReadKB/1024, " MiB/s"), fact("writes of 1 MiB", c.WriteKB/1024, " MiB/s"),
	}
}

const (
	probeTime            = 250 * time.Millisecond // of each of the five
	probeFile            = 64 << 20               // at most
	probeSmall           = 4 << 10
	probeLarge           = 1 << 20
	smallWays, largeWays = 16, 4 // requests at a time
)

// Probe measures the limits of the device under a directory, in less than two seconds.
// It writes to its own file, past the page cache, and removes it. Filesystems in
// memory, and those that cannot bypass the page cache, are an error.
func Probe(dir string) (c Ceilings, err error) {
	path := filepath.Join(dir, "probe.tmp")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_DIRECT, 0o600)
	if err != nil {
		return c, fmt.Errorf("probe the device: %w", err)
	}
	defer os.Remove(path)
	defer f.Close()
	p := probe{file: f}
	if err := p.fill(); err != nil {
		return c, fmt.Errorf("probe the device: %w", err)
	}
	read := func(buf []byte, at int64) error { _, err := f.ReadAt(buf, at); return err }
	write := func(buf []byte, at int64) error { _, err := f.WriteAt(buf, at); return err }
	flush := func(buf []byte, at int64) error { return errors.Join(write(buf, at), unix.Fdatasync(int(f.Fd()))) }
	const kb = probeLarge / 1024
	err = errors.Join(p.rate(&c.Reads, 1, smallWays, probeSmall, read), p.rate(&c.Writes, 1, smallWays, probeSmall, write),
		p.rate(&c.ReadKB, kb, largeWays, probeLarge, read), p.rate(&c.WriteKB, kb, largeWays, probeLarge, write),
		p.rate(&c.Flushes, 1, 1, probeSmall, flush))
	if err != nil {
		return Ceilings{}, fmt.Errorf("probe the device: %w", err)
	}
	return c, nil
}

// probe is a file to read and write.
type probe struct {
	file *os.File
	size int64
}

// fill writes the file, less of it to a slow device.
func (p *probe) fill() error {
	buf, err := random(probeLarge)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(buf) }()
	for began := time.Now(); p.size < probeFile && (p.size == 0 || time.Since(began) < 2*probeTime); p.size += probeLarge {
		if _, err := p.file.WriteAt(buf, p.size); err != nil {
			return err
		}
	}
	return p.file.Sync()
}

// rate repeats a request at random places for a while, some at a time, and stores how many
// there were per second, each counted as unit.
func (p *probe) rate(perS *float64, unit float64, ways int, size int64,
	request func(buf []byte, at int64) error) error {
	var done atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, ways)
	began := time.Now()
	for i := range ways {
		group.Go(func() {
			buf, err := random(int(size))
			if err != nil {
				errs[i] = err
				return
			}
			defer func() { _ = unix.Munmap(buf) }()
			for errs[i] == nil && time.Since(began) < probeTime {
				errs[i] = request(buf, mathrand.Int64N(p.size/size)*size)
				done.Add(1)
			}
		})
	}
	group.Wait()
	*perS = unit * float64(done.Load()) / time.Since(began).Seconds()
	return errors.Join(errs...)
}

// random returns bytes that do not compress, as they lie for requests past the page cache:
// at the beginning of a page.
func random(size int) ([]byte, error) {
	buf, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("map a buffer: %w", err)
	}
	_, _ = rand.Read(buf) // never fails
	return buf, nil
}
