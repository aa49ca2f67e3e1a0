package profile

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/need"
)

// simulated returns a profile of n seconds in which functions below main use so
// many samples per second, distributed like Poisson's, with bursts if asked for.
func simulated(r *rand.Rand, n int, rates map[string]float64, bursts bool) *Profile {
	p := &Profile{Window: time.Duration(n) * time.Second, Period: 10 * time.Millisecond, Frames: []Frame{{"main", "x"}}}
	var names []string
	for name := range rates {
		names = append(names, name)
	}
	slices.Sort(names)
	busy := make([]float64, n) // an hour-glass of load that lasts for some seconds
	for second := range busy {
		busy[second] = 1
		if bursts {
			busy[second] = 0.5 + float64(second/5%2)
		}
	}
	for i, name := range names {
		p.Frames = append(p.Frames, Frame{name, "x"})
		s := Sample{Side: Server, Stack: []int32{0, int32(i + 1)}}
		for second, load := range busy {
			if samples := poisson(r, rates[name]*load); samples > 0 {
				s.Parts = append(s.Parts, Part{second, time.Duration(samples) * p.Period})
			}
		}
		p.Samples = append(p.Samples, s)
	}
	return p
}

func poisson(r *rand.Rand, mean float64) (n int) {
	for p := r.Float64(); p > math.Exp(-mean); p *= r.Float64() {
		n++
	}
	return n
}

func different(root *Node) (names []string) {
	root.walk(func(n *Node) {
		if n.Different() {
			names = append(names, n.Name)
		}
	})
	return names
}

// TestCompareAA: of campaigns that compare a thing with itself, at most 1 % show a
// difference, also with bursts. Without adjustment several times as many do.
func TestCompareAA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rates := map[string]float64{}
	for i := range 30 {
		rates[fmt.Sprint("f", i)] = 20 / float64(i+1)
	}
	campaigns := 200
	if need.IsLong() {
		campaigns = 500
	}
	for _, bursts := range []bool{false, true} {
		wrong := 0
		done := func() float64 { return 1000 * (1 + 0.01*r.NormFloat64()) } // trials vary
		for range campaigns {
			if len(different(Compare(Work{simulated(r, 30, rates, bursts), done()}, Work{simulated(r, 30, rates, bursts), done()}))) > 0 {
				wrong++
			}
		}
		if t.Log(wrong); wrong > campaigns/100 {
			t.Errorf("bursts %t: %d of %d campaigns show a difference", bursts, wrong, campaigns)
		}
	}
}

// TestCompareWindows: what varies from window to window is no difference, however steady
// each is, and what exceeds that is one, be it less than 5 %.
func TestCompareWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seconds := 60
	side := func(slower, noise float64, known bool) Work {
		var list []Work
		for range 4 {
			p := simulated(r, seconds, map[string]float64{"f": 90 * slower, "g": 90}, false)
			list = append(list, Work{p, 1000 * math.Exp(noise*r.NormFloat64())})
		}
		out := Merge(list...)
		if !known {
			out.windows = nil
		}
		return out
	}
	const campaigns = 100
	wrong := map[bool]int{}
	for range campaigns {
		for _, known := range []bool{true, false} {
			if len(different(Compare(side(1, 0.08, known), side(1, 0.08, known)))) > 0 {
				wrong[known]++
			}
		}
	}
	if t.Log(wrong); wrong[true] > campaigns/20 || wrong[false] < campaigns/5 {
		t.Errorf("of %d campaigns of equals so many show a difference: %v", campaigns, wrong)
	}
	if got := different(Compare(side(1, 0.08, true), side(2, 0.08, true))); !slices.Contains(got, "f") || slices.Contains(got, "g") {
		t.Errorf("%v differ", got)
	}
	seconds = 300
	a, b := side(1, 0.001, true), side(1.04, 0.001, true)
	if got := different(Compare(a, b)); !slices.Contains(got, "f") {
		t.Errorf("%v differ, and steady windows show 4 %%", got)
	}
}

// TestCompareFinds: what changed is found, with twice the work in as much time,
// and what is below 1 % is not judged.
func TestCompareFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base := map[string]float64{"same": 50, "gone": 20, "slower": 20, "rare": 0.3}
	next := map[string]float64{"same": 100, "new": 20, "slower": 80, "rare": 0.9}
	root := Compare(Work{simulated(r, 30, base, false), 3000}, Work{simulated(r, 30, next, false), 6000})
	got := different(root)
	slices.Sort(got)
	expect.Equal(t, strings.Join(got, " "), "all gone main new slower", got)
	nodes := map[string]*Node{}
	root.walk(func(n *Node) { nodes[n.Name] = n })
	if n := nodes["rare"]; !math.IsNaN(n.P) || n.Different() || n.Base == 0 || n.New == 0 {
		t.Errorf("%+v", n)
	}
	if n := nodes["gone"]; n.New != 0 || math.Abs(n.Base-2000) > 300 || n.Change() != -n.Base {
		t.Errorf("%+v", n)
	}
	if n := nodes["slower"]; math.Abs(n.Base-2000) > 300 || math.Abs(n.New-4000) > 400 {
		t.Errorf("%+v", n)
	}
	sum := 0.0
	for _, c := range nodes["main"].Children {
		sum += c.New
	}
	expect.True(t, math.Abs(sum-root.New) <= 1e-6 && math.Abs(nodes["main"].New-root.New) <= 1e-6 && len(root.Children) == 1, sum, root.New)
}

