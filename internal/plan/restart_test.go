package plan

import (
	"strings"
	"testing"

	"rumbench/internal/expect"
)

// Engines restart before the named steps: at several rates before each, and in a search once.
func TestRestart(t *testing.T) {
	for keys, want := range map[string]string{
		"restart: query":                         "load restart.query query again",
		"restart: [again, query]":                "load restart.query query restart.again again",
		"restart: {before: again}":               "load query restart.again again",
		"restart: query\nrate: [5, 10]":          "load restart.query@5 query@5 restart.query@10 query@10 again@5 again@10",
		"restart: query@10\nrate: [5, 10]":       "load query@5 restart.query@10 query@10 again@5 again@10",
		"restart: query\nrate: 5":                "load restart.query query again",
		"restart: query\nfind: p99 < 10ms":       "load restart.query query again",
		"restart: {before: again, caches: kept}": "load query restart.again(kept) again",
	} {
		p, err := Load("p.yaml", []byte("workload: ibench\ntargets: [pebble]\n"+keys+"\n"), nil, fakes())
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		var names []string
		for _, s := range p.Steps() {
			if s.Restart != nil && s.Restart.Caches == "kept" {
				s.Name += "(kept)"
			}
			names = append(names, s.Name)
		}
		expect.Equal(t, strings.Join(names, " "), want, keys)
	}
}
