package linkbench

import (
	"sort"

	"rumbench/workload/gen"
)

// graph is the loaded data and the distribution of the ids used: a function of the run's
// parameters and the seed.
type graph struct {
	*run
	degrees order      // of the ranks by number of links
	turns   gen.Stream // types that get the links that cannot be split evenly
	reads   access     // of lists
	writes  access
	gets    access // of nodes
	updates access
}

func (r *run) newGraph() (*graph, error) {
	seed := r.seed
	g := &graph{run: r, degrees: newOrder(r.nodes, stream(seed, "degrees")), turns: stream(seed, "types")}
	width := int64(1)
	if r.p.String("locality") == ranges {
		width = rangeWidth
	}
	// Reads and writes share their frequent ids.
	lists := newOrder((r.nodes+width-1)/width, stream(seed, "lists"))
	nodes := newOrder((r.nodes+width-1)/width, stream(seed, "nodes"))
	for _, a := range []struct {
		dst               *access
		by                order
		theta, correlated float64
		scattered         float64
	}{
		{&g.reads, lists, readTheta, readTheta, readScattered},
		{&g.writes, lists, r.profile.writeTheta, writeTheta, r.profile.writeScattered},
		{&g.gets, nodes, nodeReadTheta, nodeReadTheta, 1},
		{&g.updates, nodes, nodeUpdateTheta, nodeUpdateTheta, 1},
	} {
		zipf, err := gen.NewZipf(a.by.n, a.theta)
		if err != nil {
			return nil, err
		}
		linked, err := gen.NewZipf(r.nodes, a.correlated)
		if err != nil {
			return nil, err
		}
		*a.dst = access{n: r.nodes, width: width, by: a.by, zipf: zipf, share: a.scattered, byLinks: g.degrees,
			linked: linked}
	}
	return g, nil
}

// list returns the number of links of a type that a node has after the load.
func (g *graph) list(id, linkType int64) int64 {
	return g.profile.split(g.run.degree(g.degrees.rank(id-1)), g.types, g.turns.Uniform(uint64(id), g.types), linkType)
}

// degree returns the number of links of the node with a given rank; rank 0 has the most.
func (r *run) degree(rank int64) int64 {
	at := float64(rank)
	if !r.profile.stepped {
		at += 0.5
	}
	return r.profile.degrees.Quantile(at / float64(r.nodes))
}

// count returns the number of loaded links, and of lists with at least one link. Ranks of
// equal degree are counted together.
func (r *run) count() (links, lists int64) {
	for rank := int64(0); rank < r.nodes; {
		degree := r.degree(rank)
		same := int64(sort.Search(int(r.nodes-rank), func(i int) bool { return r.degree(rank+int64(i)) < degree }))
		for i := range r.types {
			n := r.profile.split(degree, r.types, 0, i)
			links += same * n
			lists += same * min(n, 1)
		}
		rank += same
	}
	return links, lists
}

// access draws ids.
type access struct {
	n, width int64 // nodes, and the size of a range
	by       order
	zipf     *gen.Zipf
	share    float64 // of draws by zipf; the other draws prefer nodes with many links
	byLinks  order
	linked   *gen.Zipf
}

// rangeWidth is the number of ids in a range, with locality ranges.
const rangeWidth = 64

func (a *access) draw(s *gen.Source) int64 {
	if s.Unit() >= a.share {
		return 1 + a.byLinks.at(a.linked.Draw(s))
	}
	id := a.by.at(a.zipf.Draw(s)) * a.width
	if a.width > 1 {
		id += s.Uniform(min(a.width, a.n-id))
	}
	return 1 + id
}

// orderGroups is the number of groups of an order.
const orderGroups = 1024

// order is the original's bijection of ranks and numbers of 0…n-1: ranks are dealt to the
// groups in turn, and each group is rotated. Consecutive ranks are thus scattered, and
// each 1024 consecutive numbers include one number from each group.
type order struct {
	n, groups int64
	turns     []int64
}

func newOrder(n int64, s gen.Stream) order {
	o := order{n: n, groups: min(orderGroups, n)}
	for g := range o.groups {
		o.turns = append(o.turns, s.Uniform(uint64(g), n/o.groups))
	}
	return o
}

// at returns the number with a given rank.
func (o *order) at(rank int64) int64 {
	g := rank % o.groups
	return g + o.groups*((rank/o.groups+o.turns[g])%o.length(g))
}

// rank returns the rank of a number.
func (o *order) rank(number int64) int64 {
	g := number % o.groups
	length := o.length(g)
	return g + o.groups*((number/o.groups-o.turns[g]+length)%length)
}

// length returns the number of ranks of a group.
func (o *order) length(g int64) int64 {
	n := o.n / o.groups
	if g < o.n%o.groups {
		n++
	}
	return n
}
