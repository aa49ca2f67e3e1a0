package watch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
)

// some is a frame with two devices, one of which rests, and some other series.
func some() *Frame {
	counter := func(name, labels, unit string, total, delta float64) Row {
		return Row{Point: engine.Point{Name: name, Labels: labels, Kind: engine.Counter, Unit: unit, Value: total}, Known: true, Delta: delta, Rate: delta / 2}
	}
	at := time.Date(2026, 5, 17, 12, 0, 2, 125e6, time.UTC)
	fell := counter("device.flushes", `dev="sda"`, "count", 3, 0)
	fell.Known, fell.Reset = false, true
	return &Frame{Number: 7, Time: at, Sources: []Source{
		{Name: "host", Time: at, Elapsed: 2 * time.Second, Took: time.Millisecond, Rows: []Row{
			counter("host.context_switches", "", "count", 1e6, 3000),
			{Point: engine.Point{Name: "host.memory.dirty_bytes", Kind: engine.Gauge, Unit: "bytes", Value: 4096}, Known: true},
		}},
		{Name: "device", Time: at.Add(time.Millisecond), Elapsed: 2 * time.Second, Took: 200 * time.Microsecond, Rows: []Row{
			counter("device.reads", `dev="nvme0n1"`, "count", 1000, 400),
			counter("device.reads", `dev="sda"`, "count", 10, 0),
			counter("device.read_ns", `dev="nvme0n1"`, "ns", 9e9, 1e8),
			counter("device.read_ns", `dev="sda"`, "ns", 1e9, 0),
			counter("device.write_bytes", `dev="nvme0n1"`, "bytes", 1e9, 8192),
			counter("device.write_bytes", `dev="sda"`, "bytes", 1e8, 2048),
			fell,
		}},
		{Name: "my/engine", Time: at, Elapsed: 2 * time.Second, Rows: []Row{
			counter("fake.reads", `table="t \"1\", x=\"y",target="my"`, "count", 5, 2),
			counter("fake.new", `target="my"`, "count", 5, 0),
		}},
		{Name: "other/engine", Time: at, Err: errors.New("connection\nrefused")},
	}}
}

