package engine

import "testing"

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		a    Address
		want string
	}{
		{Address{"me", "tcp", "db-1.example:3306", "test"}, "me@tcp(db-1.example:3306)/test"},
		{Address{"", "unix", "/run/mysqld/mysqld.sock", ""}, "unix(/run/mysqld/mysqld.sock)/"},
		{Address{"me", "tcp", "[::1]:5432", "x"}, "me@tcp([::1]:5432)/x"},
		{Address{"me@word", "tcp", "h word", "db password=word"}, "***@tcp(***)/***"},
		{Address{"me", "word", "h", ""}, "me@***(h)/"},
	} {
		got := c.a.String()
		if got != c.want {
			t.Errorf("%+v is shown as %s, want %s", c.a, got, c.want)
		}
		if again := ShownDSN(got); c.a.Network != "word" && again != got {
			t.Errorf("%s is read as %s", got, again)
		}
	}
	for _, text := range []string{"bench:secret@tcp/", "root:pw@unix(/a)/", "postgres://me:***@h/", "host=h password=x", "me@tcp(h)/?password=x"} {
		if got := ShownDSN(text); got != Hidden {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	if got := ShownDSN("root:***@unix(/run/a.sock)/"); got == Hidden {
		t.Error("what older builds wrote is hidden")
	}
}
