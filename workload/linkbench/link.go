package linkbench

import (
	"context"
	"errors"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// errOther reports that a link write has to switch between insert and update: the link to
// be inserted exists, or the link to be updated does not.
var errOther = errors.New("the link write becomes the opposite one")

// writeLink adds, updates or deletes a link, in one transaction or, in the dialect of
// 2020, in several until one succeeds.
func (c *client) writeLink(ctx context.Context, out *workload.Outcome) error {
	first := c.kind == addLink || c.stage.dialect2013
	for inserts := first; ; inserts = !inserts {
		var done totals
		err := c.Begin(ctx, out)
		switch {
		case err != nil:
		case c.kind == deleteLink:
			err = c.removeLink(ctx, out, &done)
		default:
			err = c.putLink(ctx, inserts, out, &done)
		}
		if err == nil {
			err = c.Commit(ctx, out)
		}
		if err == nil {
			c.tally.totals.add(&done)
			switch {
			case inserts && !first:
				c.tally.updToAdd++
			case first && !inserts:
				c.tally.addToUpd++
			}
			return nil
		}
		if undone := c.Rollback(ctx, err, out); undone != nil || err != errOther {
			return errors.Join(err, undone)
		}
		if inserts != first { // other clients have come between the two attempts
			return engine.Errorf(engine.Conflict, "a link was neither missing nor there")
		}
	}
}

// putLink inserts the link, or updates it. It always locks the link before its count.
func (c *client) putLink(ctx context.Context, inserts bool, out *workload.Outcome, done *totals) error {
	node, linkType, target := model.IntValue(c.node), model.IntValue(c.linkType), model.IntValue(c.targets[0])
	data, now := model.BytesValue(c.data), model.IntValue(c.clock)
	entry := int(c.stage.entryBytes(float64(len(c.data))))
	if inserts {
		err := c.write(ctx, c.insertLink, out, linkBytes+len(c.data)+entry, linkType, node, target, model.IntValue(visible),
			data, now, model.IntValue(0))
		switch {
		case engine.ClassOf(err) == engine.Duplicate:
			return errOther
		case err != nil:
			return err
		case c.result.Rows > 0 || !c.stage.env.Results:
			done.links, done.counts, done.versions = 1, 1, 1
			return c.write(ctx, c.raiseCount, out, countBytes, node, linkType, model.IntValue(1), now, model.IntValue(1))
		}
	}
	was, err := c.visibility(ctx, out)
	switch {
	case err != nil:
		return err
	case was == missing && !c.stage.dialect2013:
		return errOther
	case was == missing: // another transaction has just inserted it
		return engine.Errorf(engine.Conflict, "a link exists that cannot be read")
	}
	err = c.write(ctx, c.changeLink, out, 16+len(c.data)+entry, model.IntValue(visible), data, now, model.IntValue(0),
		linkType, node, target)
	if err != nil || was == visible {
		return err
	}
	done.hidden = -1
	return c.addToCount(ctx, 1, out, done)
}

// removeLink hides the link.
func (c *client) removeLink(ctx context.Context, out *workload.Outcome, done *totals) error {
	was, err := c.visibility(ctx, out)
	if err != nil || was != visible {
		return err
	}
	link := []model.Value{model.IntValue(hidden), model.IntValue(c.linkType), model.IntValue(c.node),
		model.IntValue(c.targets[0])}
	if err := c.write(ctx, c.hideLink, out, 4+int(c.stage.entryBytes(c.stage.profile.linkMean)), link...); err != nil {
		return err
	}
	done.hidden = 1
	return c.addToCount(ctx, -1, out, done)
}

// addToCount changes the count of a list with links, which therefore exists.
func (c *client) addToCount(ctx context.Context, n int64, out *workload.Outcome, done *totals) error {
	node, linkType, now := model.IntValue(c.node), model.IntValue(c.linkType), model.IntValue(c.clock)
	err := c.write(ctx, c.changeCount, out, 24, model.IntValue(n), model.IntValue(1), now, node, linkType)
	if err == nil && c.result.Rows != 1 && c.checked {
		c.wrongly("a list with links had no count")
	}
	done.counts, done.versions = n, 1
	return err
}

// missing is the visibility of a link that does not exist.
const missing = -1

// visibility reads the visibility of the link, which the transaction may change.
func (c *client) visibility(ctx context.Context, out *workload.Outcome) (int64, error) {
	c.seen = missing
	err := c.exec(ctx, c.lockLink, c.see, model.IntValue(c.linkType), model.IntValue(c.node), model.IntValue(c.targets[0]))
	if err == nil {
		out.Reads++
	}
	return c.seen, err
}

func (c *client) seeLink(row []model.Value) { c.seen = row[0].Int() }

// multiget reads links by key, including hidden ones.
func (c *client) multiget(ctx context.Context, out *workload.Outcome) error {
	stmt, err := c.getOf(ctx, len(c.targets))
	if err != nil {
		return err
	}
	c.args = c.args[:0]
	for _, id := range c.targets {
		c.args = append(c.args, model.IntValue(c.linkType), model.IntValue(c.node), model.IntValue(id))
	}
	c.result.Each = c.checkGot
	if err := stmt.Exec(ctx, c.args, &c.result); err != nil {
		return err
	}
	c.didRead(out)
	c.tally.asked += int64(len(c.targets))
	c.tally.got += c.result.Rows
	return nil
}

func (c *client) got(row []model.Value) {
	if row[0].Int() != c.linkType || row[1].Int() != c.node || !slices.Contains(c.targets, row[2].Int()) {
		c.wrongly("a multiget returned a link that it did not ask for")
	}
}

// list reads the newest links of a list, or continues an earlier one.
func (c *client) list(ctx context.Context, out *workload.Outcome) error {
	c.last = place{c.node, c.linkType, math.MaxInt64}
	if c.resume != nil {
		out.Kind = int(historyList)
		c.last = *c.resume
	}
	err := c.exec(ctx, c.links, c.checkListed, model.IntValue(c.node), model.IntValue(c.linkType),
		model.IntValue(visible), model.IntValue(c.last.time))
	if err != nil {
		return err
	}
	c.didRead(out)
	full := c.result.Rows >= c.limit
	if c.resume != nil {
		c.history.continued(c.resume, c.last, full)
		return nil
	}
	c.lengths.add(c.loaded, c.result.Rows)
	if full {
		c.history.remember(c.last, c.source)
	}
	return nil
}

// listed checks a link of a list. A continued list starts with links of the same time as
// the last link; some of them have been read before.
func (c *client) listed(row []model.Value) {
	if row[0].Int() != c.linkType || row[1].Int() != c.node || row[3].Int() != visible || row[5].Int() > c.last.time {
		c.wrongly("a list returned a link that is hidden, of another list, or out of order")
	}
	c.last.time = row[5].Int()
}

// historyShare is the share of list reads that continue an earlier read.
const historyShare = 0.003

// mostPlaces is the number of lists that a client can continue.
const mostPlaces = 2048

// place is the position up to which a list has been read.
type place struct{ node, linkType, time int64 }

// history holds the positions up to which long lists have been read.
type history struct{ places []place }

// continueList continues a long list, if the client knows one.
func (c *client) continueList() {
	if n := int64(len(c.history.places)); n > 0 {
		c.resume = &c.history.places[c.source.Uniform(n)]
		c.node, c.linkType = c.resume.node, c.resume.linkType-firstLinkType
	}
}

func (h *history) remember(p place, s *gen.Source) {
	for i := range h.places {
		if h.places[i].node == p.node && h.places[i].linkType == p.linkType {
			h.places[i] = p
			return
		}
	}
	if len(h.places) < mostPlaces {
		h.places = append(h.places, p)
		return
	}
	h.places[s.Uniform(mostPlaces)] = p
}

// continued ends the read that continued a list from a place.
func (h *history) continued(source *place, last place, full bool) {
	if full {
		*source = last
		return
	}
	n := len(h.places) - 1
	*source = h.places[n]
	h.places = h.places[:n]
}
