package price

import (
	"embed"
	"math"
	"path"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/strictyaml"
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

// Read reads a card from the content of a file. The error has type hint.Problems.
func Read(file string, content []byte) (*Card, error) {
	d := strictyaml.Document{What: "price card", Least: "{name: NAME, gb: 0.1}"}
	var c Card
	if root := d.ReadFile(file, content); root != nil {
		f, _ := d.Record(root, "a price card", cardKeys.Names(), "name", "currency", "date")
		cardKeys.Bind(f, &c)
		for _, part := range []struct {
			key  string
			bind func(strictyaml.Fields)
			keys []string
		}{
			{"iops", func(f strictyaml.Fields) { tierKeys.Bind(f, &c.IOPS) }, tierKeys.Names()},
			{"mbps", func(f strictyaml.Fields) { tierKeys.Bind(f, &c.MBps) }, tierKeys.Names()},
			{"device", func(f strictyaml.Fields) { deviceKeys.Bind(f, &c.Device) }, deviceKeys.Names()},
		} {
			if n := f.Value(part.key); n != nil {
				part.bind(d.Fields(n, part.key, part.keys))
			}
		}
	}
	if c.Device.Price > 0 && c.GB+c.IOPS.Price+c.MBps.Price > 0 {
		d.Problems = append(d.Problems, hint.Problem{File: file,
			Reason: "a device is bought whole: gb, iops and mbps next to it have no price", Hint: "remove either"})
	}
	if len(d.Problems) > 0 {
		strictyaml.SortProblems(d.Problems)
		return nil, d.Problems
	}
	return &c, nil
}

// amount reads a number of at least 0.
var amount = strictyaml.NewScalar(func(n *strictyaml.Node) (float64, error) {
	if v, ok := strictyaml.Number(n); ok && v >= 0 && !math.IsInf(v, 0) {
		return v, nil
	}
	return 0, hint.Errorf("", "%q is not a number of at least 0", n.Text)
}, strictyaml.Shape{"type": "number", "minimum": 0})

var cardKeys = strictyaml.Table[Card]{
	strictyaml.Valued("name", "The card's name.", strictyaml.OneLine, func(c *Card, v string) { c.Name = v }),
	strictyaml.Valued("doc", "What is priced.", strictyaml.Prose, func(c *Card, v string) { c.Doc = v }),
	strictyaml.Valued("currency", "The currency.", strictyaml.OneLine, func(c *Card, v string) { c.Currency = v }),
	strictyaml.Valued("date", "When the prices held.", strictyaml.OneLine, func(c *Card, v string) { c.Date = v }),
	strictyaml.Valued("source", "Where they come from.", strictyaml.Prose, func(c *Card, v string) { c.Source = v }),
	strictyaml.Valued("gb", "Price of a GB of space in a month.", amount, func(c *Card, v float64) { c.GB = v }),
	strictyaml.Valued("binary", "A GB is 2^30 bytes. Default: 10^9.", strictyaml.Boolean,
		func(c *Card, v bool) { c.Binary = v }),
	strictyaml.Part[Card]("iops", "Price of an I/O per second in a month: {price: 0.005, free: 3000}.",
		strictyaml.Shape{"type": "object"}),
	strictyaml.Valued("io_kb", "The most KB that count as one I/O. Default: a request of any size is one.", amount,
		func(c *Card, v float64) { c.IOKB = v }),
	strictyaml.Part[Card]("mbps", "Price of 2^20 bytes per second in a month, as iops.",
		strictyaml.Shape{"type": "object"}),
	strictyaml.Valued("core", "Price of a processor in a month.", amount, func(c *Card, v float64) { c.Core = v }),
	strictyaml.Valued("memory", "Price of a GiB of memory in a month.", amount, func(c *Card, v float64) { c.Memory = v }),
	strictyaml.Part[Card]("device",
		"A drive that is bought whole, instead of space and I/O: {price: 200, gb: 960, iops: 50000, mbps: 500, tb: 1700}.",
		strictyaml.Shape{"type": "object"}),
}

var tierKeys = strictyaml.Table[Tier]{
	strictyaml.Valued("price", "Price of a unit in a month.", amount, func(t *Tier, v float64) { t.Price = v }),
	strictyaml.Valued("free", "Units that are included.", amount, func(t *Tier, v float64) { t.Free = v }),
}

var deviceKeys = strictyaml.Table[Device]{
	strictyaml.Valued("price", "Price of one.", amount, func(d *Device, v float64) { d.Price = v }),
	strictyaml.Valued("months", "How many months it is paid over. Default 36.", amount,
		func(d *Device, v float64) { d.Months = v }),
	strictyaml.Valued("gb", "Its space.", amount, func(d *Device, v float64) { d.GB = v }),
	strictyaml.Valued("iops", "Requests per second.", amount, func(d *Device, v float64) { d.IOPS = v }),
	strictyaml.Valued("mbps", "2^20 bytes per second.", amount, func(d *Device, v float64) { d.MBps = v }),
	strictyaml.Valued("tb", "Its endurance: 10^12 bytes that may be written.", amount,
		func(d *Device, v float64) { d.TB = v }),
}
