package plan

import (
	"slices"
	"strings"
	"testing"
)

func TestFleet(t *testing.T) {
	p := load(t, `workload: ibench
targets: [pebble]
machines: [{name: "c[08-10]", ssh: "me@c[08-10].lan", dir: /data}, {name: big, ssh: big}]
spread: {over: ["c[08-09]", big], mixed: true}
fleet: {retries: 0}
`)
	want := []Host{{"c08", "me@c08.lan", "/data"}, {"c09", "me@c09.lan", "/data"}, {"big", "big", ""}}
	if got := p.Fleet.Spread(); !slices.Equal(got, want) || len(p.Fleet.Machines) != 4 || !p.Fleet.Mixed || p.Fleet.Retries != 0 {
		t.Errorf("%+v", p.Fleet)
	}
	if p := load(t, "workload: ibench\ntargets: [pebble]\n"); p.Fleet.Any() {
		t.Errorf("%+v", p.Fleet)
	}
}

func TestFleetIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"machines: [{name: a, ssh: a}]":                                                    "nothing says what the machines are for",
		"spread: {over: [a]}":                                                              "no machines to spread",
		"machines: [{name: a, ssh: a}]\nspread: {over: [b]}":                               `no machine "b"`,
		"machines: [{name: a, ssh: a}]\nspread: {over: [a, a]}":                            "given twice",
		"machines: [{name: a, ssh: a}]\nspread: {mixed: true}":                             "does not say over which",
		"machines: [{name: a, ssh: a}, {name: a, ssh: b}]\nspread: {over: [a]}":            "two machines are called a",
		"machines: [{name: 'a[1-2]', ssh: b}]\nspread: {over: [a1]}":                       "2 names for 1 address",
		"machines: [{name: 'a[2-1]', ssh: 'b[2-1]'}]\nspread: {over: [a1]}":                "no range",
		"machines: [{name: 'a[1-9999999]', ssh: 'b[1-9999999]'}]\nspread: {over: [a1]}":    "no range",
		"machines: [{name: a/b, ssh: b}]\nspread: {over: [a]}":                             "not a name of a machine",
		"machines: [{name: a, ssh: -oProxyCommand=x}]\nspread: {over: [a]}":                "no destination of ssh",
		"machines: [{name: a, ssh: a, dir: data}]\nspread: {over: [a]}":                    "not an absolute path",
		"machines: [{name: a, ssh: a}]\nspread: {over: [a]}\norder: sequential":            "do not form blocks",
		"machines_file: nowhere.yaml\nspread: {over: [a]}":                                 "machines_file",
		"machines: [{name: a, ssh: a}]\nmachines_file: fleet_test.go\nspread: {over: [a]}": "machines already",
		"machines: [{name: a, ssh: a}]\nspread: {over: [a]}\nfleet: {retries: -1}":         "retries",
		"machines: [{name: a, ssh: a, port: 22}]\nspread: {over: [a]}":                     "port",
	} {
		_, err := Load("p.yaml", []byte("workload: ibench\ntargets: [pebble]\n"+text+"\n"), nil, fakes())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
