package linkbench

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"rumbench/internal/expect"
	"rumbench/workload"
	"rumbench/workload/gen"
)

func newRun(t *testing.T, given map[string]any) *run {
	t.Helper()
	r, err := workload.NewRun(Workload{}, "", given)
	expect.NoError(t, err)
	return r.(*run)
}

func newGraph(t *testing.T, given map[string]any) *graph {
	t.Helper()
	g, err := newRun(t, given).newGraph()
	expect.NoError(t, err)
	return g
}

func near(t *testing.T, subject string, got, want, within float64) {
	t.Helper()
	expect.True(t, math.Abs(got-want) <= within, subject, got, "want", want, "±", within)
}

// The share of nodes with more than so many links, as measured by Facebook in 2011
// and 2017.
var published = map[string]map[int64]float64{
	profile2011: {
		0: 0.5467, 1: 0.2254, 2: 0.1304, 3: 0.08007, 5: 0.04172, 10: 0.01672, 20: 0.00673, 50: 0.002784, 100: 0.001686, 200: 0.001149,
		500: 7.25e-4, 1000: 4.93e-4, 2000: 3.06e-4, 5000: 1.26e-4, 10000: 4.96e-5,
	},
	profileRUM: {
		0: 1, 1: 0.2025, 2: 0.09487, 3: 0.05564, 5: 0.03596, 10: 0.01901, 20: 0.01066, 50: 0.00487, 100: 0.002531, 200: 0.001405,
		500: 6.48e-4, 1000: 3.45e-4, 2000: 1.58e-4, 5000: 5.13e-5, 10000: 2.02e-5,
	},
}

// The greatest distance of the distributions of links is small (Kolmogorov and
// Smirnov), and each published share is met within three percent of itself.
func TestDegrees(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	for name, shares := range published {
		r := newRun(t, map[string]any{"profile": name, "maxid": int64(n)})
		var distance float64
		for links, want := range shares {
			above := 0
			for above < n && r.degree(int64(above)) > links {
				above++
			}
			got := float64(above) / n
			distance = max(distance, math.Abs(got-want))
			near(t, name, got, want, 0.03*want+2.0/n)
		}
		near(t, name+": greatest distance", distance, 0, 1e-4)
	}
}

// The mean number of links by the original's rule, which always gives the first
// node the most, and by the rule of profile rum.
func TestMeanDegree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile string
		nodes   int64
		want    float64
	}{
		{profile2011, 100_000, 13.4}, {profile2011, 1_000_000, 4.98}, {profile2011, 10_000_000, 4.17}, {profile2017, 10_000_000, 4.18},
		{profileRUM, 10_000, 3.31}, {profileRUM, 100_000, 3.60}, {profileRUM, 10_000_000, 3.83},
	} {
		r := newRun(t, map[string]any{"profile": c.profile, "maxid": c.nodes, "link_types": int64(1)})
		near(t, c.profile, float64(r.links)/float64(c.nodes), c.want, 0.01*c.want)
	}
}

// With two types the original's split loads too many links, and that of 2020 too
// few lists are empty; published for ten million nodes.
func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile string
		links   float64
		lists   float64
	}{
		{profile2011, 4.45, 0.77}, {profile2017, 4.91, 2}, {profileRUM, 3.83, 1.2},
	} {
		r := newRun(t, map[string]any{"profile": c.profile, "maxid": int64(10_000_000)})
		near(t, c.profile+" links", float64(r.links)/1e7, c.links, 0.01*c.links)
		near(t, c.profile+" lists", float64(r.lists)/1e7, c.lists, 0.01*c.lists)
	}
	g := newGraph(t, map[string]any{"maxid": int64(20_000), "link_types": int64(3)})
	var links, lists int64
	for id := range g.run.nodes {
		for i := range g.types {
			n := g.list(id+1, i)
			links += n
			lists += min(n, 1)
		}
	}
	expect.True(t, links == g.links && lists == g.lists,
		"the lists have", links, "links of", lists, "counted were", g.links, "of", g.lists)
}

// An order is a bijection, rank is its inverse, and consecutive ranks are in
// different groups.
func TestOrder(t *testing.T) {
	for _, n := range []int64{16, 1000, 1024, 1025, 5000} {
		o := newOrder(n, gen.NewStream(1))
		seen := make([]bool, n)
		for rank := range n {
			x := o.at(rank)
			expect.Must(t, !seen[x] && o.rank(x) == rank && x%min(n, orderGroups) == rank%min(n, orderGroups),
				n, "rank", rank, "has number", x, "whose rank is", o.rank(x))
			seen[x] = true
		}
	}
}

// The share of accesses that the hottest ids get, by exact Zipf laws over ten
// million ids; half a percent of link reads and 5 % of link writes go elsewhere.
func TestAccess(t *testing.T) {
	t.Parallel()
	const n, draws = 10_000_000, 1_000_000
	g := newGraph(t, map[string]any{"maxid": int64(n)})
	for name, c := range map[string]struct {
		a           *access
		zipf        float64 // share of the accesses by Zipf's law
		top, one    float64 // of those: the first id's share, and that of the first percent
		half, limit float64 // ids that get 50 % and 80 % of those
	}{
		"link reads":   {&g.reads, 0.995, 0.00825, 0.376, 0.037, 0.34},
		"link writes":  {&g.writes, 0.95, 0.00404, 0.294, 0.072, 0.43},
		"node reads":   {&g.gets, 1, 0.00089, 0.176, 0.158, 0.55},
		"node updates": {&g.updates, 1, 0.00069, 0.162, 0.173, 0.57},
	} {
		s := gen.NewSource(gen.NewStream(2, name))
		ranks := make([]int64, draws)
		for i := range ranks {
			ranks[i] = c.a.by.rank(c.a.draw(s) - 1)
		}
		below := func(end float64) (count float64) {
			for _, rank := range ranks {
				if float64(rank) < end {
					count++
				}
			}
			return count / draws
		}
		near(t, name+": first id", below(1), c.zipf*c.top, 5*math.Sqrt(c.top/draws))
		for _, at := range []struct{ ids, share float64 }{{0.01, c.one}, {c.half, 0.5}, {c.limit, 0.8}} {
			near(t, fmt.Sprintf("%s: first %v", name, at.ids), below(at.ids*n), c.zipf*at.share+(1-c.zipf)*at.ids, 0.006)
		}
	}
}

