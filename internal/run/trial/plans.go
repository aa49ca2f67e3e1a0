package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/run/divided"
	"rumbench/internal/text/quantity"
	"rumbench/model"
	"rumbench/workload"
)

// smallTable is the size, some hundred pages, below which a full scan may be
// cheaper than an index.
const smallTable = 4 << 20

// The lengths at which statements and plans are truncated: a list of a thousand
// keys is no more informative than one of twenty.
const (
	longestStatement = 1000
	longestPlan      = 4000
)

// preparedOps are the operations that the clients of a step have prepared.
type preparedOps struct {
	mu       sync.Mutex
	prepared []*model.Op // each once, by its text in known
	seen     map[string]bool
	sessions []*recordingSession // of the clients, group by group
}

func newPreparedOps() *preparedOps { return &preparedOps{seen: map[string]bool{}} }

// session returns the session for the next client of the step.
func (n *preparedOps) session(s engine.Session) engine.Session {
	out := &recordingSession{Session: s, notes: n}
	n.sessions = append(n.sessions, out)
	return out
}

// note records an operation that a client has prepared.
func (n *preparedOps) note(op *model.Op) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if key := divided.TextOf(op); !n.seen[key] {
		n.seen[key] = true
		n.prepared = append(n.prepared, op)
	}
}

// collected returns what the clients of a part of a step have prepared.
func (n *preparedOps) collected(step *workload.Step, part workload.Part) *divided.Prepared {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := &divided.Prepared{Ops: slices.Clone(n.prepared)}
	sessions := n.sessions
	for i := range step.Groups {
		greatest := int64(0)
		for seat := range step.Groups[i].Clients {
			if part.Has(seat) && len(sessions) > 0 {
				greatest = max(greatest, sessions[0].statements)
				sessions = sessions[1:]
			}
		}
		out.Statements = append(out.Statements, greatest)
	}
	return out
}

// recordingSession is a session that records the operations prepared on it. Statements
// are those of the wrapped session, so executing them costs nothing extra.
type recordingSession struct {
	engine.Session
	notes      *preparedOps
	statements int64 // prepared, but for those that begin and end transactions
}

func (n *recordingSession) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	n.notes.note(op)
	if op.Kind != model.Begin && op.Kind != model.Commit && op.Kind != model.Rollback {
		n.statements++
	}
	return n.Session.Prepare(ctx, op)
}

// EndLoad ends the load if the wrapped session requires it.
func (n *recordingSession) EndLoad(ctx context.Context) error {
	if l, ok := n.Session.(engine.Loader); ok {
		return l.EndLoad(ctx)
	}
	return nil
}

// planCheck compares the plans of a step's statements with the workload's
// demands, and those after the window with those before. A nil planCheck does
// nothing: the engine has no plans.
type planCheck struct {
	trial     *trial
	explainer engine.Explainer
	step      string
	ops       []*model.Op // prepared before the window: all but the last batch of a load
	begin     []engine.Plan
}

// newPlanCheck returns the check of a step.
func (t *trial) newPlanCheck(step string) *planCheck {
	explainer, ok := t.db.(engine.Explainer)
	if !ok {
		return nil
	}
	return &planCheck{trial: t, explainer: explainer, step: step}
}

// checkBefore explains all statements. It refuses the step if one does not use the
// index that the workload demands.
func (c *planCheck) checkBefore(ctx context.Context, s *result.Step, ops []*model.Op) (err error) {
	if c == nil {
		return nil
	}
	c.ops = ops
	if c.begin, err = c.explain(ctx); err != nil {
		return err
	}
	if err := c.save(result.AtBegin, c.begin); err != nil {
		return err
	}
	wrong, notes := c.wrong(c.begin)
	if len(wrong) > 0 {
		return &wrongPlan{firstFew(wrong, 1)}
	}
	s.Note(notes...)
	s.Warnings = append(s.Warnings, c.fullScans(c.begin)...)
	return nil
}

// checkAfter explains them again. A wrong plan now makes the step invalid, and a
// changed one adds a warning.
func (c *planCheck) checkAfter(ctx context.Context, s *result.Step) error {
	if c == nil || ctx.Err() != nil {
		return nil
	}
	end, err := c.explain(ctx)
	if err != nil {
		s.Refuse(metric.Warn(remark.PlanUnknown, metric.Values{"error": err.Error()}))
		return nil
	}
	if err := c.save(result.AtEnd, end); err != nil {
		return err
	}
	var changed []string
	for i, op := range c.ops {
		if then, now := &c.begin[i], &end[i]; !now.Same(then) && then.None == "" {
			changed = append(changed, fmt.Sprintf("%s: from %s to %s", op.Label(), kinds(then), kinds(now)))
		}
	}
	if len(changed) > 0 {
		s.Warnings = append(s.Warnings, metric.Warn(remark.PlanChanged, metric.Values{"changes": firstFew(changed, 3)}))
	}
	if wrong, _ := c.wrong(end); len(wrong) > 0 {
		s.Refuse(metric.Warn(remark.WrongPlan, metric.Values{"what": firstFew(wrong, 1)}))
	}
	return nil
}

