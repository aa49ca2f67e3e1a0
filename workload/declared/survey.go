package declared

import (
	"slices"

	"rumbench/internal/text/strictyaml"
)

// survey collects facts about the rest of the file before other parts are compiled.
type survey struct{ *compiler }

// loads determines the maximum number of rows that each table gets from its loads:
// distributions depend on it.
func (c survey) loads(n *strictyaml.Node) {
	if n == nil {
		return
	}
	now := map[*tableDef]int64{}
	for _, s := range n.Items {
		node, rows := s.Get(stepLoad), s.Get("rows")
		if node == nil || node.IsNull() {
			continue
		}
		t := c.tableOf(node)
		if t == nil || rows == nil {
			continue
		}
		c.use("tables", t.Name)
		k, _ := c.whole(rows, "rows", 0, manyRows)
		k = limited(k, c.limit)
		if clears := s.Get("clear"); k > 0 && clears != nil && clears.Value == true {
			now[t] = 0
		}
		now[t] += k
		t.loaded = max(t.loaded, now[t])
	}
}

// limited returns how many of its planned rows a load inserts; 0: no limit.
func limited(rows, limit int64) int64 {
	if limit > 0 {
		return min(rows, limit)
	}
	return rows
}

// operations determines which tables lose rows, and for which the number of rows is
// unknown.
func (c survey) operations(n *strictyaml.Node) {
	if n == nil {
		return
	}
	for _, e := range n.Entries {
		do := e.Value
		if do.Kind == strictyaml.Mapping {
			do = do.Get("do")
		}
		if do == nil {
			continue
		}
		for _, s := range do.Items {
			if s.Get(sOwn) != nil && s.Get("returns") == nil &&
				!slices.ContainsFunc(generic, func(k string) bool { return s.Get(k) != nil }) {
				c.unknown()
			}
			for _, kind := range generic {
				if node := s.Get(kind); node != nil {
					c.statement(c.tableOf(node), kind, s)
				}
			}
		}
	}
	for _, t := range c.tables { // the order of insert and delete is unknown
		t.unknown = t.unknown || t.deletes && t.again
	}
}

// statement notes the effect of a statement on the rows of its table; nil: it is unknown.
func (c survey) statement(t *tableDef, kind string, s *strictyaml.Node) {
	switch {
	case t == nil:
	case kind == sDelete:
		t.deletes = true
	case kind == sInsert:
		c.use("tables", t.Name)
		t.again = t.again || s.Get("row") != nil
		if s.Get("row") == nil && s.Get("conflict") != nil { // new rows have existing keys
			t.inexact, t.unknown = true, true
		}
		if t.keysGiven(s.Get("set")) {
			t.inexact, t.unknown = true, t.unknown || s.Get("conflict") != nil
		}
	}
}

// unknown notes that custom SQL may change the rows of all tables.
func (c survey) unknown() {
	for _, t := range c.tables {
		c.use("tables", t.Name)
		t.deletes, t.inexact, t.unknown = true, true, true
	}
}

// keysGiven reports whether a set names a column of the key.
func (t *tableDef) keysGiven(set *strictyaml.Node) bool {
	return set != nil && slices.ContainsFunc(t.Key, func(k string) bool { return set.Get(k) != nil })
}
