package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Work is a profile and the units of work that were done in its window.
type Work struct {
	*Profile
	Units float64
}

// Node is a function with its callers up to the root, in one or both of two
// profiles. Costs are CPU time in µs per unit of work, with all below.
type Node struct {
	Name      string
	Base, New float64
	// P is the probability of a difference this great by chance, adjusted for the
	// number of nodes; NaN if the node is below 1 % of both profiles or the
	// windows are too short.
	P        float64
	Children []*Node // in the order of their first samples

	index   map[string]*Node
	series  [2][]float64 // µs per unit that each second would give the window
	windows [2][]float64 // µs per unit of each window
	sample  [2]float64   // µs per unit that one sample represents
}

// Change returns the difference of the costs.
func (n *Node) Change() float64 { return n.New - n.Base }

// Different reports whether the difference is beyond 3 standard errors of a normal
// distribution, after adjustment, beyond 3 of counting samples, and greater than the
// difference between equal windows: whole windows vary from trial to trial, which their
// seconds do not show.
func (n *Node) Different() bool {
	return n.P <= math.Erfc(3/math.Sqrt2) && math.Abs(n.Change()) >= max(n.betweenWindows(), 3*n.counting())
}

// betweenWindows returns the difference to expect between equal windows: 99 % of such
// differences are smaller, given the number of windows seen. If there are few it is 5
// %.
func (n *Node) betweenWindows() float64 {
	const minimum, confidence, few = 3, 0.99, 0.05
	if min(len(n.windows[0]), len(n.windows[1])) < minimum {
		return few * max(n.Base, n.New)
	}
	_, i := stat.Welch(n.windows[0], n.windows[1], confidence)
	return (i.High - i.Low) / 2
}

// counting returns the standard error of the difference that comes from counting samples:
// of n samples √n, and of none as if one had been seen. Seconds without any show no noise.
func (n *Node) counting() float64 {
	var variance float64
	for side, cost := range []float64{n.Base, n.New} {
		one := n.sample[side]
		variance += one * max(cost, one)
	}
	return math.Sqrt(variance)
}

// Compare returns the union of the stacks of two profiles under one root. Costs are
// never scaled to equal totals: one side may need more of everything.
//
// The noise is that of the seconds of each window (bursts count), wider if seconds
// depend on each other; differences are tested by Welch and adjusted by Benjamini and
// Hochberg over the nodes of at least 1 %. If a side has several windows, the noise
// between them counts as well.
func Compare(base, next Work) *Node {
	name := namer(base.Profile, next.Profile)
	return compare(base, next, func(root *Node, p *Profile, s *Sample) []*Node {
		path := quantity.Texts(s.Stack, func(f int32) string { return name(p, f) })
		return root.descend(path)
	})
}

// namer returns a function that names the functions of two profiles. Places in a file
// mean nothing in another build of it.
func namer(a, b *Profile) func(p *Profile, frame int32) string {
	comparable := sameBuilds(a, b)
	return func(p *Profile, frame int32) string {
		f := p.Frames[frame]
		if strings.HasPrefix(f.Name, f.Image+"@") && !comparable[f.Image] {
			return f.Image + "@?"
		}
		return f.Name
	}
}

// Tree returns the stacks of one profile under one root, as the costs of a base.
func Tree(w Work) *Node { return Compare(w, Work{Profile: &Profile{Images: w.Images}, Units: 1}) }

// CompareFunctions compares the cost of each function, whoever called it: its own, and
// with the functions that it called. The functions are the children of the roots.
func CompareFunctions(base, next Work) (self, total *Node) {
	name := namer(base.Profile, next.Profile)
	self = compare(base, next, func(root *Node, p *Profile, s *Sample) []*Node {
		if len(s.Stack) == 0 {
			return []*Node{root}
		}
		return root.descend([]string{name(p, s.Stack[len(s.Stack)-1])})
	})
	total = compare(base, next, func(root *Node, p *Profile, s *Sample) []*Node {
		nodes := []*Node{root}
		for _, f := range s.Stack {
			if n := root.descend([]string{name(p, f)})[1]; !slices.Contains(nodes, n) {
				nodes = append(nodes, n)
			}
		}
		return nodes
	})
	return self, total
}

// Changed returns the children that differ, the greatest change first.
func (n *Node) Changed() []*Node {
	out := slices.DeleteFunc(slices.Clone(n.Children), func(c *Node) bool { return !c.Different() })
	slices.SortStableFunc(out, func(a, b *Node) int { return cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change())) })
	return out
}

// Merge returns the profile of several windows, one after the other in whole seconds,
// and the units of all.
func Merge(list ...Work) Work {
	out := Work{Profile: new(Profile)}
	c := newCutter(nil, out.Profile, nil)
	seconds := 0
	for _, w := range list {
		for i := range w.Samples {
			s := &w.Samples[i]
			var frames []Frame
			for _, f := range s.Stack {
				frames = append(frames, w.Frames[f])
			}
			stack := c.pack(frames)
			for _, p := range s.Parts {
				c.sum(owner{s.Side, s.Process, s.Thread}, stack, seconds+p.Second, p.CPU)
			}
		}
		for _, i := range w.Images {
			if !slices.Contains(out.Images, i) {
				out.Images = append(out.Images, i)
			}
		}
		seconds += w.Seconds()
		out.windows = append(out.windows, window{seconds, w.Units})
		out.Period, out.Lost, out.Units = w.Period, out.Lost+w.Lost, out.Units+w.Units
	}
	out.Window = time.Duration(seconds) * time.Second
	return out
}

