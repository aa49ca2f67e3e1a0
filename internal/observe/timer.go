package observe

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"time"
)

// Timer is a timer of systemd whose job reads or writes much, and when it is due.
type Timer struct {
	Name string
	At   time.Time
}

// heavy matches the names of jobs that read or write much: trims, package lists and upgrades, scrubs,
// checks of RAID and of files, rotation of logs, indexes of files and pages, backups.
var heavy = regexp.MustCompile(`fstrim|\bapt|dnf|unattended|packagekit|e2scrub|xfs_scrub|scrub|mdcheck|mdadm|checkarray|raid-check|` +
	`logrotate|man-db|dpkg|updatedb|locate|backup|rsync|snapper|aide|debsums|freshclam|fwupd`)

// Timers returns the jobs that are due before an end; false if systemd does not run here, as in a
// container.
func Timers(ctx context.Context, end time.Time) (out []Timer, found bool) {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	listed, err := exec.CommandContext(ctx, "systemctl", "list-timers", "--all", "--output=json").Output()
	return due(parseTimers(listed), time.Now(), end), err == nil
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
