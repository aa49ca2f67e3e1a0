package secret_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/secret"
)

// In all tests the secret begins with "geheim", and its parts are "wort".
func clean(t *testing.T, subject, text string) {
	t.Helper()
	expect.Lacks(t, text, "geheim", "the secret is in", subject)
	expect.Lacks(t, text, "wort", "the secret is in", subject)
}

func TestHide(t *testing.T) {
	for text, want := range map[string]string{
		"nothing to hide: 5 of 12:30:00":                  "nothing to hide: 5 of 12:30:00",
		"postgres://me:geheim wort@db/x?sslmode=off":      "postgres://me:***@db/x?sslmode=off",
		"mongodb://me:geheim@y/wort@h:1/ and more":        "mongodb://me:***@h:1/ and more",
		"redis://:geheim@h and http://h:80/":              "redis://:***@h and http://h:80/",
		"dial me:geheim wort@tcp(h:1)/db failed":          "dial me:***@tcp(h:1)/db failed",
		"me:geheim@unix(/run/s)/":                         "me:***@unix(/run/s)/",
		"bench:geheim@127.0.0.1:3301":                     "bench:***@127.0.0.1:3301",
		"bench:geheim@unix/:/run/t.sock":                  "bench:***@unix/:/run/t.sock",
		"bench@geheim@127.0.0.1:3301":                     "bench@***@127.0.0.1:3301",
		"me@tcp(h)/?password=geheim":                      "me@tcp(h)/?password=***",
		"host=h user=me password = 'geheim \\' wort' x=1": "host=h user=me password = *** x=1",
		`{"api_key": "geheim wort", "rows": 5}`:           `{"api_key": *** "rows": 5}`,
		"Authorization: Bearer geheim":                    "Authorization: ***",
		`{"authorization": "Basic geheim", "rows": 5}`:    `{"authorization": *** "rows": 5}`,
		"me:/geheim@tcp(h:1)/ and https://geheim@h/x":     "me:***@tcp(h:1)/ and https://***@h/x",
		"DB_PW=geheim REDISCLI_AUTH=geheim compat=1":      "DB_PW=*** REDISCLI_AUTH=*** compat=1",
		"PGPASSWORD=geheim\\ wort psql":                   "PGPASSWORD=*** psql",
		"MYSQL_PWD=geheim":                                "MYSQL_PWD=***",
		"CREATE USER u IDENTIFIED BY 'geheim wort'":       "CREATE USER u IDENTIFIED BY ***",
		"ALTER ROLE me PASSWORD 'geheim wort'":            "ALTER ROLE me PASSWORD ***",
		"dbpass=geheim passage=1":                         "dbpass=*** passage=1",
		// How a name is written, and what MySQL says of a password, are no secrets; they protect none.
		"p.yaml:3:5: it is written USER:PASSWORD@tcp(HOST:PORT)/ or so": "p.yaml:3:5: it is written USER:PASSWORD@tcp(HOST:PORT)/ or so",
		"as postgres://USER:PASSWORD@HOST:PORT/DATABASE":                "as postgres://USER:PASSWORD@HOST:PORT/DATABASE",
		"or user=USER password=PASSWORD dbname=DATABASE":                "or user=USER password=PASSWORD dbname=DATABASE",
		"denied for 'me'@'h' (using password: YES)":                     "denied for 'me'@'h' (using password: YES)",
		"denied (using password: NO), password: geheim":                 "denied (using password: NO), password: ***",
		"USER:geheim@HOST:PORT, USER:PASSWORD@h":                        "USER:***@HOST:PORT, USER:***@h",
		"me:geheim USER:PASSWORD@HOST:PORT wort@tcp(h)/":                "me:***@tcp(h)/",
		"USER:PASSWORD@geheim@tcp(h)/":                                  "USER:***@tcp(h)/",
		"me:USER:PASSWORD@tcp(h)/":                                      "me:***@tcp(h)/",
		"pw=(using password: YES)geheim":                                "pw=***",
		"user=USER password=PASSWORDgeheim dbname=DATABASE":             "user=USER password=*** dbname=DATABASE",
	} {
		got := secret.Hide(text)
		expect.Equal(t, got, want, text)
		expect.Equal(t, secret.Hide(got), got, "becomes")
	}
}

