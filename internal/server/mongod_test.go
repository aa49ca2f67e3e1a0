package server

import (
	"slices"
	"testing"

	"rumbench/internal/expect"
)

// A mongod gets all of its settings on the command line.
func TestMongodArguments(t *testing.T) {
	s := &Server{Config: Config{Kind: Mongod, Dir: "/d", Settings: []Setting{
		{"wiredTigerCacheSizeGB", "0.25"}, {"port", "1234"}, {ServerParameter + "ttlMonitorEnabled", "false"}, {"ipv6", ""},
	}}, kind: &mongod, endpoint: Endpoint{Port: 1234, Socket: "/d/run/mongodb-1234.sock"}}
	want := []string{
		"--dbpath=.", "--directoryperdb", "--unixSocketPrefix=../run", "--port=1234", "--bind_ip=127.0.0.1",
		"--wiredTigerCacheSizeGB=0.25", "--setParameter=ttlMonitorEnabled=false", "--ipv6",
	}
	if got := mongodArguments(s); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestMongodOutput(t *testing.T) {
	if v, ok := mongod.version("db version v7.0.5\nBuild Info: {\n"); !ok || v != "7.0.5" {
		t.Errorf("%q, %v", v, ok)
	}
	help := "Options:\n\nGeneral options:\n  -h [ --help ]                         Show this usage information\n" +
		"  -f [ --config ] arg                   Configuration file\n  --wiredTigerCacheSizeGB arg           Maximum amount of memory\n"
	var names []string
	for _, m := range mongodOption.FindAllStringSubmatch(help, -1) {
		names = append(names, m[1])
	}
	expect.True(t, slices.Equal(names, []string{"help", "config", "wiredTigerCacheSizeGB"}), names)
}
