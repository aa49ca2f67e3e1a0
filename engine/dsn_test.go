package engine_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/text/escape"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		a    engine.Address
		want string
	}{
		{engine.Address{"me", "tcp", "db-1.example:3306", "test"}, "me@tcp(db-1.example:3306)/test"},
		{engine.Address{"", "unix", "/run/mysqld/mysqld.sock", ""}, "unix(/run/mysqld/mysqld.sock)/"},
		{engine.Address{"me", "tcp", "[::1]:5432", "x"}, "me@tcp([::1]:5432)/x"},
		{engine.Address{"me@word", "tcp", "h word", "db password=word"}, "***@tcp(***)/***"},
		{engine.Address{"me", "word", "h", ""}, "me@***(h)/"},
	} {
		got := c.a.String()
		expect.Equal(t, got, c.want, c.a, "is shown as")
		if again := engine.ShownDSN(got); c.a.Network != "word" && again != got {
			t.Errorf("%s is read as %s", got, again)
		}
	}
	for _, text := range []string{"bench:secret@tcp/", "root:pw@unix(/a)/", "postgres://me:***@h/", "host=h password=x", "me@tcp(h)/?password=x"} {
		expect.Equal(t, engine.ShownDSN(text), escape.Hidden, text, "is shown as")
	}
}