func TestCompareShort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	root := Compare(Work{simulated(r, 1, map[string]float64{"f": 90}, false), 1}, Work{simulated(r, 1, map[string]float64{"f": 10}, false), 1})
	if got := different(root); len(got) > 0 || !math.IsNaN(root.P) {
		t.Errorf("one second is enough for %v", got)
	}
	if got := different(Compare(Work{new(Profile), 1}, Work{new(Profile), 1})); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestCompareBuilds: functions without names are the same only in the same build.
func TestCompareBuilds(t *testing.T) {
	build := func(id string) Work {
		p := example()
		p.Images[0].BuildID = id
		return Work{p.Of(Server), 1}
	}
	names := func(a, b Work) string {
		var out []string
		Compare(a, b).walk(func(n *Node) { out = append(out, n.Name) })
		return strings.Join(out, " ")
	}
	expect.Equal(t, names(build("a"), build("a")), "all start_thread f;g mariadbd@12 f;g mariadbd@12 f;g vfs_write")
	expect.Equal(t, names(build("a"), build("b")), "all start_thread f;g mariadbd@? f;g mariadbd@? f;g vfs_write")
}

// A function is compared over all of its callers: what it costs itself, and with those
// that it called, once if it calls itself.
func TestCompareFunctions(t *testing.T) {
	profile := func(stacks ...[]int32) Work {
		p := &Profile{Frames: []Frame{{"a", "x"}, {"b", "x"}, {"f", "x"}}, Window: time.Second}
		for _, s := range stacks {
			p.Samples = append(p.Samples, Sample{Stack: s, Parts: []Part{{0, 10 * time.Microsecond}}})
		}
		return Work{p, 10}
	}
	self, total := CompareFunctions(profile([]int32{0, 2}, []int32{1, 2}, []int32{0}), profile([]int32{1, 2, 2}))
	costs := func(root *Node) map[string][2]float64 {
		out := map[string][2]float64{"": {root.Base, root.New}}
		for _, c := range root.Children {
			out[c.Name] = [2]float64{c.Base, c.New}
		}
		return out
	}
	if got, want := costs(self), (map[string][2]float64{"": {3, 1}, "f": {2, 1}, "a": {1, 0}}); !maps.Equal(got, want) {
		t.Errorf("self %v, want %v", got, want)
	}
	if got, want := costs(total), (map[string][2]float64{"": {3, 1}, "f": {2, 1}, "a": {2, 0}, "b": {1, 1}}); !maps.Equal(got, want) {
		t.Errorf("total %v, want %v", got, want)
	}
	self.Children[0].P, self.Children[1].P = 0.5, 0
	changed := self.Changed()
	expect.True(t, len(changed) == 1 && changed[0] == self.Children[1], "differ", changed)
}

// Profiles of several windows are one of all their seconds.
func TestMerge(t *testing.T) {
	a := Work{&Profile{Frames: []Frame{{"f", "x"}, {"g", "x"}}, Images: []Image{{Name: "x"}}, Window: 2500 * time.Millisecond, Period: 10, Lost: 1,
		Samples: []Sample{{Side: Server, Stack: []int32{0, 1}, Parts: []Part{{0, 20}, {1, 30}}}}}, 5}
	b := Work{&Profile{Frames: []Frame{{"g", "x"}, {"f", "x"}}, Images: []Image{{Name: "x"}}, Window: time.Second, Period: 10,
		Samples: []Sample{{Side: Server, Stack: []int32{1, 0}, Parts: []Part{{0, 40}}}, {Side: Client, Stack: []int32{0}, Parts: []Part{{0, 10}}}}}, 3}
	got := Merge(a, b)
	expect.Must(t, got.Units == 8 && got.Lost == 1 && got.Seconds() == 3 && len(got.Images) == 1 && got.CPU() == 100 && len(got.Samples) == 2, got, got.Profile)
	expect.List(t, got.Samples[0].Parts, []Part{{0, 20}, {1, 30}, {2, 40}})
}

// The tree of one profile has its places, whose build is its own.
func TestTree(t *testing.T) {
	p := &Profile{Frames: []Frame{{"x@5", "x"}}, Images: []Image{{Name: "x", BuildID: "1"}}, Window: time.Second,
		Samples: []Sample{{Stack: []int32{0}, Parts: []Part{{0, 6 * time.Microsecond}}}}}
	n := Tree(Work{p, 2})
	expect.True(t, n.Base == 3 && n.New == 0 && len(n.Children) == 1 && n.Children[0].Name == "x@5",
		"below it", n, n.Children)
}
