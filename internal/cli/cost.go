package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/compare"
	"rumbench/internal/explain/costmodel"
	"rumbench/internal/explain/price"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

type costOptions struct {
	step, rate, rows, card string
	p99                    time.Duration
	targets                []string
	asJSON                 bool
}

func newCostCommand(a *App) *cobra.Command {
	var o costOptions
	c := command("cost DIR[:TARGET]", "print which hardware each target needs for a demand, and what that costs",
		args(cobra.ExactArgs(1)), func(_ *cobra.Command, dirs []string) error { return runCost(a.Stdout, &o, dirs[0]) })
	f := c.Flags()
	f.StringVar(&o.step, "step", "", "the step whose operation is in demand (default: the first that is judged)")
	f.StringVar(&o.rate, "rate", "", "operations per second, as in 600/s (default: as many as each target reached)")
	f.StringVar(&o.rows, "rows", "", "rows in the database, as in 10M (default: as many as there were)")
	f.DurationVar(&o.p99, "p99", 0, "refuse targets whose 99th percentile is above this, as in 20ms")
	f.StringVar(&o.card, "card", "", "prices: a `file`, or one of "+strings.Join(cardNames(), ", "))
	f.StringSliceVar(&o.targets, "target", nil, "only these targets")
	f.BoolVar(&o.asJSON, "json", false, "one line of JSON per target")
	return c
}

func cardNames() []string {
	return quantity.Texts(price.Shipped(), func(c *price.Card) string { return c.Name })
}

// readCard reads a file of prices, or one that is shipped with rumbench.
func readCard(name string) (*price.Card, error) {
	content, err := regular.ReadText(name)
	absent := errors.Is(err, fs.ErrNotExist)
	switch shipped := slices.Index(cardNames(), name); {
	case absent && shipped >= 0:
		return price.Shipped()[shipped], nil
	case absent:
		return nil, usage(hint.With(err, "a file, or "+hint.OneOf(name, cardNames())))
	case err != nil:
		return nil, usage(err)
	}
	return price.Read(name, content)
}

func (o *costOptions) ask() (ask price.Ask, err error) {
	ask.P99 = float64(o.p99) / float64(time.Microsecond)
	for _, knob := range []struct {
		name, text string
		dst        *float64
	}{{"rate", strings.TrimSuffix(o.rate, "/s"), &ask.Rate}, {"rows", o.rows, &ask.Rows}} {
		if knob.text == "" {
			continue
		}
		n, err := workload.ParseCount(knob.text)
		if err != nil || n <= 0 {
			return ask, usageErrorf("--%s is %q, and must be a positive number such as 600/s or 10M", knob.name, knob.text)
		}
		*knob.dst = float64(n)
	}
	return ask, nil
}

func runCost(w io.Writer, o *costOptions, dir string) error {
	ask, err := o.ask()
	if err != nil {
		return err
	}
	var card *price.Card
	if o.card != "" {
		if card, err = readCard(o.card); err != nil {
			return err
		}
	}
	dir, target := splitTarget(dir)
	if target != "" {
		o.targets = append(o.targets, target)
	}
	trials, err := readTrials(dir)
	if err != nil {
		return err
	}
	chosen := selection{targets: o.targets}
	if o.step != "" {
		chosen.steps = []string{o.step}
	}
	if err := chosen.check(trials); err != nil {
		return err
	}
	campaign := compare.New(trials)
	step := campaign.Step(o.step)
	if step == nil {
		i := slices.IndexFunc(campaign.Steps, func(s *compare.Step) bool { return len(s.Judged) > 0 && !s.Warmup })
		if i < 0 {
			return errors.New("no step is judged: choose one with --step")
		}
		step = campaign.Steps[i]
	}
	targets := slices.DeleteFunc(slices.Clone(campaign.Targets),
		func(t *compare.Target) bool { return !includes(o.targets, t.Name) })
	v := costView{step: step, targets: targets, ask: ask, card: card}
	for _, t := range targets {
		v.lines = append(v.lines, newCostLine(step, t, ask, card))
	}
	if o.asJSON {
		err = metric.WriteLines(w, v.lines)
	} else {
		err = page.Text(w, v.blocks(), page.TextStyle{})
	}
	if err == nil && v.refused() {
		return exitError{errors.New("no target is known to meet the demand"), ExitInvalid}
	}
	return err
}

type costView struct {
	step    *compare.Step
	targets []*compare.Target
	ask     price.Ask
	card    *price.Card
	lines   []costLine
}

func (v *costView) refused() bool {
	return !slices.ContainsFunc(v.lines, func(n costLine) bool { return n.Refused == "" })
}

// costLine is what a target needs, and its price if there is a card and it is not refused.
type costLine struct {
	Target string `json:"target"`
	Step   string `json:"step"`
	price.Need
	Price float64 `json:"price_per_month,omitempty"`
	// AtLeast: a part of the price is unknown.
	AtLeast bool               `json:"price_is_at_least,omitempty"`
	Parts   map[string]float64 `json:"price_parts,omitempty"`
	bill    price.Bill
}

