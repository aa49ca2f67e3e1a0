package account

import (
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
)

// byDrive is the source of what an NVMe drive reports of itself.
const byDrive = "the drive's own counters"

// littleToDrive is the number of bytes below which a drive's counts are too coarse for a ratio: it counts
// what it is sent in units of 512,000.
const littleToDrive = 64 << 20

// mediaWritten counts the bytes that a drive wrote to its media.
const mediaWritten = "nvme.media_written_bytes"

// AddDrive adds what a drive reports of itself, if that is among the counts of the disks.
func (o *Observed) AddDrive(disks []observe.Change) {
	for _, c := range disks {
		if strings.HasPrefix(c.Name, "nvme.") {
			o.WithSync = append(o.WithSync, c)
		}
	}
}

// addDrive adds the drive's temperature, its write amplification, and the errors of its media.
func addDrive(s *costing) {
	if v, ok := Gauge(s.WithSync, "nvme.temperature_c"); ok {
		s.Put(metric.DeviceTemperatureC, v, Source(byDrive))
	}
	written, _ := Counter(s.WithSync, "nvme.written_bytes")
	if media, ok := Counter(s.WithSync, mediaWritten); ok && written >= littleToDrive {
		s.Put(metric.MediaRatio, media/written, Source(byDrive))
	}
	if n, ok := Counter(s.WithSync, "nvme.media_errors"); ok && n > 0 {
		s.Warn(remark.MediaErrors, metric.Values{"n": n})
	}
}