// The commands of other programs, as they are recorded.
func TestProgram(t *testing.T) {
	for _, c := range [][2][]string{
		{{"sysbench", "oltp_read_only", "--threads=4", "run"}, {"sysbench", "oltp_read_only", "--threads=4", "run"}},
		{{"sysbench", "--mysql-user=me", "--mysql-password=geheim wort", "run"}, {"sysbench", "--mysql-user=me", "--mysql-password=***", "run"}},
		{{"sysbench", "--mysql-password='geheim wort'"}, {"sysbench", "--mysql-password=***"}},
		{{"mysql", "-u", "me", "-pgeheim wort", "db"}, {"mysql", "-u", "me", "-p***", "db"}},
		{{"mongosh", "-p", "geheim", "db"}, {"mongosh", "-p", "***", "db"}},
		{{"pgbench", "-p", "5432", "-h", "db:5432"}, {"pgbench", "-p", "5432", "-h", "db:5432"}},
		{{"app", "--password", "geheim wort", "--size", "3"}, {"app", "--password", "***", "--size", "3"}},
		{{"app", "--pass", "geheim", "--token=geheim", "--api-key", "geheim"}, {"app", "--pass", "***", "--token=***", "--api-key", "***"}},
		{{"app", "me:geheim wort", "-u", "me:12345", "--user=me:geheim wort", "--auth=me:geheim wort"}, {"app", "me:***", "-u", "me:***", "--user=me:***", "--auth=***"}},
		{{"env", "PGPASSWORD=geheim wort", "pgbench"}, {"env", "PGPASSWORD=***", "pgbench"}},
		{{"load", "postgres://me:geheim wort@db/x"}, {"load", "postgres://me:***@db/x"}},
		{{"tt", "connect", "u@geheim@host:3301"}, {"tt", "connect", "u@***@host:3301"}},
		{{"sh", "-c", "MYSQL_PWD='geheim wort' mysql -p\"geheim wort\" -P 3306; curl -u me:geheim http://h:80/"},
			{"sh", "-c", "MYSQL_PWD=*** mysql -p*** -P 3306; curl -u me:*** http://h:80/"}},
		{{"sh", "-c", "app --pass 'geheim wort' \"me:geheim wort\" --mysql-password=geheim\\ wort"},
			{"sh", "-c", "app --pass *** \"me:***\" --mysql-password=***"}},
		{{"/bin/redis-cli", "-n", "1", "-a", "geheim", "-a1"}, {"/bin/redis-cli", "-n", "1", "-a", "***", "-a1"}},
		{{"ls", "-a", "x"}, {"ls", "-a", "x"}},
		{{"app", "--pw=geheim wort", "-pw", "geheim", "--auth", "geheim", "me/geheim@db"},
			{"app", "--pw=***", "-p***", "***", "--auth", "***", "me/***@db"}},
		{{"sh", "-c", "ls -a x; memtier_benchmark -p 1 -a geheim -n 2; sqlcmd -P 'geheim wort'; mysql --password $(cat geheim)"},
			{"sh", "-c", "ls -a x; memtier_benchmark -p 1 -a *** -n 2; sqlcmd -P *** mysql --password ***"}},
		{{"sh", "-c", "app --token 'geheim wort"}, {"sh", "-c", "app --token ***"}},
	} {
		got := secret.Program(c[0])
		expect.List(t, got, c[1], c[0])
		expect.List(t, secret.Program(got), got, "becomes")
	}
}

// A command is stored and shown without its secrets, whoever stores it.
func TestCommand(t *testing.T) {
	c := secret.Command{"rumbench", "stat", "--attach", "db=mysql:me:geheim wort@tcp(h)/", "--attach=tarantool:u@geheim@h:1", "--set", "targets.a.dsn=x:geheim@/",
		"--set=targets=[{dsn: geheim}]", "--out", "a b", "mysql:rocksdb", "--", "app", "me:geheim", "-p", "geheim"}
	b := expect.Value(json.Marshal(struct{ Command secret.Command }{c}))(t)
	clean(t, "stored", string(b))
	want := "--set targets.a.dsn=*** --set=targets=[{dsn: *** --out a b mysql:rocksdb -- app me:*** -p ***"
	expect.True(t, strings.HasSuffix(c.String(), want), c, want)
	clean(t, "shown", c.String())
}

var errServer = errors.New("the server's")

// A server quotes what it does not understand, whole or in part.
func TestError(t *testing.T) {
	for _, dsn := range []string{
		"me:geheim wort@tcp(h)/", "me@tcp(h)/?password=geheim%20wort", "me@tcp(h)/?timeout=1s&password=geheim&x=1", "postgres://me:geheim%40wort@h/db",
		"host=h password='geheim wort'", "me@geheim@h:1", "mongodb://me:geheim@h/?authSource=admin",
	} {
		for _, text := range []string{"near 'geheim wort' at line 1", "near 'geheim", "SET password=geheim", "geheim geheim", "geheim@wort"} {
			if strings.Contains(text, "wort") && !strings.Contains(dsn, "wort") {
				continue
			}
			err := secret.Error(fmt.Errorf("connect: %w: %s", errServer, text), dsn)
			clean(t, dsn, err.Error())
			expect.True(t, errors.Is(err, errServer), "is another error", err)
		}
	}
	const short = "me:pw@tcp(h)/"
	expect.Equal(t, secret.Error(errors.New("pw: 'pw' pw pwd of h"), short).Error(), "***: '***' *** pwd of h")
	got := secret.Error(errServer, short)
	expect.True(t, got == errServer && secret.Error(nil, short) == nil, got)
}
