package result

import "time"

// Trim is one pass over a file system's free blocks, which discards them on its device.
type Trim struct {
	Before  string    `json:"before"` // the trial, by its directory
	Dir     string    `json:"dir"`    // in the file system
	At      time.Time `json:"at"`
	Bytes   int64     `json:"bytes"` // as the kernel reports them
	Seconds float64   `json:"seconds"`
}
