package observe

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A list as systemctl 252 prints it: heavy and light timers, one that is not due again, and none of these
// in what is no list.
func TestParseTimers(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	const list = `[{"next":1795788000000000,"left":1795788000000000,"last":1795700000000000,"passed":1,"unit":"fstrim.timer","activates":"fstrim.service"},
	{"next":1795784400000000,"left":1795784400000000,"last":null,"passed":0,"unit":"apt-daily-upgrade.timer","activates":"apt-daily-upgrade.service"},
	{"next":1795784460000000,"left":0,"last":0,"passed":0,"unit":"systemd-tmpfiles-clean.timer","activates":"systemd-tmpfiles-clean.service"},
	{"next":1795870800000000,"left":0,"last":0,"passed":0,"unit":"e2scrub_all.timer","activates":"e2scrub_all.service"},
	{"next":null,"left":null,"last":null,"passed":null,"unit":"mdcheck_start.timer","activates":"mdcheck_start.service"},
	{"next":0,"left":0,"last":0,"passed":0,"unit":"logrotate.timer","activates":"logrotate.service"},
	{"next":18446744073709551615,"left":0,"last":0,"passed":0,"unit":"man-db.timer","activates":"man-db.service"}]`
	var got []string
	for _, timer := range due(parseTimers([]byte(list)), now, now.Add(3*time.Hour)) {
		got = append(got, timer.Name+" "+timer.At.UTC().Format("15:04"))
	}
	if d := cmp.Diff([]string{"apt-daily-upgrade.timer 13:00", "fstrim.timer 14:00"}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	for _, wrong := range []string{"", "{}", "0 timers listed.", `[{"next":"Fri"}]`} {
		if got := parseTimers([]byte(wrong)); got != nil {
			t.Errorf("%q: %v", wrong, got)
		}
	}
}

func TestCron(t *testing.T) {
	friday := time.Date(2026, 11, 27, 12, 0, 30, 0, time.UTC)
	for line, want := range map[string]string{
		"30 14 * * * root fstrim /":     "27 14:30 fstrim /",
		"0 12 * * * root x":             "28 12:00 x",
		"*/20 * * * * root a b":         "27 12:20 a b",
		"5-50/15 13 * * 5 root a":       "27 13:05 a",
		"10 3 * * 0 root e2scrub":       "29 03:10 e2scrub",
		"10 3 * * 7 root e2scrub":       "29 03:10 e2scrub",
		"57 0 1-7 * * root checkarray":  "01 00:57 checkarray",
		"0 0 3 * 6 root either":         "28 00:00 either",
		"@daily root updatedb":          "28 00:00 updatedb",
		"@reboot root x":                "",
		"MAILTO=root":                   "",
		"# 30 14 * * * root fstrim /":   "",
		"61 * * * * root x":             "",
		"0 0 * jan * root names":        "",
		"0 0 30 2 * root never":         "",
		"*/0 * * * * root no-step":      "",
		"0 0 * * * root":                "",
		"30-10 1 * * * root no minutes": "",
	} {
		got := ""
		if s, command, ok := parseCron(line); ok {
			if at, ok := s.first(friday, friday.AddDate(0, 0, 7)); ok {
				got = at.Format("02 15:04 ") + command
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Jobs of cron are found if it runs; those that leave their work to systemd are left out.
func TestCronJobs(t *testing.T) {
	root := plant(t, map[string]string{
		"etc/cron.d/e2scrub_all": "30 3 * * * root test -e /run/systemd/system || e2scrub_all_cron\n",
		"etc/cron.d/mdadm":       "57 0 * * * root if [ -x /usr/share/mdadm/checkarray ]; then checkarray --all; fi\n",
		"etc/cron.d/mail":        "1 0 * * * root sendmail\n",
		"proc/7/comm":            "cron\n",
	})
	now := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	names := func(systemd bool) string {
		var out []string
		for _, j := range due(cronJobs(root, systemd, now, now.Add(24*time.Hour)), now, now.Add(24*time.Hour)) {
			out = append(out, j.Name+" "+j.At.Format("15:04"))
		}
		return strings.Join(out, ", ")
	}
	if got, want := names(false), "/etc/cron.d/mdadm 00:57, /etc/cron.d/e2scrub_all 03:30"; got != want {
		t.Errorf("%s", got)
	}
	if got, want := names(true), "/etc/cron.d/mdadm 00:57"; got != want {
		t.Errorf("with systemd: %s", got)
	}
	if !cronRuns(filepath.Join(root, "proc")) || cronRuns(filepath.Join(root, "etc")) {
		t.Error("a daemon of cron")
	}
}
