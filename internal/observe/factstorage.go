package observe

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// storage adds the facts about the filesystem and device found under a directory.
func (m machine) storage(l *factList, d Device, err error) {
	l.add("filesystem", d.FSType)
	l.add("mount point", d.Mount)
	l.add("mount options", d.MountOptions)
	if err != nil {
		if errors.Is(err, ErrNoDevice) {
			l.add("device", err.Error())
		}
		return
	}
	l.add("device", d.Name)
	if sectors, err := strconv.ParseFloat(text(m.sys, "class", "block", d.Name, "size"), 64); err == nil {
		l.add("device size", size(sectors*sector))
	}
	if !slices.Contains(d.Leaves, d.Name) {
		l.add("device leaves", strings.Join(d.Leaves, ", "))
	}
	for _, leaf := range d.Leaves {
		// One disk needs no name; several may differ.
		prefix := "device "
		if len(d.Leaves) > 1 {
			prefix = "device " + leaf + " "
		}
		m.disk(l, prefix, leaf)
	}
	if all, err := diskstats(m.proc, m.sys); err == nil {
		if own := named(all, d.Name); own != nil && !countsDiscards(own) {
			l.add("discard accounting", discardsAreWrites)
		}
	}
}

// disk adds the facts about a whole disk.
func (m machine) disk(l *factList, prefix, name string) {
	dir := filepath.Join(m.sys, "class", "block", name)
	l.add(prefix+"model", text(dir, "device", "model"))
	l.add(prefix+"rotational", yesNo(text(dir, "queue", "rotational")))
	l.add(prefix+"scheduler", chosen(text(dir, "queue", "scheduler")))
	l.add(prefix+"write cache", text(dir, "queue", "write_cache"))
	if most := text(dir, "queue", "discard_max_bytes"); most == "0" {
		l.add(prefix+"discard", "no")
	} else if most != "" {
		l.add(prefix+"discard", "yes")
	}
}

func yesNo(flag string) string {
	switch flag {
	case "0":
		return "no"
	case "1":
		return "yes"
	}
	return ""
}
