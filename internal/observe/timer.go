package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Timer is a job of the system that reads or writes much, and when it is due.
type Timer struct {
	Name string // of a systemd timer, or the file of cron
	At   time.Time
}

// heavy matches the names of jobs that read or write much: trims, package lists and upgrades, scrubs,
// checks of RAID and of files, rotation of logs, indexes of files and pages, backups.
var heavy = regexp.MustCompile(`fstrim|\bapt|dnf|unattended|packagekit|e2scrub|xfs_scrub|scrub|mdcheck|mdadm|checkarray|raid-check|` +
	`logrotate|man-db|dpkg|updatedb|locate|backup|rsync|snapper|aide|debsums|freshclam|fwupd`)

// Timers returns the jobs that are due before an end, by systemd and by cron; false if neither runs here,
// as in a container. root is "/" except in tests.
func Timers(ctx context.Context, root string, end time.Time) (out []Timer, known bool) {
	now := time.Now()
	_, err := os.Stat(filepath.Join(root, "run/systemd/system"))
	systemd := err == nil
	if systemd {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		listed, err := exec.CommandContext(limited, "systemctl", "list-timers", "--all", "--output=json").Output()
		out, known = parseTimers(listed), err == nil
	}
	if cronRuns(filepath.Join(root, "proc")) {
		out, known = append(out, cronJobs(root, systemd, now, end)...), true
	}
	return due(out, now, end), known
}

// due returns the timers due before an end, the soonest first.
func due(timers []Timer, now, end time.Time) []Timer {
	out := slices.DeleteFunc(timers, func(t Timer) bool { return t.At.Before(now) || t.At.After(end) })
	slices.SortStableFunc(out, func(a, b Timer) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name)) })
	return out
}

// parseTimers parses what systemctl list-timers prints as JSON: times in microseconds since 1970, null or
// 0 if a timer is not due again.
func parseTimers(listed []byte) (out []Timer) {
	var units []struct {
		Unit string  `json:"unit"`
		Next *uint64 `json:"next"`
	}
	if json.Unmarshal(listed, &units) != nil {
		return nil
	}
	for _, u := range units {
		if u.Next != nil && *u.Next < 1<<62 && heavy.MatchString(u.Unit) {
			out = append(out, Timer{u.Unit, time.UnixMicro(int64(*u.Next))})
		}
	}
	return out
}

// cronRuns reports whether a daemon of cron runs.
func cronRuns(procRoot string) bool {
	names, _ := filepath.Glob(filepath.Join(procRoot, "[0-9]*", "comm"))
	return slices.ContainsFunc(names, func(name string) bool {
		comm := Text(name)
		return comm == "cron" || comm == "crond"
	})
}

// cronJobs returns when the jobs in cron.d are due for the first time before an end. Those that leave
// their work to systemd are left out if it runs.
func cronJobs(root string, systemd bool, now, end time.Time) (out []Timer) {
	tables, _ := filepath.Glob(filepath.Join(root, "etc/cron.d/*"))
	for _, table := range tables {
		for line := range strings.Lines(Text(table)) {
			when, command, ok := parseCron(line)
			if !ok || !heavy.MatchString(command) || systemd && strings.Contains(command, "/run/systemd/system") {
				continue
			}
			if at, ok := when.first(now, end); ok {
				out = append(out, Timer{"/etc/cron.d/" + filepath.Base(table), at})
			}
		}
	}
	return out
}
