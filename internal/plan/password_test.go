package plan

import "testing"

func TestWithoutPasswords(t *testing.T) {
	for in, want := range map[string]string{
		"root:geheim@unix(/run/mysqld/mysqld.sock)/":           "root:***@unix(/run/mysqld/mysqld.sock)/",
		"root:ge:h@im@tcp(10.0.0.1:3306)/test":                 "root:***@tcp(10.0.0.1:3306)/test",
		"root@unix(/a/b:c)/":                                   "root@unix(/a/b:c)/",
		"root:geheim@/":                                        "root:***@/",
		"postgres://me:geheim@host:5432/db?sslmode=disable":    "postgres://me:***@host:5432/db?sslmode=disable",
		"postgresql://me@host/db":                              "postgresql://me@host/db",
		"host=/tmp user=me password=geheim dbname=x":           "host=/tmp user=me password=*** dbname=x",
		"host=/tmp password='ge heim' dbname=x":                "host=/tmp password=*** dbname=x",
		`targets: [{engine: mysql, dsn: "root:pw@tcp(h:1)/"}]`: `targets: [{engine: mysql, dsn: "root:***@tcp(h:1)/"}]`,
		"params: {rows: 2M} # see http://example.org/x@y":      "params: {rows: 2M} # see http://example.org/x@y",
		"mail: somebody@example.org":                           "mail: somebody@example.org",
	} {
		if got := WithoutPasswords(in); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}