func (c *planCheck) explain(ctx context.Context) ([]engine.Plan, error) {
	var out []engine.Plan
	for _, op := range c.ops {
		p, err := c.explainer.Explain(ctx, op)
		if err != nil {
			return nil, fmt.Errorf("explain %s: %w", op.Label(), err)
		}
		p.Statement, p.Text = cut(p.Statement, longestStatement), cut(p.Text, longestPlan)
		out = append(out, p)
	}
	return out, nil
}

// save adds the plans to the trial's, those after the window only if they
// changed.
func (c *planCheck) save(when result.When, plans []engine.Plan) error {
	var lines []result.StatementPlan
	for i, op := range c.ops {
		if p := plans[i]; p.Text != "" && (when == result.AtBegin || !p.Same(&c.begin[i])) {
			lines = append(lines, result.StatementPlan{Step: c.step, When: when, Op: op.Label(), Wanted: demanded(op), Plan: p})
		}
	}
	return result.AppendPlans(c.trial.Dir, lines)
}

// demanded returns the index that an operation must use, "" if any plan will
// do. Bounded scans, and scans of the first entries in order, demand their
// index.
func demanded(op *model.Op) string {
	if op.Kind != model.Scan || len(op.Where) > 0 || !bounded(op) && (op.Limit == 0 || op.Free) {
		return ""
	}
	return engine.IndexOf(op)
}

func bounded(op *model.Op) bool {
	return op.Equal > 0 || op.Lower != model.Open || op.Upper != model.Open
}

// wrong returns the scans that do not use the demanded index. For small tables
// that is only a note, because a full scan may be cheaper.
func (c *planCheck) wrong(plans []engine.Plan) (wrong, notes []string) {
	var small []string
	for i, op := range c.ops {
		index, p := demanded(op), &plans[i]
		if index == "" || len(p.Access) == 0 || answers(op, index, p) {
			continue
		}
		if p.TableBytes > 0 && p.TableBytes < smallTable {
			small = append(small, fmt.Sprintf("%s (%s)", op.Label(), p.Ways()))
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s is to be answered by %s, and the database goes by %s: %s; its plan: %s",
			op.Label(), index, p.Ways(), p.Statement, oneLine(p.Text)))
	}
	if len(small) > 0 {
		notes = append(notes, fmt.Sprintf("of tables below %s the database does not use the index that the workload "+
			"names, which may be the cheaper way there: %s",
			quantity.Bytes(smallTable), firstFew(small, 3)))
	}
	return wrong, notes
}

// answers reports whether a plan uses an index for a scan: to find the rows if
// it is bounded, otherwise for their order.
func answers(op *model.Op, index string, p *engine.Plan) bool {
	found := false
	for _, a := range p.Access {
		if a.How == engine.WholeTable {
			return false
		}
		found = found || a.Index == index && (a.How == engine.Seek || !bounded(op))
	}
	return found
}

// fullScans returns warnings about other statements that scan large tables to find
// some rows.
func (c *planCheck) fullScans(plans []engine.Plan) []metric.Warning {
	var out []string
	for i, op := range c.ops {
		p := &plans[i]
		if op.Kind == model.Scan || p.TableBytes < smallTable {
			continue
		}
		if slices.ContainsFunc(p.Access, func(a engine.Access) bool { return a.How == engine.WholeTable }) {
			out = append(out, op.Label()+": "+p.Statement)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []metric.Warning{metric.Warn(remark.WholeTableRead, metric.Values{"statements": firstFew(out, 3)})}
}

// kinds returns the access kinds of a plan with the database's names of them.
func kinds(p *engine.Plan) string {
	out := quantity.Texts(p.Access, func(a engine.Access) string { return fmt.Sprintf("%s (%s)", a, a.As) })
	if len(out) == 0 {
		return p.Ways()
	}
	return strings.Join(out, ", ")
}

// firstFew joins the first of many texts, each once.
func firstFew(texts []string, shown int) string {
	var list []string
	for _, s := range texts {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	if len(list) <= shown {
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(list[:shown], "; "), len(list)-shown)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func cut(s string, longest int) string {
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}

// wrongPlan is the error of a refused step, with a hint.
type wrongPlan struct{ text string }

func (e *wrongPlan) Error() string { return "wrong plan: " + e.text }

// Hint returns advice for the user.
func (*wrongPlan) Hint() string {
	return "the plans are in " + result.PlansFile +
		"; the index may be gone, an option may forbid its use, or statistics may be old: a settle step analyzes the tables"
}
