package observe

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func TestLabels(t *testing.T) {
	for _, test := range []struct {
		text string
		want Labels
	}{
		{``, nil},
		{`dev="vda"`, Labels{{"dev", "vda"}}},
		{`database="a",table="b"`, Labels{{"database", "a"}, {"table", "b"}}},
		{`database="",table=""`, Labels{{"database", ""}, {"table", ""}}},
		{`table="a,b=c",x="{}"`, Labels{{"table", "a,b=c"}, {"x", "{}"}}},
		{`table="say "hi"",x="1"`, Labels{{"table", `say "hi"`}, {"x", "1"}}},
		{`table="a", b="c"`, Labels{{"table", `a", b="c`}}},
	} {
		got := ParseLabels(test.text)
		expect.List(t, got, test.want, test.text)
		expect.Equal(t, got.String(), test.text, got)
	}
	l := ParseLabels(`b="1",d="2"`)
	expect.Equal(t, l.With("a", "0").With("c", "x").With("b", "y").With("e", "z").String(), `a="0",b="y",c="x",d="2",e="z"`)
	expect.True(t, l.String() == `b="1",d="2"` && l.Get("d") == "2" && l.Get("x") == "", l)
	for _, text := range []string{`x`, `x="`, `x="y`, `="`} { // malformed
		ParseLabels(text)
	}
}

func TestLabelled(t *testing.T) {
	broken := errors.New("broken")
	var err error
	n := 0
	c := NewLabelled(fake{"engine", func(_ context.Context, s *engine.Sample) error {
		s.Counter("engine.rows", "count", 1)
		s.Counter("engine.reads", "count", 2, "table", fmt.Sprint("t", n))
		s.Counter("engine.reads", "count", 3, "database", "d", "table", "t")
		n++
		return err
	}}, "my/engine", "target", "my", "role", "primary")
	expect.Equal(t, c.Name(), "my/engine")
	for i := range 1000 {
		s := engine.Sample{Points: []engine.Point{{Name: "other", Labels: `a="b"`}}}
		expect.NoError(t, c.Collect(t.Context(), &s))
		want := []string{
			`other{a="b"}`,
			`engine.rows{role="primary",target="my"}`,
			fmt.Sprintf(`engine.reads{role="primary",table="t%d",target="my"}`, i),
			`engine.reads{database="d",role="primary",table="t",target="my"}`,
		}
		for k, p := range s.Points {
			expect.Equal(t, p.Key(), want[k])
		}
	}
	expect.True(t, len(c.merged) <= 200, "labels are remembered", len(c.merged))
	err = broken
	got := c.Collect(t.Context(), &engine.Sample{})
	expect.True(t, errors.Is(got, broken), got)
}