func newCostLine(s *compare.Step, t *compare.Target, ask price.Ask, card *price.Card) costLine {
	n := costLine{Target: t.Name, Step: s.Name, Need: price.Of(s, t, ask), Parts: map[string]float64{}}
	if card == nil || n.Refused != "" {
		return n
	}
	n.bill = card.Price(&n.Need)
	n.Price, n.AtLeast = n.bill.Sum(), len(card.Unpriced(&n.Need)) > 0
	for _, part := range n.bill.Parts {
		if part.Price != 0 {
			n.Parts[part.Purpose] = part.Price
		}
	}
	return n
}

func (v *costView) blocks() (out []page.Block) {
	units := quantity.Plural(v.lines[0].Unit)
	demand := "as many " + units + " per second as each target reached"
	if v.ask.Rate > 0 {
		demand = quantity.Amount(v.ask.Rate) + " " + units + " per second"
	}
	rows := ""
	if v.ask.Rows > 0 {
		rows = ", with " + quantity.Amount(v.ask.Rows) + " rows"
	}
	out = append(out, page.Tree{Text: fmt.Sprintf("What each target needs in step %s for %s%s: measured costs per "+
		"unit, times the rate.", v.step.Name, demand, rows)})
	t := page.Table{Head: "target", Columns: page.Columns(units+"/s", "processors", "written/s", "writes/s",
		"read/s", "reads/s", "written/year", "on disk", "memory", "measured up to", "CPU then")}
	if v.card != nil {
		t.Columns = append(t.Columns, page.Column{Name: v.card.Currency + "/month"})
	}
	missing, remarks := page.Tree{Text: "Not known:"}, page.Tree{Text: "Remarks:"}
	for i := range v.lines {
		n := &v.lines[i]
		if n.Refused != "" {
			missing.Add("%s: %s", n.Target, n.Refused)
			continue
		}
		t.Add(page.Row{Head: n.Target, Cells: v.cells(n)})
		for _, m := range n.Missing {
			missing.Add("%s: %s", n.Target, m)
		}
		for _, r := range n.Remarks {
			remarks.Add("%s: %s", n.Target, r)
		}
	}
	out = append(out, t)
	for _, part := range []page.Tree{missing, remarks} {
		if len(part.Items) > 0 {
			out = append(out, part)
		}
	}
	if v.card != nil && !v.refused() {
		out = append(out, v.prices())
	}
	return append(out, page.Tree{Text: "Medians, with the least and the greatest of the trials. Costs per operation " +
		"change with rate and size: commits share syncs, page writes share changes, and a larger database reads more. " +
		"Memory is as measured. An embedded engine's processors include its clients'."})
}

func (v *costView) cells(n *costLine) []page.Cell {
	gaps := map[string]bool{}
	for _, g := range n.Missing {
		gaps[g.Metric] = true
	}
	number := func(metricName string, r price.Range, format func(float64) string) page.Cell {
		if gaps[metricName] && r.High == 0 {
			return page.Cell{Text: quantity.Unknown, Number: true}
		}
		text := format(r.Value)
		if gaps[metricName] {
			text = "≥ " + text
		}
		if r.Low != r.High {
			text += fmt.Sprintf(" (%s to %s)", format(r.Low), format(r.High))
		}
		return page.Cell{Text: text, Number: true}
	}
	bytes := quantity.Bytes[float64]
	terabytes := func(v float64) string { return quantity.Amount(v) + " TB" }
	cells := []page.Cell{
		{Text: quantity.Amount(n.Rate), Number: true}, number(metric.ServerCPUUS, n.Cores, quantity.Digits),
		number(metric.WriteKB, n.WrittenBytes, bytes), number(metric.WriteKB, n.WritesPerS, quantity.Digits),
		number(metric.ReadKB, n.ReadBytes, bytes), number(metric.DeviceReads, n.ReadsPerS, quantity.Digits),
		number(metric.WriteKB, n.TBPerYear, terabytes),
		number(metric.DBBytes, n.Disk, bytes), number(metric.ServerMemoryBytes, n.Memory, bytes),
		number("", n.Most, quantity.Amount),
		{Text: quantity.Unknown, Number: true},
	}
	if n.Busy > 0 {
		cells[len(cells)-1].Text = quantity.Share(n.Busy)
	}
	if v.card != nil {
		price := quantity.Digits(n.Price)
		if best := v.best(); n.AtLeast {
			price = "≥ " + price
		} else if best > 0 {
			price += " (" + quantity.Times(n.Price/best) + ")"
		}
		cells = append(cells, page.Cell{Text: price, Number: true})
	}
	return cells
}

