package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
)

// Waits show where the time of a step's sessions went, as it was seen from
// beside them.
type Waits struct {
	Caption string
	Bars    []WaitBar
	Legend  []WaitPart // the roles that there are
	Words   []string   // whether the client was the bottleneck, per target
}

// WaitBar is one target's bar.
type WaitBar struct {
	Head   string
	Target int
	Value  string // of the whole bar
	Parts  []WaitPart
	Absent string // why there is none
}

// WaitPart is a role's part of a bar. Style is its place among the roles: it has
// a colour and a pattern of its own.
type WaitPart struct {
	Role, Doc string
	Style     int
	Length    float64 // percent of the longest bar
	Share     string  // of its own bar
	Label     string  // within the part, if it has room
	Title     string
	Rows      string // positions of the rows behind it
}

// roleDocs say what the roles are about.
var roleDocs = map[engine.Role]string{
	engine.RoleCPU:       "on a processor, or in line for one",
	engine.RoleExecuting: "in a statement; the server does not tell whether it works or waits",
	engine.RoleRow:       "waiting for a row that another transaction has changed or locked",
	engine.RoleMetadata:  "waiting for locks on tables or their definitions, or for the lock manager",
	engine.RoleSnapshot:  "waiting for the list of transactions: snapshots, transaction numbers and states",
	engine.RoleIndex:     "waiting for the upper pages of an index",
	engine.RoleBuffer:    "waiting for pages in the cache",
	engine.RoleIO:        "waiting for files of tables and indexes",
	engine.RoleLog:       "waiting for the log to be written or synced, or for room in its buffer",
	engine.RoleCommit:    "in a commit, alone or in a group",
	engine.RoleNetwork:   "sending to the client",
	engine.RoleOther:     "waiting for something else, or for something not known here",
	engine.RoleClient:    "waiting for the client, between statements",
}

// roomForLabel is how many percent of the width a label of one letter takes.
const roomForLabel = 1.1

// waits are those of a step; nil where no target tells any.
func (c *campaign) waits(s *step) *Waits {
	keys := s.Keys("wait_us")
	w := &Waits{}
	metric := "wait_us"
	if len(keys) == 0 { // nothing was done that it could be divided by
		if keys, metric = s.Keys("wait_share"), "wait_share"; len(keys) == 0 {
			return nil
		}
		w.Caption = "share of the sessions’ time"
	} else {
		w.Caption = "time of the sessions per " + keys[0].Per
	}
	keys = byRole(keys)
	longest := 0.0
	for _, t := range c.Targets {
		longest = max(longest, s.sum(t, keys))
	}
	for _, k := range keys {
		role := engine.Role(k.Op)
		w.Legend = append(w.Legend, WaitPart{Role: k.Op, Doc: roleDocs[role], Style: slices.Index(engine.Roles(), role)})
	}
	for _, t := range c.Targets {
		bar := WaitBar{Head: t.Name, Target: t.Index}
		whole := s.sum(t, keys)
		if whole == 0 {
			bar.Absent = "the engine does not tell"
			w.Bars = append(w.Bars, bar)
			continue
		}
		if metric == "wait_us" {
			bar.Value = duration(whole)
		}
		for i, k := range keys {
			if n := s.number(t, k); n.Missing == "" && n.Value > 0 {
				p := w.Legend[i]
				p.Length, p.Share, p.Rows = 100*n.Value/longest, shareText(n.Value/whole), c.positions(n)
				for _, label := range []string{p.Role + " " + p.Share, p.Role, p.Share} {
					if p.Label == "" && float64(width(label))*roomForLabel < p.Length {
						p.Label = label
					}
				}
				p.Title = p.Role + ": " + p.Share + ": " + p.Doc
				bar.Parts = append(bar.Parts, p)
			}
		}
		w.Bars = append(w.Bars, bar)
	}
	w.Words = c.clientWords(s, keys)
	return w
}

// byRole sorts keys by their roles.
func byRole(keys []key) []key {
	place := func(k key) int { return slices.Index(engine.Roles(), engine.Role(k.Op)) }
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(place(a), place(b)) })
	return keys
}

func (s *step) sum(t *target, keys []key) (sum float64) {
	for _, k := range keys {
		if n := s.number(t, k); n.Missing == "" {
			sum += n.Value
		}
	}
	return sum
}

