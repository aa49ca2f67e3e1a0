package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/model"
)

func TestFleet(t *testing.T) {
	p := load(t, `workload: ibench
targets: [pebble]
machines: [{name: "c[08-10]", ssh: "me@c[08-10].lan", dir: "/data[1-3]"}, {name: big, ssh: big}]
spread: {over: ["c[08-09]", big], mixed: true}
fleet: {retries: 0}
`)
	want := []Host{{"c08", "me@c08.lan", false, "/data1", ""}, {"c09", "me@c09.lan", false, "/data2", ""},
		{"big", "big", false, "", ""}}
	if got := p.Fleet.Used(); !slices.Equal(got, want) || len(p.Fleet.Machines) != 4 || !p.Fleet.Mixed || p.Fleet.Retries != 0 {
		t.Errorf("%+v", p.Fleet)
	}
	if p := load(t, "workload: ibench\ntargets: [pebble]\n"); p.Fleet.Any() {
		t.Errorf("%+v", p.Fleet)
	}
}

const lan = `machines: [{name: db, ssh: db, listen: 10.0.0.5}, {name: "c[1-3]", ssh: "c[1-3]"}, {name: deaf, ssh: deaf}]
`

// served are fakes with an engine that has a server.
func served() catalog {
	c := fakes()
	c.engines["served"] = fakeEngine{name: "served", caps: []model.Capability{model.CapUnique, model.CapTransactions}, servers: []string{"usual"}}
	return c
}

func loadServed(t *testing.T, text string) *Plan {
	t.Helper()
	p := expect.Value(Load("p.yaml", []byte(text), nil, served()))(t)
	return p
}

// Clients may be on other machines than their server.
func TestClientsElsewhere(t *testing.T) {
	p := loadServed(t, "workload: ibench\ntargets: [served]\n"+lan+`server_on: db
clients_on: ["c[1-2]", c3]
fleet: {lost: 5s}
`)
	want := []Cell{{"db", []string{}, []string{"c1", "c2", "c3"}}}
	if f := &p.Fleet; !reflect.DeepEqual(f.Cells, want) || !f.Divided() || f.Host("db").Listen != "10.0.0.5" || f.Lost != 5*time.Second ||
		len(f.Used()) != 4 {
		t.Errorf("%+v", p.Fleet)
	}
	p = loadServed(t, "workload: ibench\ntargets: [{engine: served, dsn: [x, y]}]\n"+lan+`server_on: [deaf, c1]
clients_on: ["c[2-3]"]
`)
	if want := "servers on deaf, c1, clients on c2, c3"; p.Fleet.Cells[0].String() != want || len(p.Fleet.Used()) != 4 {
		t.Errorf("%+v", p.Fleet)
	}
	if s := p.Targets[0].Config.Server; !slices.Equal(s.DSNs(), []string{"x", "y"}) ||
		string(p.Secrets) != "RUMBENCH_DSN_1=x\nRUMBENCH_DSN_2=y\n" || strings.Contains(string(p.Source), "[x, y]") {
		t.Errorf("%+v, %s%s", s, p.Secrets, p.Source)
	}
	p = loadServed(t, "workload: ibench\ntargets: [served]\n"+lan+`spread: {over: [{server_on: db}, deaf, {server_on: c3}]}
`)
	if want := []string{"db", "deaf", "c3"}; !slices.Equal(p.Fleet.Names(), want) || p.Fleet.Lost != 3*time.Second {
		t.Errorf("%+v", p.Fleet)
	}
	for text, want := range map[string]string{
		"server_on: db\nclients_on: [db]":                                              "given twice",
		"server_on: deaf\nclients_on: [c1]":                                            "nothing says where clients on other machines reach a server on deaf",
		"clients_on: [c1]":                                                             "nothing says on which machine the server is",
		"spread: {over: [{server_on: db, clients_on: [c1]}, c2]}":                      "their trials cannot be compared",
		"server_on: [db, c1]\nclients_on: [c2]":                                        "rumbench starts no cluster",
		"server_on: [db, c1]":                                                          "the clients of a cluster",
		"server_on: [db, db]\nclients_on: [c2]":                                        "given twice",
		"server_on: []\nclients_on: [c2]":                                              "server_on is a machine",
		"targets: [{engine: served, dsn: x}]\nserver_on: [db, c1]\nclients_on: [c2]":   "2 machines of servers, and its dsn has 1",
		"until: steady\nserver_on: db\nclients_on: [c1]":                               "its own rate is steady",
		"server_on: db\nclients_on: [c9]":                                              `no machine "c9"`,
		"server_on: db\nclients_on: [c1]\nspread: {over: [c2]}":                        "spread says what all machines are for",
		"spread: {over: [{server_on: db, clients_on: [c1]}, c1]}":                      "given twice",
		"spread: {over: [{clients_on: [c1]}]}":                                         "server_on",
		"server_on: db\nclients_on: [c1]\norder: duet":                                 "do not form blocks",
		"targets: [sqlite]\nserver_on: db\nclients_on: [c1]":                           "runs in the process of its clients",
		"workload: bank\nserver_on: db\nclients_on: [c1, c2]":                          "they cannot be on several machines",
		"targets: [{engine: served, client_cpus: 1}]\nserver_on: db\nclients_on: [c1]": "its clients are on other machines",
	} {
		if !strings.Contains(text, "targets:") {
			text = "targets: [served]\n" + text
		}
		if !strings.Contains(text, "workload:") {
			text = "workload: ibench\n" + text
		}
		_, err := Load("p.yaml", []byte(lan+text+"\n"), nil, served())
		expect.Error(t, err, want, text)
	}
	for text, want := range map[string]string{
		"{name: db, ssh: db, listen: 0.0.0.0}":             "no address of one machine",
		"{name: db, ssh: db, listen: 'db lan'}":            "no address of one machine",
		`{name: "d[1-2]", ssh: "d[1-2]", listen: 1.2.3.4}`: "an address of its own",
	} {
		_, err := Load("p.yaml", []byte("workload: ibench\ntargets: [served]\nserver_on: db\nmachines: ["+text+"]\n"), nil, served())
		expect.Error(t, err, want, text)
	}
}

func TestFleetIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"machines: [{name: a, ssh: a}]":                                                      "nothing says what the machines are for",
		"spread: {over: [a]}":                                                                "there are no machines",
		"machines: [{name: a, ssh: a}]\nspread: {over: [b]}":                                 `no machine "b"`,
		"machines: [{name: a, ssh: a}]\nspread: {over: [a, a]}":                              "given twice",
		"machines: [{name: a, ssh: a}]\nspread: {mixed: true}":                               "does not say over which",
		"machines: [{name: a, ssh: a}, {name: a, ssh: b}]\nspread: {over: [a]}":              "two machines are called a",
		"machines: [{name: 'a[1-2]', ssh: b}]\nspread: {over: [a1]}":                         "an address of its own",
		"machines: [{name: 'a[2-1]', ssh: 'b[2-1]'}]\nspread: {over: [a1]}":                  "no range",
		"machines: [{name: 'a[1-9999999]', ssh: 'b[1-9999999]'}]\nspread: {over: [a1]}":      "no range",
		"machines: [{name: a/b, ssh: b}]\nspread: {over: [a]}":                               "not a name of a machine",
		"machines: [{name: a, ssh: -oProxyCommand=x}]\nspread: {over: [a]}":                  "no destination of ssh",
		"machines: [{name: a, ssh: a, dir: data}]\nspread: {over: [a]}":                      "not an absolute path",
		"machines: [{name: a, ssh: a}]\nspread: {over: [a]}\norder: sequential":              "do not form blocks",
		"machines_file: nowhere.yaml\nspread: {over: [a]}":                                   "machines_file",
		"machines: [{name: a, ssh: a}]\nmachines_file: fleet_test.go\nspread: {over: [a]}":   "machines already",
		"machines: [{name: a, ssh: a}]\nspread: {over: [a]}\nfleet: {retries: -1}":           "retries",
		"machines: [{name: a, ssh: a, port: 22}]\nspread: {over: [a]}":                       "port",
		"machines: [{name: 'a[1-2]', ssh: 'b[1-3]'}]\nspread: {over: [a1]}":                  "stands for 3, and there are 2 names",
		"machines: [{name: a, ssh: a, join: true}]\nspread: {over: [a]}":                     "by ssh, or joins",
		"machines: [{name: a}]\nspread: {over: [a]}":                                         "by ssh, or joins",
		"machines: [{name: a, join: true}]\nspread: {over: [a]}":                             "nothing says where agents join",
		"machines: [{name: a, join: true}]\nspread: {over: [a]}\nfleet: {address: a:1}":      "no address of one machine with a port",
		"machines: [{name: a, join: true}]\nspread: {over: [a]}\nfleet: {address: '[::]:1'}": "no address of one machine with a port",
		"machines: [{name: a, ssh: a}]\nspread: {over: [a]}\nfleet: {address: '1.2.3.4:5'}":  "no machine joins",
	} {
		_, err := Load("p.yaml", []byte("workload: ibench\ntargets: [pebble]\n"+text+"\n"), nil, fakes())
		expect.Error(t, err, want, text)
	}
}
