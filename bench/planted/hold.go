package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/observe"
)

// hold is a limit that a control group (version 1) imposes on all processes that a
// campaign starts.
type hold struct {
	controller  string   // "cpu"
	file, value string   // the file to write and its value; %s: the campaign's device, as 254:0
	free        []string // names of programs that are moved out of the group
}

func (h *hold) dir() string { return filepath.Join("/sys/fs/cgroup", h.controller, "rumbench-planted") }

// begin creates the group for a campaign in a directory, and returns a function that
// removes it.
func (h *hold) begin(campaign string) (end func(), err error) {
	value := h.value
	if strings.Contains(value, "%s") {
		device, err := observe.FindDevice(campaign)
		if err != nil {
			return nil, err
		}
		number, err := os.ReadFile(filepath.Join("/sys/block", device.Leaves[0], "dev"))
		if err != nil {
			return nil, err
		}
		value = fmt.Sprintf(value, strings.TrimSpace(string(number)))
	}
	if err := os.MkdirAll(h.dir(), 0o755); err != nil {
		return nil, fmt.Errorf("control groups of version 1 are needed: %w", err)
	}
	if err := os.WriteFile(filepath.Join(h.dir(), h.file), []byte(value), 0o644); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				h.release()
			}
		}
	}()
	return func() {
		close(done)
		<-stopped
		for range 100 { // the kernel keeps a group while its last process is still ending
			if os.Remove(h.dir()) == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}, nil
}

// release moves the exempt programs to the parent group.
func (h *hold) release() {
	text, _ := os.ReadFile(filepath.Join(h.dir(), "cgroup.procs"))
	for _, pid := range strings.Fields(string(text)) {
		name, _ := os.ReadFile(filepath.Join("/proc", pid, "comm"))
		if _, err := strconv.Atoi(pid); err == nil && slices.Contains(h.free, strings.TrimSpace(string(name))) {
			_ = os.WriteFile(filepath.Join(filepath.Dir(h.dir()), "cgroup.procs"), []byte(pid), 0o644)
		}
	}
}
