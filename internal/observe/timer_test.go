package observe

import (
	"testing"
	"time"

	"rumbench/internal/expect"
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
	expect.Same(t, []string{"apt-daily-upgrade.timer 13:00", "fstrim.timer 14:00"}, got)
	for _, wrong := range []string{"", "{}", "0 timers listed.", `[{"next":"Fri"}]`} {
		if got := parseTimers([]byte(wrong)); got != nil {
			t.Errorf("%q: %v", wrong, got)
		}
	}
}
