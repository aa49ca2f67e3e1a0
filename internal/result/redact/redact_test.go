package redact_test

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/result/redact"
)

// Who and where is found in each of the forms in which it is written, and replaced wherever else it is.
func TestForms(t *testing.T) {
	for form, names := range map[string]string{
		"postgres://otto@gustav:5432,emil:5433,[fd00::17]/db":              "otto gustav emil fd00::17",
		"Postgres://Otto@Gustav/db":                                        "Otto Gustav",
		"host=gustav,emil user=otto dbname=x":                              "gustav emil otto",
		"jdbc:sqlserver://gustav:1433;databaseName=x;user=otto;password=y": "gustav otto",
		"Server=tcp:x;Uid=otto;Hostname=gustav":                            "otto gustav",
		"PGHOST=gustav PGUSER=otto psql -c x":                              "gustav otto",
		"echo mysql -h gustav -u otto -e x":                                "gustav otto",
		"mysqldump -hgustav -uotto x":                                      "gustav otto",
		"psql -U otto -h gustav":                                           "gustav otto",
		"sysbench --mysql-host=gustav --mysql-user=otto run":               "gustav otto",
		"mongosh --host gustav --username otto":                            "gustav otto",
		"ssh -p 22 otto@gustav uptime":                                     "gustav otto",
		`password authentication failed for user "otto"`:                   "otto",
		"Access denied for user 'otto'@'gustav'":                           "otto gustav",
		`no pg_hba.conf entry for host "10.1.2.3", user "otto"`:            "otto 10.1.2.3",
		"could not translate host name \"gustav\" to address":              "gustav",
		"dial tcp: lookup gustav on 10.0.0.2:53: no such host":             "gustav 10.0.0.2",
		"dial tcp gustav:5432: refused":                                    "gustav",
		"http://gustav.lan:9090/metrics":                                   "gustav",
		"http://gustav.lan/metrics":                                        "gustav",
		"rsync -a x otto@gustav:/y":                                        "otto gustav",
		`connection to server at "gustav" (10.0.0.2), port 5432 failed`:    "gustav 10.0.0.2",
		"10.0.0.2:5432 (gustav): dial error":                               "gustav",
		"Can't connect to MySQL server on 'gustav:3306'":                   "gustav",
		"gustav:5432: connection refused":                                  "gustav",
		"listening on ::77":                                                "::77",
		"disk 0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f":                        "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f",
	} {
		text := redact.Copy([]string{form, "told of " + names + "."})
		for _, name := range strings.Fields(names) {
			for _, s := range text {
				expect.Lacks(t, s, name, form)
			}
		}
	}
	for _, plan := range []string{"fleet: {machines: [{name: a, ssh: otto@gustav}]}", "fleet:\n  address: gustav:7777\n  user: otto\n"} {
		for _, s := range redact.Copy([]string{plan, "told of otto and gustav."}, plan) {
			expect.True(t, !strings.Contains(s, "otto") && !strings.Contains(s, "gustav"), plan, s)
		}
	}
}

// Words of prose, settings, metrics and publications are no names.
func TestWordsStay(t *testing.T) {
	text := []string{"point lookup rows are cached; one more lookup than: service times; multi-user response times; the per-host cache",
		"rows_per_s service_p99_us server_memory_bytes", "log_hostname = off; fsync = off; is_superuser=true, fsync = true",
		"https://a.example,https://b.example and https://example.org: an example"}
	plan := "name: memory\n"
	for i, out := range redact.Copy(text, plan) {
		expect.Equal(t, out, text[i])
	}
}

// A host is one, by its full name and by its short one; words and numbers stay.
func TestShortName(t *testing.T) {
	in := result.Trial{Host: observe.Facts{{Name: "hostname", Value: "gustav.corp.example"}}, Reason: "gustav is slow; step at user=0.5 of 100, see https://example.org/x"}
	out := redact.Copy(&in)
	expect.Equal(t, out.Reason, "host-1 is slow; step at user=0.5 of 100, see https://example.org/x")
}
