package report

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// ran makes a campaign of trials with nothing but their host's facts: name=value.
func ran(trials ...struct {
	target string
	n      int
	facts  string
}) *campaign {
	var list []Trial
	for _, t := range trials {
		r := &result.Trial{Target: t.target, Trial: t.n}
		for f := range strings.SplitSeq(t.facts, "; ") {
			if name, value, ok := strings.Cut(f, "="); ok {
				r.Host = append(r.Host, observe.Fact{Name: name, Value: value})
			}
		}
		list = append(list, Trial{Trial: r})
	}
	return newCampaign(list)
}

func TestHostsDiffer(t *testing.T) {
	type trial = struct {
		target string
		n      int
		facts  string
	}
	const no = "device=no block device under "
	for _, c := range []struct {
		name   string
		trials []trial
		want   string
	}{
		{"same", []trial{{"a", 1, "cpu=X; swap=off"}, {"b", 1, "cpu=X; swap=off"}}, ""},
		{"other", []trial{{"a", 1, "cpu=X; swap=off"}, {"b", 1, "cpu=Y; swap=off"}, {"c", 1, "cpu=X; swap=1 GiB"}},
			"Trials ran on hosts that differ: cpu is X for a and c, Y for b; swap is off for a and b, 1 GiB for c."},
		{"within a target", []trial{{"a", 1, "kernel=6.1"}, {"a", 2, "kernel=6.1"}, {"a", 3, "kernel=6.2"}, {"b", 1, "kernel=6.1"}},
			"Trials ran on hosts that differ: kernel is 6.1 for a (trial 1 and 2) and b, 6.2 for a (trial 3)."},
		{"volatile", []trial{{"a", 1, "load average=0.1; mount point=/; hardware counters=no"}, {"b", 1, "load average=7; mount point=/x; hardware counters=yes"}}, ""},
		{"unknown is not different", []trial{{"a", 1, "swap=off; vm.swappiness=1"}, {"b", 1, "swap=off"}, {"c", 1, ""}}, ""},
		{"a limit that is not reported is not set", []trial{{"a", 1, "swap=off; memory limit=1 GiB"}, {"b", 1, "swap=off"}, {"c", 1, ""}},
			"Trials ran on hosts that differ: memory limit is 1 GiB for a, none for b."},
		{"no device in two directories", []trial{{"a", 1, no + "/x: tmpfs"}, {"b", 1, no + "/y: tmpfs"}}, ""},
		{"device and none", []trial{{"a", 1, "device=vda"}, {"b", 1, no + "/y: tmpfs"}},
			"Trials ran on hosts that differ: device is vda for a, no block device for b."},
		{"many", []trial{{"a", 1, "1=x; 2=x; 3=x; 4=x; 5=x; 6=x; 7=x"}, {"b", 1, "1=y; 2=y; 3=y; 4=y; 5=y; 6=y; 7=y"}},
			"Trials ran on hosts that differ: 1 is x for a, y for b; 2 is x for a, y for b; 3 is x for a, y for b; 4 is x for a, y for b; 5 is x for a, y for b; and 2 more, see “Machine and versions”."},
	} {
		expect.Equal(t, strings.Join(metric.Texts(hostsDiffer(ran(c.trials...))), " "), c.want, c.name)
	}
}

// The warning is in all forms of a report, before any number.
func TestHostsDifferIsShown(t *testing.T) {
	in := fixture(1)
	facts := slices.Clone(in.Trials[1].Host)
	facts[2].Value = "Linux 6.13"
	in.Trials[1].Host = facts
	const want = "Trials ran on hosts that differ: kernel is Linux 6.12 for pebble and bbolt, Linux 6.13 for sqlite."
	texts := forms(t, in)
	for name, text := range texts {
		expect.Equal(t, strings.Count(text, want), 1, "warnings in", name)
	}
	md := texts["Markdown"]
	expect.True(t, strings.Index(md, want) <= strings.Index(md, "## Numbers"), "the warning is behind the numbers")
}

// A cache has a unit, and is said of those targets only that report one.
func TestCaches(t *testing.T) {
	for _, c := range []struct {
		name string
		list []string // by target
		want string
	}{
		{"shared", []string{"67108864", "64MiB"}, "64 MiB"},
		{"different", []string{"1000000", "64MiB"}, "a: 977 KiB; b: 64 MiB"},
		{"one is unknown", []string{"", "8 MiB for blocks", "8 MiB for blocks"}, "b and c: 8 MiB for blocks"},
		{"unknown", []string{"", ""}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []Trial
			for i, cache := range c.list {
				list = append(list, Trial{Trial: &result.Trial{Target: string(rune('a' + i)), Knobs: map[string]string{"cache": cache}}})
			}
			expect.Equal(t, caches(newCampaign(list)), c.want)
		})
	}
}
