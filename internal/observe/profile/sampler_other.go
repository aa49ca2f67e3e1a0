//go:build !linux

package profile

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// Sampler needs Linux.
type Sampler struct{}

// Start returns ErrUnavailable.
func Start(int, bool) (*Sampler, error) {
	return nil, fmt.Errorf("%w on %s: it needs perf_event_open of Linux", ErrUnavailable, runtime.GOOS)
}

// Stop returns ErrUnavailable.
func (*Sampler) Stop() (*Recording, error) { return nil, ErrUnavailable }

// Now returns ErrUnavailable.
func Now() (time.Duration, error) { return 0, ErrUnavailable }

func inode(os.FileInfo) uint64 { return 0 }
