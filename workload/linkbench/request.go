package linkbench

import (
	"context"
	"math"
	"slices"

	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// client performs requests. A request is drawn completely before it begins, and kept
// until it is completed or given up.
type client struct {
	stage  *requestStage
	source *gen.Source
	clock  int64 // in ms since 1970; it ticks with each request
	drawn  bool
	request
	statements
	see, checkGot, checkListed func(row []model.Value)

	limit   int64 // of a list
	checked bool  // requests find exactly the rows that earlier requests have left
	history history
	lengths lengths
	tally   tally
}

// request is the request that a client has drawn.
type request struct {
	kind     kind
	node     int64
	linkType int64
	targets  []int64 // second ids of links
	data     []byte
	resume   *place // where a list continues; nil at its beginning
	last     place  // up to where the list has been read
	seen     int64  // visibility of the link
	loaded   int64  // length of the list after the load
}

// tally counts the changes and results of a client's completed requests.
type tally struct {
	totals
	asked, got         int64 // links of multigets
	addToUpd, updToAdd int64 // link writes that had to switch to update, or to insert
	wrong              int64
	firstWrong         string
}

// Ready draws a request.
func (c *client) Ready(context.Context) error {
	if !c.drawn {
		c.draw()
		c.drawn = true
	}
	return nil
}

// Abandon drops the request.
func (c *client) Abandon() { c.drawn = false }

func (c *client) draw() {
	g, s := c.stage.graph, c.source
	u := s.Unit()
	for c.kind = 0; c.stage.thresholds[c.kind] <= u; c.kind++ {
	}
	c.clock += c.stage.tick
	c.targets, c.data, c.resume = c.targets[:0], c.data[:0], nil
	switch c.kind {
	case addLink, updateLink, deleteLink:
		c.node, c.linkType = g.writes.draw(s), s.Uniform(g.types)
		c.targets = append(c.targets, g.target(s, c.kind, c.node, c.linkType))
		c.data = c.stage.data.link.append(c.data, s)
	case countLinks, multigetLink, listLinks:
		c.node, c.linkType = g.reads.draw(s), s.Uniform(g.types)
		switch {
		case c.kind == multigetLink:
			c.drawTargets()
		case c.kind == listLinks && s.Unit() < historyShare:
			c.continueList()
		case c.kind == listLinks:
			c.loaded = min(g.list(c.node, c.linkType), c.limit)
		}
	case getNode:
		c.node = g.gets.draw(s)
	case deleteNode:
		c.node = 1 + s.Uniform(g.run.nodes)
	case addNode, updateNode:
		c.node = g.updates.draw(s)
		c.data = c.stage.data.node.append(c.data, s)
	}
	c.linkType += firstLinkType
}

// target draws the second id of a link.
func (g *graph) target(s *gen.Source, k kind, node, linkType int64) int64 {
	n, p := g.list(node, linkType), existing[k]
	switch g.profile.target {
	case window:
		return node + s.Uniform(windowOf(n, p))
	case anywhere:
		if s.Unit() < p {
			return node + s.Uniform(max(n, 1))
		}
		return 1 + s.Uniform(g.run.nodes)
	}
	all := max(8, 4*n)
	switch {
	case k == deleteLink:
		return node + s.Uniform(all)
	case s.Unit() < p && n > 0:
		return node + s.Uniform(n)
	}
	return node + n + s.Uniform(all-n)
}

// windowOf returns the number of ids of which a share p exists in a list of n.
func windowOf(n int64, p float64) int64 { return max(1, int64(math.Ceil(float64(n)/p))) }

// The lists of multigets: their length is geometrically distributed.
const (
	getStop  = 0.382 // the probability that a link is the last one
	mostGets = 127
)

func (c *client) drawTargets() {
	g := c.stage.graph
	n := g.profile.leastGet + int64(math.Log(1-c.source.Unit())/math.Log(1-getStop))
	n = min(n, mostGets)
	if g.profile.target == window && windowOf(g.list(c.node, c.linkType), existing[multigetLink]) <= n {
		for i := range n {
			c.targets = append(c.targets, c.node+i)
		}
		return
	}
	tries := 100 // to find a target that is not in the list yet
	if g.profile.target == anywhere {
		tries = 1
	}
	for range n {
		for range tries {
			if id := g.target(c.source, multigetLink, c.node, c.linkType); !slices.Contains(c.targets, id) {
				c.targets = append(c.targets, id)
				break
			}
		}
	}
}

// Do performs the request.
func (c *client) Do(ctx context.Context, out *workload.Outcome) (err error) {
	out.Kind = int(c.kind)
	switch c.kind {
	case addLink, updateLink, deleteLink:
		err = c.writeLink(ctx, out)
	case countLinks:
		err = c.read(ctx, c.count, out, model.IntValue(c.node), model.IntValue(c.linkType))
	case multigetLink:
		err = c.multiget(ctx, out)
	case listLinks:
		err = c.list(ctx, out)
	default:
		err = c.nodeRequest(ctx, out)
	}
	if err != nil {
		return err
	}
	out.Rows = 1
	c.drawn = false
	return nil
}

func (c *client) nodeRequest(ctx context.Context, out *workload.Outcome) error {
	id, kind, seconds, data := model.IntValue(c.node), model.IntValue(nodeType), model.IntValue(c.clock/1000),
		model.BytesValue(c.data)
	switch c.kind {
	case getNode:
		return c.read(ctx, c.getNode, out, id)
	case addNode:
		if err := c.write(ctx, c.addNode, out, nodeBytes+len(c.data), kind, model.IntValue(1), seconds, data); err != nil {
			return err
		}
		c.tally.nodes++
		if n := c.result.Value; n.Type() == model.Int && n.Int() <= c.stage.start.nodes {
			c.wrongly("a node was added with an id that exists")
		}
		return nil
	case updateNode: // the version of an update is 2, as in the original
		return c.write(ctx, c.updateNode, out, 16+len(c.data), model.IntValue(2), seconds, data, id)
	}
	err := c.write(ctx, c.deleteNode, out, 0, id)
	if err == nil {
		c.tally.nodes -= c.result.Rows
	}
	return err
}

// wrongly records a result that cannot be right.
func (c *client) wrongly(subject string) {
	if c.tally.wrong++; c.tally.wrong == 1 {
		c.tally.firstWrong = subject
	}
}
