package declared

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

// A file is a workload with the tables that the SQL names, and its name.
func TestFromPgbench(t *testing.T) {
	const script = `-- a comment; \set no 1
\set aid random(1, 100000 * :scale)
\set z random_zipfian(1, 100000 * :scale, 1.1)
\set y random_zipfian(0, 9, 1.2)
\set x random_zipfian(2, \
  5 + :scale, 2)
\set n (4 + :aid) % 3
BEGIN ISOLATION LEVEL REPEATABLE READ; UPDATE pgbench_accounts /* a ; comment
  of two lines */ SET abalance = :n -- ; :neither
  WHERE aid = :z AND '--;' <> ':no';
SELECT 'it''s', "x\y" FROM pgbench_accounts a, "pgbench_tellers" AS b WHERE aid = :x;
END;
`
	out, err := FromPgbench("scripts/two-tables.sql", []byte(script))
	expect.NoError(t, err)
	text := string(out)
	for _, want := range []string{
		"name: two-tables\n", "    transaction: repeatable-read\n",
		"      aid: {uniform: [1, 100000 * scale]}\n",
		"      z_rank: {zipf: {over: 100000 * scale, theta: 1.1}}\n      z: z_rank + 1\n",
		"      y: {zipf: {over: 10, theta: 1.2}}\n",
		"      x_rank: {zipf: {over: 5 + scale - 1, theta: 2}}\n      x: x_rank + 2\n",
		"      n: (4 + aid) % 3\n",
		`      - sql: {postgres: "UPDATE pgbench_accounts SET abalance = :n WHERE aid = :z AND '--;' <> ':no'"}` + "\n",
		`      - sql: {postgres: 'SELECT ''it''''s'', "x\y" FROM pgbench_accounts a, "pgbench_tellers" AS b WHERE aid = :x'}` + "\n",
		"  pgbench_accounts:\n", "  pgbench_tellers:\n", "  - {load: pgbench_tellers, rows: scale * 10}\n",
	} {
		expect.True(t, strings.Contains(text, want), "the file lacks", want)
	}
	for _, no := range []string{"pgbench_branches", "pgbench_history", `\\`} {
		expect.True(t, !strings.Contains(text, no), "the file has", no)
	}
	if t.Failed() {
		t.Log(text)
	}
}

// What comes out can be read, also without what only other scripts need, and whatever
// names, repetitions and numbers are in the script.
func TestFromPgbenchReads(t *testing.T) {
	for _, script := range []string{
		"\\set aid random(1, 100)\n\\set aid :aid + 1\nSELECT aid, abalance FROM pgbench_accounts WHERE aid = :aid",
		"\\set seconds random(1, 9)\n\\set check 5\n\\set scale 2\nUPDATE pgbench_tellers SET tbalance = :seconds + :check * :scale",
		"\\set a_rank 1\n\\set a random_zipfian(1, 100, 1.1)\nDELETE FROM pgbench_history WHERE aid = :a AND tid = :a_rank",
		"SELECT coalesce(abalance, 0), 'a, b', count(*) FROM pgbench_accounts;\nSELECT abalance, abalance FROM PGBENCH_ACCOUNTS;",
		"SELECT 1, * FROM pgbench_branches",
		"\\set low -5\n\\set high (10 * :low + 70) % 100\n\\set x random(:low, :high)\nSELECT bid FROM pgbench_branches WHERE bid = :x;",
		"UPDATE pgbench_accounts SET filler = 'it''s \"quoted\" \\ and\nlong: #1 {x} [y] & *z' WHERE aid = 1::int;",
		"\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid",
		"INSERT INTO pgbench_history (tid, bid, aid, delta) VALUES (1, 2, 3, 4);",
	} {
		for _, file := range []string{"a.sql", "2026.sql", "true", "a: b #c.sql", "é \"x\" 'y'.sql"} {
			out, err := FromPgbench(file, []byte(script))
			if err != nil {
				t.Errorf("%s: %q: %v\n%s", file, script, err, out)
				continue
			}
			newRun(t, readTest(t, "a.yaml", out), "", nil)
		}
	}
}

// A script that is not yet a workload gives a draft, and the reasons.
func TestFromPgbenchDraft(t *testing.T) {
	for script, want := range map[string]string{
		"SELECT state FROM orders;":                                        "1:1 the SQL names none of pgbench's tables, and those that it names are unknown",
		"\\set x random(9, 1)\nDELETE FROM pgbench_tellers WHERE tid = :x": "",
	} {
		out, err := FromPgbench("a.sql", []byte(script))
		problems, _ := errors.AsType[hint.Problems](err)
		if got := placed(problems); len(out) == 0 || len(problems) == 0 || want != "" && got != want {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}

// Mistakes are reported all at once, where they are.
func TestFromPgbenchWrong(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"", "1:1 the script has no statement"},
		{"SELECT 1;\n\\if 1\n\\sleep 1 ms", `2:1 \if cannot be a part of a workload, 3:1 \sleep cannot be a part of a workload`},
		{"SELECT 1 AS a \\gset", `1:15 \gset cannot be a part of a workload`},
		{"SELECT :client_id;\n", "1:8 variable client_id is built into pgbench, and a workload has none"},
		{"  \\set y 4 + :no\nSELECT :y,\n  ':quoted', :nor\n\n", "1:14 variable no is not set before, 3:14 variable nor is not set before"},
		{"\\set a random(1, 2, 3)\nSELECT 1;", "1:1 wrong number of arguments"},
		{"\\set a random_gaussian(1, 2, 3)\n\\set b :a / 2\nSELECT 1;", `1:1 "random_gaussian(1, 2, 3)" cannot be a part of a workload, 2:1 ":a / 2" cannot be a part of a workload`},
		{"BEGIN;\nSELECT 1;", "1:1 the transaction is not ended"},
		{"SELECT 1;\nEND;", "2:1 no transaction has begun"},
		{"SELECT 1;\nBEGIN;\nSELECT 2;\nCOMMIT;", "1:1 the statement is outside of the transaction"},
		{"BEGIN;\nSELECT 1;\nEND; BEGIN;\nEND;", "3:6 there is a second transaction"},
		{"SAVEPOINT a;\nSELECT 1;\nBEGIN READ ONLY;", "1:1 SAVEPOINT a cannot be a part of a workload, 3:1 BEGIN READ ONLY cannot be a part of a workload"},
		{"BEGIN;\nSELECT 1;\nROLLBACK;\nEND;", "3:1 a transaction that is rolled back cannot be a part of a workload"},
		{"BEGIN ISOLATION LEVEL CHAOS;\nSELECT 1;\nEND;", "1:1 isolation level CHAOS cannot be a part of a workload"},
	} {
		_, err := FromPgbench("a.sql", []byte(c.script))
		problems, _ := errors.AsType[hint.Problems](err)
		expect.Equal(t, placed(problems), c.want, c.script)
	}
}

func placed(problems hint.Problems) string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%d:%d %s", p.Line, p.Column, p.Reason))
	}
	return strings.Join(out, ", ")
}
