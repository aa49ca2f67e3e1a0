package cli

import (
	"strings"
	"testing"
)

// Passwords of the usual clients are not stored with the command.
func TestShownCommand(t *testing.T) {
	for command, want := range map[string]string{
		"sysbench oltp_read_only --threads=4 run":            "sysbench oltp_read_only --threads=4 run",
		"sysbench --mysql-user=me --mysql-password=word run": "sysbench --mysql-user=me --mysql-*** run",
		"mysql -u me -pword db":                              "mysql -u me -p*** db",
		"app --password word --size 3":                       "app --*** *** --size 3",
		"env PGPASSWORD=word pgbench -c 4":                   "env PG*** pgbench -c 4",
		"load postgres://me:word@db/x":                       "load ***",
	} {
		got := strings.Join(shownCommand(strings.Fields(command)), " ")
		if got != want || strings.Contains(got, "word") {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