// CompareSubsystems compares the subsystems that different engines share. It is
// an error if more than 30 % of a profile is unknown to the catalogue.
func CompareSubsystems(base, next Work) (*Node, error) {
	const limit = 0.3
	for _, w := range []Work{base, next} {
		unknown := w.Only(func(s *Sample) bool { return w.SubsystemOf(s) == Unknown })
		if share := float64(unknown.CPU()) / float64(w.CPU()); share > limit {
			return nil, fmt.Errorf("compare subsystems: those of %.0f %% of the CPU time are unknown, more than %.0f %%: "+
				"the program has no symbols, or the catalog lacks it", 100*share, 100*limit)
		}
	}
	return compare(base, next, func(root *Node, p *Profile, s *Sample) []*Node {
		return root.descend([]string{string(p.SubsystemOf(s))})
	}), nil
}

// sameBuilds returns the names of the images that are the same build in both.
func sameBuilds(a, b *Profile) map[string]bool {
	same := make(map[string]bool)
	for _, i := range a.Images {
		for _, j := range b.Images {
			if i.Name == j.Name && i.BuildID == j.BuildID && i.BuildID != "" {
				same[i.Name] = true
			}
		}
	}
	return same
}

// compare returns the root of a tree of nodes; nodesOf returns the nodes that a sample
// belongs to.
func compare(base, next Work, nodesOf func(root *Node, p *Profile, s *Sample) []*Node) *Node {
	root := &Node{Name: "all", P: math.NaN()}
	sides := [2]Work{base, next}
	each := func(visit func(n *Node, side int, p Part, cost float64)) {
		for side, w := range sides {
			for i := range w.Samples {
				s := &w.Samples[i]
				nodes := nodesOf(root, w.Profile, s)
				for _, part := range s.Parts {
					for _, n := range nodes {
						visit(n, side, part, perUnit(part.CPU, w.Units))
					}
				}
			}
		}
	}
	each(func(n *Node, side int, _ Part, cost float64) {
		if side == 0 {
			n.Base += cost
		} else {
			n.New += cost
		}
	})
	const minimum = 0.01 // a smaller node has too few samples to be named
	var tested []*Node
	root.walk(func(n *Node) {
		if n.Base >= minimum*root.Base && n.Base > 0 || n.New >= minimum*root.New && n.New > 0 {
			n.series = [2][]float64{make([]float64, base.Seconds()), make([]float64, next.Seconds())}
			n.windows = [2][]float64{make([]float64, len(base.windows)), make([]float64, len(next.windows))}
			n.sample = [2]float64{perUnit(base.Period, base.Units), perUnit(next.Period, next.Units)}
			tested = append(tested, n)
		}
	})
	each(func(n *Node, side int, p Part, cost float64) {
		if series := n.series[side]; p.Second < len(series) {
			series[p.Second] += cost * float64(len(series))
		}
		w := sides[side]
		if i := w.windowOf(p.Second); i < len(n.windows[side]) {
			n.windows[side][i] += cost * w.Units / w.windows[i].units
		}
	})
	p := make([]float64, len(tested))
	for i, n := range tested {
		p[i], _ = stat.Welch(widened(n.series[0]), widened(n.series[1]), 0.95)
	}
	for i, adjusted := range stat.BenjaminiHochberg(p) {
		tested[i].P = adjusted
	}
	return root
}

// windowOf returns the number of the window that a second is in.
func (p *Profile) windowOf(second int) int {
	return sort.Search(len(p.windows), func(i int) bool { return second < p.windows[i].end })
}

// descend returns the nodes of a path, the root among them.
func (n *Node) descend(path []string) []*Node {
	nodes := []*Node{n}
	for _, name := range path {
		child := n.index[name]
		if child == nil {
			child = &Node{Name: name, P: math.NaN()}
			if n.index == nil {
				n.index = make(map[string]*Node)
			}
			n.index[name] = child
			n.Children = append(n.Children, child)
		}
		n = child
		nodes = append(nodes, n)
	}
	return nodes
}

func (n *Node) walk(visit func(*Node)) {
	visit(n)
	for _, c := range n.Children {
		c.walk(visit)
	}
}

// widened returns a series with the same mean. If its values depend on each
// other, its deviation is the one with which independent values have their
// standard error.
func widened(x []float64) []float64 {
	se, _ := stat.AutocorrelatedSE(x)
	ratio := se * math.Sqrt(float64(len(x))) / stat.Deviation(x)
	if !(ratio > 1) {
		return x
	}
	mean := stat.Mean(x)
	return stat.Values(x, func(v float64) float64 { return mean + ratio*(v-mean) })
}