// With locality ranges, the ids of a range of 64 are about equally hot, and hot
// ranges are hot as ids are otherwise.
func TestRanges(t *testing.T) {
	t.Parallel()
	share := func(locality string) float64 {
		g := newGraph(t, map[string]any{"maxid": int64(1_000_000), "locality": locality})
		s := gen.NewSource(gen.NewStream(3))
		windows := make([]float64, 1_000_000/64+1)
		for range 500_000 {
			windows[(g.reads.draw(s)-1)/64]++
		}
		slices.Sort(windows)
		var hot float64
		for _, w := range windows[len(windows)*99/100:] {
			hot += w
		}
		return hot / 500_000
	}
	near(t, "hottest percent of ranges, scattered", share(scattered), 0.13, 0.02)
	near(t, "hottest percent of ranges, in ranges", share(ranges), 0.29, 0.03)
}

// The percentiles 1, 5, 25, 50, 75, 95 and 99 of lengths, by their median, as drawn by
// the original's rule in a sample: they are met within 0.6 % of all lengths.
var lengthsOf = map[float64][]int{
	8:   {1, 2, 4, 8, 16, 41, 81},
	23:  {2, 5, 12, 23, 44, 120, 243},
	128: {13, 25, 65, 128, 250, 661, 1307},
	168: {17, 32, 86, 168, 328, 854, 1678},
}

// Lengths are log-normal; the means are those of the size model.
func TestLengths(t *testing.T) {
	t.Parallel()
	const draws = 300_000
	for name, p := range profiles {
		r := newRun(t, map[string]any{"profile": name})
		d := r.newData(1)
		for subject, c := range map[string]struct {
			payload      payload
			median, mean float64
		}{"link": {d.link, p.linkMedian, p.linkMean}, "node": {d.node, p.nodeMedian, p.nodeMean}} {
			s := gen.NewSource(gen.NewStream(4))
			var lengths []int
			var sum float64
			var buf []byte
			for range draws {
				buf = c.payload.append(buf[:0], s)
				lengths = append(lengths, len(buf))
				sum += float64(len(buf))
			}
			slices.Sort(lengths)
			for i, percent := range []float64{1, 5, 25, 50, 75, 95, 99} {
				low, high := lengths[int(draws*(percent-0.6)/100)], lengths[int(draws*(percent+0.6)/100)]
				if want := lengthsOf[c.median][i]; want < low || want > high {
					t.Errorf("%s %s: percentile %v is %d to %d, want %d", name, subject, percent, low, high, want)
				}
			}
			near(t, name+" mean of "+subject, sum/draws, c.mean, 0.015*c.mean)
			if last := lengths[draws-1]; subject == "link" && last > linkLimit {
				t.Errorf("a link has %d bytes", last)
			}
		}
	}
}

// Operations are drawn with the shares of the profile, within five standard
// deviations, and multigets ask for 2.6 links on average, or one more in old
// profiles.
func TestMix(t *testing.T) {
	t.Parallel()
	const draws = 200_000
	for name, p := range profiles {
		r := newRun(t, map[string]any{"profile": name, "maxid": int64(100_000)})
		g, err := r.newGraph()
		expect.NoError(t, err)
		c := &client{
			stage:  &requestStage{run: r, graph: g, data: r.newData(1), thresholds: p.thresholds(mixed), tick: 1},
			source: gen.NewSource(gen.NewStream(5, name)),
		}
		var done [kinds]float64
		var gets, asked float64
		for range draws {
			c.draw()
			done[c.kind]++
			if c.kind == multigetLink {
				gets++
				asked += float64(len(c.targets))
			}
		}
		for k := range done {
			share := p.mix[k] / 100
			near(t, name+" "+kindNames[k], done[k]/draws, share, 5*math.Sqrt(share*(1-share)/draws))
		}
		if p.target != anywhere { // which draws some links twice, and asks for them once
			near(t, name+": links of a multiget", asked/gets, 1.618+float64(p.leastGet), 0.15)
		}
	}
}

// Targets are in the window that bounds a list, and exist as often as the profile
// says.
func TestTargets(t *testing.T) {
	t.Parallel()
	const draws = 20_000
	for name, p := range profiles {
		g := newGraph(t, map[string]any{"profile": name, "maxid": int64(100_000)})
		s := gen.NewSource(gen.NewStream(6))
		node := g.degrees.at(1000) + 1 // of some hundred links
		n := g.list(node, 0)
		for k, share := range existing {
			var there float64
			for range draws {
				id := g.target(s, k, node, 0)
				if id >= node && id < node+n {
					there++
				}
				limit := max(8, 4*n)
				if p.target == window {
					limit = windowOf(n, share)
				}
				expect.Must(t, p.target == anywhere || id >= node && id < node+limit, name, kindNames[k], id, n, node)
			}
			if p.target == slots && k == deleteLink {
				share = 0.25 // of the whole window
			}
			near(t, name+" "+kindNames[k], there/draws, share, 0.02)
		}
	}
}