func TestExpressions(t *testing.T) {
	f := some()
	f.Sources[2].Rows[1].Known = false // it has just appeared
	for _, test := range []struct{ text, want string }{
		{`1 + 2 * 3`, "7"},
		{`(1 + 2) * -3`, "-9"},
		{`1.5e3 / 4`, "375"},
		{`rate("host.context_switches")`, "1500"},
		{`delta('host.context_switches')`, "3000"},
		{`value("host.context_switches")`, "1000000"},
		{`value("host.memory.dirty_bytes") / 1024`, "4"},
		{`rate("host.memory.dirty_bytes")`, ""},
		{`rate("device.reads")`, `dev="nvme0n1" 200, dev="sda" 0`},
		{`rate("device.reads{dev=sda}")`, `dev="sda" 0`},
		{"rate('device.reads{dev=~\"nvme.*\"}')", `dev="nvme0n1" 200`},
		{"rate(`device.reads{dev=~\"nvme\"}`)", ""}, // the whole value has to match
		{`rate("device.reads{dev!~'nvme.*'}")`, `dev="sda" 0`},
		{`rate("device.reads{dev!=sda, dev=~'.*'}")`, `dev="nvme0n1" 200`},
		{`rate("device.reads{nothing=''}")`, `dev="nvme0n1" 200, dev="sda" 0`},
		{`sum(rate("device.write_bytes"))`, "5120"},
		{`avg(rate("device.write_bytes"))`, "2560"},
		{`min(rate("device.write_bytes"), 3000)`, "1024"},
		{`max(rate("device.write_bytes"), 3000)`, "4096"},
		{`sum(rate("device.*_bytes{dev=sda}"), rate("host.c*"), 1)`, "2525"},
		{`rate("device.write_???{dev=sda}")`, ""},
		{`rate("device.write_?????{dev=sda}")`, `dev="sda",series="device.write_bytes" 1024`},
		{`rate("device.write_bytes") / sum(rate("device.write_bytes"))`, `dev="nvme0n1" 0.8, dev="sda" 0.2`},
		{`100 - rate("device.write_bytes{dev=sda}")`, `dev="sda" -924`},
		// Safe division: nothing was read from sda.
		{`delta("device.read_ns") / delta("device.reads") / 1e6`, `dev="nvme0n1" 0.25`},
		{`1 / 0`, ""},
		{`0 / 0`, ""},
		{`sum(1 / 0)`, ""},
		{`sum(1 / 0, 3)`, "3"},
		{`1 + rate("no.such")`, ""},
		{`rate("no.such") / 0`, ""},
		{`sum(rate("no.such"))`, ""},
		{`1e308 * 10`, ""},
		{`rate("fake.new")`, ""},
		{`value("fake.new")`, `target="my" 5`},
		{`rate("device.flushes")`, ""},
		{`rate("device.reads") / rate("fake.reads")`, ""},
		{`rate("fake.reads{target=my}") * 3`, `table="t \"1\", x=\"y",target="my" 3`},
	} {
		e, err := ParseExpression("test", "x", test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		var got []string
		values := expect.Value(e.eval(f.scope()))(t)
		for _, v := range values {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %.12g", v.labels, v.value)))
		}
		expect.Equal(t, strings.Join(got, ", "), test.want, test.text)
	}
}

func TestExpressionErrors(t *testing.T) {
	for _, test := range []struct {
		text   string
		column int
		want   string
	}{
		{``, 1, "the expression is empty"},
		{`rat("device.reads")`, 1, "there is no function rat"},
		{`1 + len("x")`, 5, "there is no function len"},
		{`1 + per_op("x")`, 5, "there is no function per_op"},
		{`1 + `, 3, "unexpected token EOF"},
		{`(1 + 2`, 6, "unexpected token EOF"},
		{`1 2`, 3, "unexpected token"},
		{`rate("device.reads"`, 19, "unexpected token EOF"},
		{`rate("device.reads)`, 20, "literal not terminated"},
		{`rate(device.reads)`, 6, `rate("device.reads")`},
		{`1 + device.reads`, 5, `rate("device.reads")`},
		{`"device.reads" * 2`, 1, "cannot use string"},
		{`rate()`, 1, "rate wants one selector, not 0 arguments"},
		{`rate("a", "b")`, 1, "rate wants one selector, not 2 arguments"},
		{`sum()`, 1, "not enough arguments to call sum"},
		{`sum("device.reads")`, 5, "cannot use string as argument (type number)"},
		{`2 ** 3`, 3, "there is no operator **"},
		{`2 % 3`, 3, "there is no operator %"},
		{`2 > 3`, 3, "there is no operator >"},
		{`not 2`, 1, "invalid operation: not"},
		{`true`, 1, "it is a bool, not a number"},
		{`[1]`, 1, "not a number"},
		{`1 > 2 ? 3 : 4`, 3, "there is no operator >"},
		{`µ + 1 + rate("")`, 1, "µ is no function"}, {`filter([1], true)`, 1, "not a number"}, {`1 + rate`, 5, "type"}, {`"x"`, 1, "not a number"}, {`rate("a" + "b")`, 10, "a selector in quotation marks"},
		{`1 + rate("")`, 11, "a selector begins with a name"},
		{`rate("device reads")`, 13, `' ' cannot be part of a name`},
		{`rate("device.reads{")`, 20, "expected the name of a label"},
		{`rate("device.reads{dev}")`, 23, "expected =, !=, =~ or !~"},
		{`rate("device.reads{dev=sda")`, 24, "the conditions end with }"},
		{`rate("device.reads{dev='sda}")`, 24, "has no end"},
		{`rate("device.reads{dev=}")`, 0, ""},
		{`rate("device.reads{dev=sda}x")`, 28, "nothing may follow"},
		{`rate("device.reads{dev=sda dev=x}")`, 0, ""},
		{`rate("device.reads{dev='a' dev='b'}")`, 28, "separated by commas"},
		{`rate("device.reads{dev=~'('}")`, 25, "missing closing )"},
	} {
		_, err := ParseExpression("test", "x", test.text)
		if test.want == "" {
			expect.NoError(t, err)
			continue
		}
		message := fmt.Sprint(err)
		if !strings.Contains(message, test.want) || hint.Of(err) == "" {
			t.Errorf("%s: %v (hint %q), want %s", test.text, err, hint.Of(err), test.want)
		} else if want := fmt.Sprintf("test, column %d: ", test.column); test.column > 0 && !strings.HasPrefix(message, want) {
			t.Errorf("%s: %s, want %s", test.text, message, want)
		}
	}
}

func TestDefinitions(t *testing.T) {
	e := expect.Value(ParseDefinition("--expr", ` my.share =  rate("device.reads{dev='sda'}") `))(t)
	expect.True(t, e.Name == "my.share" && e.Text == `rate("device.reads{dev='sda'}")`, e)
	_, err := ParseDefinition("--expr", `x = 1 + foo("a")`)
	want := "--expr x, column 5: there is no function foo\n    x = 1 + foo(\"a\")\n            ^"
	expect.True(t, err != nil && err.Error() == want, err, "want", want)
	for _, text := range []string{``, `x`, `= 1`, `1x = 1`, `x y = 1`, `rate("a{b=c}")`, `.x = 1`} {
		expect.Refused(ParseDefinition("--expr", text))(t, "name = EXPRESSION", text)
	}
	twice := []*Expression{{Name: "a"}, {Name: "b"}, {Name: "a"}}
	expect.Error(t, CheckNames(twice), "expression a")
	expect.Error(t, CheckNames([]*Expression{{Name: "device.util_percent"}}), "", "a built-in expression was replaced")
	expect.NoError(t, CheckNames(twice[:2]))
}

func TestWarnings(t *testing.T) {
	f := some()
	for _, test := range []struct{ text, want string }{
		{`rate("device.reads") / rate("device.read_ns")`, ""},
		{`rate("device.reads") / (rate("device.read_ns") - rate("device.read_ns"))`, ""},
		{`rate("device.reads{dev=sdb}")`, `expression x: device.reads{dev=sdb} matches no series yet; there is device.reads{dev="nvme0n1"}`},
		{`rate("disk.reads")`, `expression x: disk.reads matches no series yet; there is device.reads{dev="nvme0n1"}`},
		{`rate("x")`, `expression x: x matches no series yet; rumbench stat --list shows the names`},
		{`rate("host.memory.dirty_bytes")`, `expression x: host.memory.dirty_bytes is a gauge, which has no rate; use value`},
		{`1 + rate("device.reads") / rate("fake.reads")`, `expression x: at column 26, no series on the left of / has the labels of one on the right; make a number of either side with sum, avg, min or max`},
	} {
		e := expect.Value(ParseExpression("test", "x", test.text))(t)
		const failed = "other/engine: connection\nrefused\n" // the source, not the expression
		if got := strings.Join(append(Warnings(f, []*Expression{e}), ""), "\n"); strings.TrimSpace(strings.TrimPrefix(got, failed)) != test.want {
			t.Errorf("%s: %s\nwant %s", test.text, got, test.want)
		}
	}
	empty := &Frame{Sources: []Source{{Name: "device"}}}
	if got := strings.Join(Warnings(empty, nil), "\n"); !strings.HasPrefix(got, "no physical disk was found") {
		t.Error(got)
	}
	empty.Sources = append(empty.Sources, Source{Name: "device/sda"}) // chosen, and the others are none
	if got := Warnings(empty, nil); got != nil {
		t.Error(got)
	}
	if got := Warnings(&Frame{}, Builtins()); got != nil {
		t.Error(got)
	}
}

// TestBuiltins: what is built in comes out as its definition says.
func TestBuiltins(t *testing.T) {
	f := &Frame{Number: 1, Sources: []Source{{Name: "x", Elapsed: 2 * time.Second}}}
	for key, delta := range map[string]float64{
		"host.cpu.user_ns": 1e9, "host.cpu.nice_ns": 0, "host.cpu.system_ns": 4e8, "host.cpu.irq_ns": 0, "host.cpu.softirq_ns": 2e8,
		"host.cpu.iowait_ns": 3e8, "host.cpu.steal_ns": 1e8, "host.cpu.idle_ns": 2e9,
		"process.cpu_ns": 3e9, "client.cpu_ns": 1e7,
		"device.reads": 10, "device.read_ns": 5e6, "device.writes": 0, "device.write_ns": 0, "device.queue_ns": 6e9, "device.busy_ns": 1e9,
		"engine.cache_lookups": 1000, "engine.cache_misses": 50, "engine.bytes_written": 3000, "engine.bytes_taken": 1000, "engine.stall_ns": 1e8,
	} {
		f.Sources[0].Rows = append(f.Sources[0].Rows, Row{Point: engine.Point{Name: key, Kind: engine.Counter}, Known: true, Delta: delta, Rate: delta / 2})
	}
	f.derive(Builtins())
	want := map[string]float64{
		"host.cpu.busy_percent": 40, "host.cpu.user_percent": 25, "host.cpu.system_percent": 15, "host.cpu.iowait_percent": 7.5, "host.cpu.steal_percent": 2.5,
		"process.cpu_percent": 150, "client.cpu_percent": 0.5,
		"device.read_await_ms": 0.5, "device.queue_length": 3, "device.util_percent": 50,
		"engine.cache_hit_percent": 95, "engine.write_amplification": 3, "engine.stall_percent": 5,
	}
	for _, r := range f.Find(DerivedSource).Rows {
		v, ok := want[r.Name]
		expect.True(t, ok && v == r.Value && r.Unit != "", r.Name, "is", r.Value, r.Unit, "want", v)
		delete(want, r.Name)
	}
	expect.True(t, len(want) == 0, "not derived", want)
}

func TestExprFile(t *testing.T) {
	list, err := ParseExprFile("e.yaml", []byte(`# shares
read_share: rate("device.reads") / 100
total: |
  sum(rate("device.reads"),
      rate("device.writes"))
quoted: "2 * 3"
folded: >-
  1 +
  2
seven: 7
`))
	expect.NoError(t, err)
	var got []string
	for _, e := range list {
		got = append(got, e.Name+"="+e.Text)
	}
	want := `read_share=rate("device.reads") / 100;total=sum(rate("device.reads"),` + "\n" + `    rate("device.writes"));quoted=2 * 3;folded=1 + 2;seven=7`
	expect.Equal(t, strings.Join(got, ";"), want)
	for _, test := range []struct{ text, want string }{
		{"a: 1 +\n", "e.yaml:1: a, column 3: unexpected token EOF"},
		{"x: 1\nb: foo(3)\n", "e.yaml:2: b, column 1: there is no function foo"},
		{"a: [1]\n", "e.yaml:1: a is not an expression"},
		{"a:\n", "e.yaml:1: a is not an expression"},
		{"- 1\n", "e.yaml: a map of names to expressions was expected: [1:1]"},
		{"a b: 1\n", `"a b" is not a name`},
		{"a: 'x\n", "e.yaml"},
		{"a: 1\na: 2\n", "e.yaml"},
		{strings.Repeat("# comment\n", 10000), "longer than 64 KiB"},
	} {
		list, err := ParseExprFile("e.yaml", []byte(test.text))
		if err == nil {
			err = CheckNames(list)
		}
		expect.True(t, err != nil && (strings.Contains(err.Error(), test.want) || test.want == "e.yaml"),
			test.text, err, "want", test.want)
	}
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if list, err := ParseExprFile("e.yaml", []byte(text)); err != nil || len(list) > 0 {
			t.Errorf("%q: %v, %v", text, list, err)
		}
	}
}

func TestFilter(t *testing.T) {
	a := expect.Value(ParseSelector("device.*{dev=sda}"))(t)
	b := expect.Value(ParseSelector("host.memory.dirty_bytes"))(t)
	var got []string
	f := some()
	for _, r := range f.each {
		if (Filter{a, b}).Matches(r) {
			got = append(got, r.Key())
		}
	}
	want := `host.memory.dirty_bytes device.reads{dev="sda"} device.read_ns{dev="sda"} device.write_bytes{dev="sda"} device.flushes{dev="sda"}`
	expect.Equal(t, strings.Join(got, " "), want, got)
	_, err := ParseSelector("device.reads{")
	expect.True(t, err != nil && strings.Contains(err.Error(), "selector, column 14"), err)
}