// best returns the lowest of the complete prices; 0 if there are fewer than two.
func (v *costView) best() float64 {
	whole := slices.DeleteFunc(slices.Clone(v.lines), func(n costLine) bool { return n.Refused != "" || n.AtLeast })
	if len(whole) < 2 {
		return 0
	}
	return slices.MinFunc(whole, func(a, b costLine) int { return cmp.Compare(a.Price, b.Price) }).Price
}

// prices lists the parts of the prices, the cheapest target at each rate, and the cost of
// an index+log structure.
func (v *costView) prices() page.Block {
	c := v.card
	tree := page.Tree{Text: fmt.Sprintf("Prices of %s, %s %s: %s. %s", c.Name, c.Currency, c.Date, c.Doc, c.Source)}
	for i := range v.lines {
		n := &v.lines[i]
		if n.Refused != "" {
			continue
		}
		var parts []string
		for _, part := range n.bill.Parts {
			if part.Purpose == price.Devices {
				part.Purpose = deviceText(n.bill)
			}
			if part.Price != 0 {
				parts = append(parts, part.Purpose+" "+quantity.Digits(part.Price))
			}
		}
		at := tree.Add("%s: %s", n.Target, strings.Join(parts, ", "))
		v.moves(n, at)
		v.against(n, at)
	}
	v.cheapest(&tree)
	return tree
}

func deviceText(b price.Bill) string {
	text := quantity.Count(int(b.Count), "device")
	if b.Limit != "" {
		text += fmt.Sprintf(" (%s takes %s of one)", b.Limit, quantity.Share(b.Share))
	}
	return text
}

// moves states which changes would affect the price most.
func (v *costView) moves(n *costLine, tree *page.Tree) {
	const limit = 3
	var parts []string
	moves := v.card.Moves(&n.Need)
	for _, m := range moves[:min(limit, len(moves))] {
		doubled := "not measured"
		if !math.IsNaN(m.Doubled) {
			doubled = fmt.Sprintf("%+.0f %%", 100*m.Doubled)
		}
		parts = append(parts, fmt.Sprintf("%s %+.0f %% / %s", m.What, 100*m.Halved, doubled))
	}
	if len(parts) > 0 {
		tree.Add("price if halved / doubled: %s", strings.Join(parts, "; "))
	}
}

// against weighs space against writes, as docs/cost.md explains.
func (v *costView) against(n *costLine, tree *page.Tree) {
	if n.Unlike != "" {
		tree.Add("space against writes: not computed; %s", n.Unlike)
		return
	}
	tree.Add("space amplification %s, write amplification %s: (space − 1)·(write − 1) = %s, which is 1 for an "+
		"index+log structure at any fill", quantity.Digits(n.Space.Value), quantity.Digits(n.Write.Value),
		quantity.Digits(price.Yardstick(n.Space.Value, n.Write.Value)))
	const runs = 4 // of a tier, as RocksDB's universal compaction allows by default
	if n.Fanout > 1 {
		levels := costmodel.Levels(n.Fanout)
		leveled, tiered := costmodel.Leveled(n.Fanout, levels), costmodel.Tiered(n.Fanout, runs)
		tree.Add("by the models, of %s memtables a leveled LSM tree in %s has space amplification %s and, by merges "+
			"alone, write amplification %s; a tiered one with %d runs a tier %s and, flushes included, %s",
			quantity.Digits(n.Fanout), quantity.Count(levels, "level"), quantity.Digits(leveled.Space),
			quantity.Digits(leveled.Write), runs, quantity.Digits(tiered.Space), quantity.Digits(tiered.Write))
	}
	switch d := n.Demand(v.card); {
	case v.card.Device.Price > 0:
		tree.Add("no optimum of an index+log structure: devices are bought whole, so space and writes have no prices of " +
			"their own")
	case d.MBps > 0:
		best, low, high := d.Optimum(v.card)
		text := ""
		if best.Used < 0.05 || best.Used > 0.95 {
			text = "; outside of 5 to 95 % the model does not hold"
		}
		tree.Add("the storage of the cheapest index+log structure, without reads by users, would cost %s (this target's: "+
			"%s) at %s of its space used (%s to %s within 5 %%)%s",
			quantity.Digits(best.Bill.Sum()), quantity.Digits(v.card.Store(n.Storage()).Sum()), quantity.Share(best.Used),
			quantity.Share(low), quantity.Share(high), text)
	}
}

// cheapest states which target is the cheapest at which rate, and which targets are left
// out.
func (v *costView) cheapest(tree *page.Tree) {
	spans, out := price.Cheapest(v.step, v.targets, v.ask, v.card)
	if len(v.targets)-len(out) < 2 {
		tree.Add("no cheapest target: fewer than two have a whole price")
		return
	}
	for _, s := range spans {
		tree.Add("cheapest from %s to %s per second: %s", quantity.Amount(s.From), quantity.Amount(s.To), s.Target.Name)
	}
	for _, t := range out {
		tree.Add("left out of “cheapest”, as it is refused or a part of its price is not known: %s", t.Name)
	}
}