// shareText is a share without digits that sampling does not know.
func shareText(share float64) string {
	if share < 0.095 {
		return fmt.Sprintf("%.1f %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// clientWords say of each target whether its client was the bottleneck, in the
// trial that stands for it: all numbers of a sentence are of that one.
func (c *campaign) clientWords(s *step, keys []key) (out []string) {
	for _, t := range c.Targets {
		r := s.Leader(t)
		if r == nil {
			continue
		}
		share := r.Step.Find("client_share", "", "")
		if share == nil {
			continue
		}
		who := t.Name
		if len(t.Trials) > 1 {
			who += fmt.Sprintf(", trial %d", r.Trial.Trial)
		}
		words := "it was not found to be the bottleneck."
		for _, w := range slices.Concat(r.Step.Warnings, r.Step.Notes) {
			if slices.Contains(metric.AboutClient, w.Code) {
				words = strings.TrimSuffix(w.Text, ".") + "."
				break
			}
		}
		// A session is seen to work only once it has a processor.
		inLine := ""
		whole := 0.0
		for _, k := range keys {
			if row := r.Step.Find(k.Metric, k.Op, k.Per); row != nil {
				whole += row.Value
			}
		}
		line := r.Step.Find("server_runqueue_us", "", keys[0].Per)
		if line != nil && line.Value >= 0.01*whole {
			part := line.Value / whole
			inLine = ", less up to " + shareText(part) + " for which the server’s own threads waited for CPU"
		}
		out = append(out, fmt.Sprintf("%s: the server waited for its client for %s of the sessions’ time%s; %s", who, shareText(share.Value), inLine, words))
	}
	return out
}

// waitTables are the shares, what the servers timed themselves, and what they
// call the events; the bars have the sampled times.
func (c *campaign) waitTables(s *step, n *notes) []Table {
	var out []Table
	keys := byRole(s.Keys("wait_share"))
	if len(keys) > 0 {
		t := Table{Title: "Time of the sessions by role", Head: "target", Note: "Seen from beside the sessions ten times a second; of timed waits the server itself kept account. “–”: not seen, or not told; see docs/waits.md."}
		for _, k := range keys {
			t.Columns = append(t.Columns, Column{Name: k.Op, Title: roleDocs[engine.Role(k.Op)]})
		}
		for _, m := range []struct{ metric, name string }{{"wait_share", "share of the time"}, {"timed_wait_us", "timed µs per "}} {
			if g := c.waitGroup(s, m.metric, keys, n); len(g.Rows) > 0 {
				g.Name = m.name + per(s, m.metric)
				t.Groups = append(t.Groups, g)
			}
		}
		out = append(out, t)
	}
	if t := c.eventTable(s); !t.Empty() {
		out = append(out, t)
	}
	return out
}

// per is what the rows of a metric are divided by.
func per(s *step, metric string) string {
	if keys := s.Keys(metric); len(keys) > 0 {
		return keys[0].Per
	}
	return ""
}

// waitGroup are the targets' numbers of a metric, in the columns of the roles.
func (c *campaign) waitGroup(s *step, metric string, roles []key, n *notes) RowGroup {
	g := RowGroup{Metric: metric}
	for _, t := range c.Targets {
		row := TableRow{Head: t.Name, Target: t.Index}
		known := false
		for _, role := range roles {
			cell := c.plainCell(s.number(t, key{Op: role.Op, Metric: metric, Per: per(s, metric)}), n)
			known = known || !cell.Absent
			row.Cells = append(row.Cells, cell)
		}
		if known {
			g.Rows = append(g.Rows, row)
		}
	}
	return g
}

// Of so many events each target shows its most frequent ones.
const mostEvents = 8

// eventTable shows what the servers call what their sessions were seen doing.
func (c *campaign) eventTable(s *step) Table {
	t := Table{Title: "What sessions were seen doing", Head: "role: event", Folded: true,
		Note: fmt.Sprintf("Shares of the sessions’ time, as the servers call it: of each target the %d most frequent, in the trial with the median throughput; all are in trial.json.", mostEvents)}
	byName := map[string]map[*target]Cell{}
	wanted := map[string]bool{}
	for _, tg := range c.Targets {
		t.Columns = append(t.Columns, targetColumn(tg))
		r := s.Leader(tg)
		if r == nil {
			continue
		}
		for i, w := range r.Step.Waits {
			name := string(w.Role)
			if w.Event != "" && w.Event != name {
				name += ": " + w.Event
			}
			wanted[name] = wanted[name] || i < mostEvents
			set(byName, name, tg, Cell{Text: shareText(w.Share), Number: true})
		}
	}
	for name := range byName {
		if !wanted[name] {
			delete(byName, name)
		}
	}
	t.Groups = []RowGroup{{Rows: c.rowsOf(byName, "not seen")}}
	return t
}
