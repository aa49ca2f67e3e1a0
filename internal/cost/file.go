package cost

import (
	"embed"
	"math"
	"path"

	"rumbench/internal/form"
	"rumbench/internal/hint"
)

//go:embed cards/*.yaml
var cards embed.FS

// Shipped returns the cards that come with rumbench, by name.
func Shipped() (out []*Card) {
	files, _ := cards.ReadDir("cards") // it is embedded
	for _, f := range files {
		content, _ := cards.ReadFile(path.Join("cards", f.Name()))
		if c, err := Read(f.Name(), content); err == nil { // a test reads them
			out = append(out, c)
		}
	}
	return out
}

// Read reads a card from the content of a file. The error is of type hint.Problems.
func Read(file string, content []byte) (*Card, error) {
	d := form.Document{What: "price card", Least: "{name: NAME, gb: 0.1}"}
	var c Card
	if root := d.ReadFile(file, content); root != nil {
		f, _ := d.Record(root, "a price card", cardKeys.Names(), "name", "currency", "date")
		cardKeys.Bind(f, &c)
		for _, part := range []struct {
			key  string
			bind func(form.Fields)
			keys []string
		}{
			{"iops", func(f form.Fields) { tierKeys.Bind(f, &c.IOPS) }, tierKeys.Names()},
			{"mbps", func(f form.Fields) { tierKeys.Bind(f, &c.MBps) }, tierKeys.Names()},
			{"device", func(f form.Fields) { deviceKeys.Bind(f, &c.Device) }, deviceKeys.Names()},
		} {
			if n := f.Value(part.key); n != nil {
				part.bind(d.Fields(n, part.key, part.keys))
			}
		}
	}
	if c.Device.Price > 0 && c.GB+c.IOPS.Price+c.MBps.Price > 0 {
		d.Problems = append(d.Problems, hint.Problem{File: file,
			Reason: "a device is bought whole: gb, iops and mbps beside it have no price", Hint: "remove either"})
	}
	if len(d.Problems) > 0 {
		form.SortProblems(d.Problems)
		return nil, d.Problems
	}
	return &c, nil
}

// amount reads a number of at least 0.
var amount = form.NewScalar(func(n *form.Node) (float64, error) {
	if v, ok := form.Number(n); ok && v >= 0 && !math.IsInf(v, 0) {
		return v, nil
	}
	return 0, hint.Errorf("", "%q is not a number of at least 0", n.Text)
}, form.Shape{"type": "number", "minimum": 0})

var cardKeys = form.Table[Card]{
	form.Valued("name", "The card's name.", form.OneLine, func(c *Card, v string) { c.Name = v }),
	form.Valued("doc", "What is priced.", form.Prose, func(c *Card, v string) { c.Doc = v }),
	form.Valued("currency", "The currency.", form.OneLine, func(c *Card, v string) { c.Currency = v }),
	form.Valued("date", "When the prices held.", form.OneLine, func(c *Card, v string) { c.Date = v }),
	form.Valued("source", "Where they come from.", form.Prose, func(c *Card, v string) { c.Source = v }),
	form.Valued("gb", "Price of a GB of space in a month.", amount, func(c *Card, v float64) { c.GB = v }),
	form.Valued("binary", "A GB is 2^30 bytes. Default: 10^9.", form.Boolean, func(c *Card, v bool) { c.Binary = v }),
	form.Part[Card]("iops", "Price of an I/O per second in a month: {price: 0.005, free: 3000}.", form.Shape{"type": "object"}),
	form.Valued("io_kb", "The most KB that count as one I/O. Default: a request of any size is one.", amount, func(c *Card, v float64) { c.IOKB = v }),
	form.Part[Card]("mbps", "Price of 2^20 bytes per second in a month, as iops.", form.Shape{"type": "object"}),
	form.Valued("core", "Price of a processor in a month.", amount, func(c *Card, v float64) { c.Core = v }),
	form.Valued("memory", "Price of a GiB of memory in a month.", amount, func(c *Card, v float64) { c.Memory = v }),
	form.Part[Card]("device", "A drive that is bought whole, in place of space and I/O: {price: 200, gb: 960, iops: 50000, mbps: 500, tb: 1700}.",
		form.Shape{"type": "object"}),
}

var tierKeys = form.Table[Tier]{
	form.Valued("price", "Price of a unit in a month.", amount, func(t *Tier, v float64) { t.Price = v }),
	form.Valued("free", "Units that are included.", amount, func(t *Tier, v float64) { t.Free = v }),
}

var deviceKeys = form.Table[Device]{
	form.Valued("price", "Price of one.", amount, func(d *Device, v float64) { d.Price = v }),
	form.Valued("months", "How many months it is paid over. Default 36.", amount, func(d *Device, v float64) { d.Months = v }),
	form.Valued("gb", "Its space.", amount, func(d *Device, v float64) { d.GB = v }),
	form.Valued("iops", "Requests per second.", amount, func(d *Device, v float64) { d.IOPS = v }),
	form.Valued("mbps", "2^20 bytes per second.", amount, func(d *Device, v float64) { d.MBps = v }),
	form.Valued("tb", "Its endurance: 10^12 bytes that may be written.", amount, func(d *Device, v float64) { d.TB = v }),
}
